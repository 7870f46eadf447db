//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// webPort is where the web application listens.
const webPort = 8080

// makeWeb is a MyApp of the web application, which answers with its version.
func makeWeb(name, ns string) *v1beta1.MyApp {
	app := wrappers.MakeMyApp(name, ns).Image(world.app).Port(webPort).Env("VERSION", "one").Profile(v1beta1.SecurityProfileRestricted).Obj()
	app.Spec.Probes = &v1beta1.Probes{Readiness: &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(webPort)}},
		PeriodSeconds: 1,
	}}
	return app
}

// newNamespace creates a namespace that goes with the specs that use it.
func newNamespace(ctx context.Context, name string) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}
	Expect(world.admin.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { gone(ctx, ns) })
	return ns.Name
}

// gone deletes objects and waits until they are gone.
func gone(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, o := range objects {
		Expect(client.IgnoreNotFound(world.admin.Delete(ctx, o))).To(Succeed())
	}
	for _, o := range objects {
		Eventually(func() error { return world.admin.Get(ctx, client.ObjectKeyFromObject(o), o) }).WithContext(ctx).
			Should(MatchError(apierrors.IsNotFound, "not found"), "%T %s", o, o.GetName())
	}
}

// update changes a MyApp, again where another write came between.
func update(ctx context.Context, app *v1beta1.MyApp, change func(*v1beta1.MyApp)) {
	GinkgoHelper()
	Eventually(func() error {
		if err := world.admin.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		change(app)
		return world.admin.Update(ctx, app)
	}).WithContext(ctx).Should(Succeed())
}

// runs waits until a MyApp is Ready as it is written now.
func runs(ctx context.Context, app *v1beta1.MyApp) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		ready := meta.FindStatusCondition(app.Status.Conditions, v1beta1.ConditionReady)
		g.Expect(ready).NotTo(BeNil())
		g.Expect(ready.Status).To(Equal(metav1.ConditionTrue), "%s: %s", ready.Reason, ready.Message)
		g.Expect(ready.ObservedGeneration).To(Equal(app.Generation))
	}).WithContext(ctx).Should(Succeed())
}

// refused expects admission to refuse a MyApp as invalid, naming a field.
func refused(ctx context.Context, app *v1beta1.MyApp, field string) {
	GinkgoHelper()
	err := world.admin.Create(ctx, app)
	Expect(err).To(MatchError(ContainSubstring(field)))
	var status apierrors.APIStatus
	Expect(err).To(BeAssignableToTypeOf(&apierrors.StatusError{}))
	status = err.(apierrors.APIStatus)
	Expect(status.Status().Code).To(BeEquivalentTo(http.StatusUnprocessableEntity))
}

// url is the address of a MyApp's first node port.
func url(ctx context.Context, app *v1beta1.MyApp) string {
	GinkgoHelper()
	var service corev1.Service
	Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(app), &service)).To(Succeed())
	Expect(service.Spec.Ports).NotTo(BeEmpty())
	Expect(service.Spec.Ports[0].NodePort).NotTo(BeZero())
	return fmt.Sprintf("http://%s:%d/", world.address, service.Spec.Ports[0].NodePort)
}

// answers waits until a MyApp's node port answers with a version.
func answers(ctx context.Context, app *v1beta1.MyApp, version string) {
	GinkgoHelper()
	Eventually(fetch).WithContext(ctx).WithArguments(url(ctx, app)).Should(HavePrefix(version))
}

// rolledOut waits until a Deployment has as many available pods as it asks for, all of its newest template.
func rolledOut(ctx context.Context, ns, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var d appsv1.Deployment
		g.Expect(world.admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, &d)).To(Succeed())
		want := *d.Spec.Replicas
		g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
		g.Expect([]int32{d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas}).
			To(HaveEach(want), "%s of %s", strings.Join(messages(d.Status.Conditions), "; "), name)
	}).WithContext(ctx).Should(Succeed())
}

func messages(conditions []appsv1.DeploymentCondition) []string {
	var all []string
	for _, c := range conditions {
		all = append(all, c.Message)
	}
	return all
}
