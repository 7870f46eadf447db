package controlplane

import (
	"context"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// What autoscalers do, Kubernetes' own among them. There are no metrics here; what moves the pods are the autoscalers' bounds.
func scalingSpecs() {
	Describe("beside an autoscaler", func() {
		It("Z03 hands over the number of pods and takes it back, without a value in between", func(ctx SpecContext) {
			app := wrappers.MakeMyApp("web", newNamespace(ctx, "scaling")).Size(2).Obj()
			create(ctx, app)
			reaches(ctx, app, rolledOut)
			values := followReplicas(ctx, app)

			mergePatch(ctx, app, `{"spec":{"autoscaling":{"minReplicas":3,"maxReplicas":6}}}`)
			Eventually(values).WithContext(ctx).Should(Equal([]int32{2, 3}))
			mergePatch(ctx, app, `{"spec":{"envs":[{"name":"A","value":"1"}],"autoscaling":{"minReplicas":4}}}`)
			Eventually(values).WithContext(ctx).Should(Equal([]int32{2, 3, 4}))
			reaches(ctx, app, rolledOut)
			since := mark(ctx)
			mergePatch(ctx, app, `{"spec":{"envs":[{"name":"A","value":"2"}]}}`)
			reaches(ctx, app, rolledOut)
			Expect(requests(ctx, since, func(e cluster.Event) bool {
				return e.Namespace == app.Namespace && e.User == operatorUser && e.Code == 409
			})).To(BeEmpty())

			mergePatch(ctx, app, `{"spec":{"autoscaling":null}}`)
			Eventually(values).WithContext(ctx).Should(Equal([]int32{2, 3, 4, 2}))
			Consistently(values).WithContext(ctx).WithTimeout(3 * time.Second).Should(HaveLen(4))
		}, SpecTimeout(2*time.Minute))

		It("Z02 stays at size 0, and comes back to minReplicas", func(ctx SpecContext) {
			app := wrappers.MakeMyApp("web", newNamespace(ctx, "scaling")).Size(0).Obj()
			app.Spec.Autoscaling = &v1beta1.AutoscalingSpec{MinReplicas: new(int32), MaxReplicas: 5}
			*app.Spec.Autoscaling.MinReplicas = 2
			create(ctx, app)
			reaches(ctx, app, "True "+v1beta1.ReasonScaledToZero)
			values := followReplicas(ctx, app)
			Consistently(values).WithContext(ctx).WithTimeout(3 * time.Second).Should(Equal([]int32{0}))
			mergePatch(ctx, app, `{"spec":{"size":null}}`)
			Eventually(values).WithContext(ctx).Should(Equal([]int32{0, 2}))
			reaches(ctx, app, rolledOut)
			mergePatch(ctx, app, `{"spec":{"size":0}}`)
			Eventually(values).WithContext(ctx).Should(Equal([]int32{0, 2, 0}))
			Consistently(values).WithContext(ctx).WithTimeout(3 * time.Second).Should(HaveLen(3))
		}, SpecTimeout(2*time.Minute))

		It("lets an autoscaler of somebody else have its way with the Deployment", func(ctx SpecContext) {
			app := wrappers.MakeMyApp("web", newNamespace(ctx, "scaling")).Size(1).Obj()
			create(ctx, app)
			reaches(ctx, app, rolledOut)
			values := followReplicas(ctx, app)
			create(ctx, externalAutoscaler(app, "apps/v1", "Deployment"))
			Eventually(values).WithContext(ctx).Should(Equal([]int32{1, 3}))
			mergePatch(ctx, app, `{"spec":{"envs":[{"name":"A","value":"1"}]}}`)
			reaches(ctx, app, rolledOut)
			Consistently(values).WithContext(ctx).WithTimeout(3 * time.Second).Should(HaveLen(2))
		}, SpecTimeout(2*time.Minute))

		It("Z09 takes an autoscaler on the MyApp itself, and tells of one too many", func(ctx SpecContext) {
			app := wrappers.MakeMyApp("web", newNamespace(ctx, "scaling")).Size(1).Obj()
			create(ctx, app)
			reaches(ctx, app, rolledOut)
			create(ctx, externalAutoscaler(app, v1beta1.GroupVersion.String(), v1beta1.Kind.Kind))
			Eventually(followReplicas(ctx, app)).WithContext(ctx).Should(Equal([]int32{1, 3}))
			Expect(live[v1beta1.MyApp](ctx, app).Spec.Size).To(HaveValue(Equal(int32(3))))
			reaches(ctx, app, rolledOut)

			mergePatch(ctx, app, `{"spec":{"autoscaling":{"minReplicas":2,"maxReplicas":6}}}`)
			Eventually(func() string { return reason(ctx, app, v1beta1.ConditionDegraded) }).WithContext(ctx).Should(Equal(v1beta1.ReasonTwoAutoscalers))
			mergePatch(ctx, app, `{"spec":{"autoscaling":null}}`)
			Eventually(func() string { return reason(ctx, app, v1beta1.ConditionDegraded) }).WithContext(ctx).Should(Equal(v1beta1.ReasonAsExpected))
		}, SpecTimeout(2*time.Minute))
	})
}

func reason(ctx context.Context, app *v1beta1.MyApp, conditionType string) string {
	GinkgoHelper()
	c := meta.FindStatusCondition(live[v1beta1.MyApp](ctx, app).Status.Conditions, conditionType)
	if c == nil {
		return ""
	}
	return c.Reason
}

// externalAutoscaler is one of somebody else, which wants three pods at least.
func externalAutoscaler(app *v1beta1.MyApp, apiVersion, kind string) *autoscalingv2.HorizontalPodAutoscaler {
	least := int32(3)
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: app.Namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: app.Name},
			MinReplicas:    &least, MaxReplicas: 10,
		},
	}
}

// followReplicas returns a function that tells every number of pods that the Deployment has been set to since, repetitions
// apart.
func followReplicas(ctx context.Context, app *v1beta1.MyApp) func() []int32 {
	GinkgoHelper()
	d := live[appsv1.Deployment](ctx, app)
	watcher, err := client.NewWithWatch(plane.Config(), client.Options{Scheme: cluster.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	events, err := watcher.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(app.Namespace), &client.ListOptions{
		Raw: &metav1.ListOptions{ResourceVersion: d.ResourceVersion},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(events.Stop)
	var mu sync.Mutex
	all := []int32{*d.Spec.Replicas}
	go func() {
		for e := range events.ResultChan() {
			if d, ok := e.Object.(*appsv1.Deployment); ok {
				mu.Lock()
				all = append(all, *d.Spec.Replicas)
				mu.Unlock()
			}
		}
	}()
	return func() []int32 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Compact(slices.Clone(all))
	}
}
