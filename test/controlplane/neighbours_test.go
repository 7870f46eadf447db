package controlplane

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// neighbourSpecs are about MyApps that a careless operator would mix up, and about changes that move no generation.
func neighbourSpecs() {
	It("S07 sends traffic for each of two MyApps with the same labels to its own pods only", func(ctx SpecContext) {
		ns := newNamespace(ctx, "neighbours")
		shop := wrappers.MakeMyApp("shop", ns).Size(2).Port(80).PodLabel("app", "shop").Obj()
		canary := wrappers.MakeMyApp("shop-canary", ns).Size(3).Port(80).PodLabel("app", "shop").Obj()
		create(ctx, shop, canary)
		for _, app := range []client.Object{shop, canary} {
			reaches(ctx, app, rolledOut)
			own := live[v1beta1.MyApp](ctx, app).Status.Nodes
			Eventually(ctx, func() []string { return endpoints(ctx, app) }).Should(Equal(own), "endpoints of %s", app.GetName())
			for _, pod := range own {
				Expect(pod).To(MatchRegexp("^"+app.GetName()+"-[a-z0-9]+-[a-z0-9]{5}$"), "counted by %s", app.GetName())
			}
		}
		Expect(live[appsv1.Deployment](ctx, shop).Status.Replicas).To(BeEquivalentTo(2))
	})

	It("N01 brings the longest name up with everything that carries it", func(ctx SpecContext) {
		app := wrappers.MakeMyApp(strings.Repeat("a", 63), newNamespace(ctx, "long")).Size(2).Port(80).Port(81).Obj()
		create(ctx, app)
		reaches(ctx, app, rolledOut)
		Expect(endpoints(ctx, app)).To(HaveLen(2))
	})

	It("F06 acts on what is said in metadata alone, without waiting for a resync", func(ctx SpecContext) {
		ns := newNamespace(ctx, "metadata")
		app := wrappers.MakeMyApp("web", ns).Port(80).DeletionPolicy(v1beta1.DeletionPolicyDrain).GracePeriod(0).Obj()
		app.Finalizers = []string{"example.com/hold"}
		create(ctx, app)
		reaches(ctx, app, rolledOut)
		image := func() string { return live[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Image }
		before := image()

		By("a pause")
		mergePatch(ctx, app, `{"metadata":{"annotations":{"`+v1beta1.AnnotationPaused+`":"true"}}}`)
		is(ctx, app, v1beta1.ConditionProgressing, "False "+v1beta1.ReasonPaused)
		mergePatch(ctx, app, `{"spec":{"image":"registry.example.com/team/web:2.0"}}`)
		Consistently(ctx, image, "2s").Should(Equal(before))

		By("its end")
		mergePatch(ctx, app, `{"metadata":{"annotations":{"`+v1beta1.AnnotationPaused+`":null}}}`)
		Eventually(ctx, image).Should(HaveSuffix(":2.0"))
		reaches(ctx, app, rolledOut)

		By("a label, which no child carries")
		since := mark(ctx)
		mergePatch(ctx, app, `{"metadata":{"labels":{"team":"web"}}}`)
		Consistently(ctx, func() []cluster.Event { return writes(ctx, since, operatorUser, ns) }, "2s").Should(BeEmpty())

		By("the last finalizer of somebody else on a MyApp that is being deleted")
		Expect(plane.admin.Delete(ctx, app)).To(Succeed())
		childrenAre(ctx, app, false)
		Eventually(ctx, func() []string { return live[v1beta1.MyApp](ctx, app).Finalizers }).Should(Equal([]string{"example.com/hold"}))
		mergePatch(ctx, app, `{"metadata":{"finalizers":null}}`)
		Eventually(ctx, func() bool { return exists[v1beta1.MyApp](ctx, app) }).Should(BeFalse())
		Expect(createdChildren(ctx, since, operatorUser, ns)).To(BeEmpty())
	}, SpecTimeout(time.Minute))
}

// endpoints are the names of the pods behind the MyApp's Service, sorted.
func endpoints(ctx context.Context, app client.Object) []string {
	GinkgoHelper()
	var found discoveryv1.EndpointSliceList
	Expect(plane.admin.List(ctx, &found, client.InNamespace(app.GetNamespace()),
		client.MatchingLabels{discoveryv1.LabelServiceName: app.GetName()})).To(Succeed())
	var names []string
	for _, s := range found.Items {
		for _, e := range s.Endpoints {
			names = append(names, e.TargetRef.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
