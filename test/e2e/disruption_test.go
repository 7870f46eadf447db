//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// settle is how long a change may go on to be felt after all pods are what they should be: the pods before go on for
// 5 s, and the nodes' tables follow.
const settle = 8 * time.Second

// disruptionSpecs: a stream of requests through the node port of a MyApp of two pods, while all sorts of things happen to
// it. One client is served from beginning to end.
func disruptionSpecs(ns func() string, upgrade func(ctx context.Context)) {
	Describe("under traffic", Ordered, func() {
		var app *v1beta1.MyApp
		var traffic *stream

		BeforeAll(func(ctx SpecContext) {
			config := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "greeting", Namespace: ns()}, Data: map[string]string{"greeting": "hello"},
			}
			Expect(world.admin.Create(ctx, config)).To(Succeed())
			app = makeWeb("busy", ns())
			app.Spec.Size = ptr.To[int32](2)
			app.Spec.Rollout = &v1beta1.RolloutSpec{RestartOnConfigChange: true}
			app.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "greeting"},
			}}}
			Expect(world.admin.Create(ctx, app)).To(Succeed())
			runs(ctx, app)
			answers(ctx, app, "one")
			address := url(ctx, app)
			traffic = startStream(perSecond, func(ctx context.Context) error {
				_, err := fetch(ctx, address)
				return err
			})
			DeferCleanup(func() { traffic.stop() })
		})

		AfterEach(func() {
			time.Sleep(settle)
			Expect(traffic.failures()).To(BeEmpty())
		})

		It("loses no request when the image and its version change", func(ctx SpecContext) {
			update(ctx, app, func(app *v1beta1.MyApp) {
				app.Spec.Image = world.appNext
				app.Spec.Envs[0].Value = "two"
			})
			runs(ctx, app)
			answers(ctx, app, "two")
		})

		It("loses no request when configuration restarts the pods", func(ctx SpecContext) {
			before, err := template(ctx, app)
			Expect(err).NotTo(HaveOccurred())
			config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "greeting", Namespace: app.Namespace}}
			Expect(world.admin.Patch(ctx, config,
				client.RawPatch("application/merge-patch+json", []byte(`{"data":{"greeting":"good evening"}}`)))).To(Succeed())
			Eventually(template).WithContext(ctx).WithArguments(app).ShouldNot(Equal(before))
			rolledOut(ctx, app.Namespace, app.Name)
			runs(ctx, app)
		})

		It("loses no request when it grows and shrinks", func(ctx SpecContext) {
			for _, size := range []int32{4, 2} {
				update(ctx, app, func(app *v1beta1.MyApp) { app.Spec.Size = &size })
				// One that is only being scaled stays Ready.
				Eventually(func(g Gomega) {
					g.Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
					g.Expect(app.Status.Nodes).To(HaveLen(int(size)))
					g.Expect(app.Status.AvailableReplicas).To(Equal(size))
				}).WithContext(ctx).Should(Succeed())
			}
		})

		It("loses no request when a pod is evicted", func(ctx SpecContext) {
			runs(ctx, app)
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: app.Status.Nodes[0], Namespace: app.Namespace}}
			Expect(world.admin.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})).To(Succeed())
			Eventually(func(g Gomega) {
				g.Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
				g.Expect(app.Status.Nodes).To(And(HaveLen(2), Not(ContainElement(pod.Name))))
			}).WithContext(ctx).Should(Succeed())
			runs(ctx, app)
		})

		It("loses no request, restarts no pod and changes no template when the operator is upgraded", func(ctx SpecContext) {
			before, err := template(ctx, app)
			Expect(err).NotTo(HaveOccurred())
			pods := app.Status.Nodes
			upgrade(ctx)
			runs(ctx, app)
			Expect(template(ctx, app)).To(Equal(before))
			Expect(app.Status.Nodes).To(Equal(pods))
		})

		It("has been served all the time", func() {
			made, failed := traffic.stop()
			Expect(failed).To(BeEmpty())
			AddReportEntry("requests", fmt.Sprint(made))
			Expect(made).To(BeNumerically(">", 60*perSecond))
		})
	})
}

// template is the pod template of a MyApp's Deployment.
func template(ctx context.Context, app *v1beta1.MyApp) (corev1.PodTemplateSpec, error) {
	var d appsv1.Deployment
	err := world.admin.Get(ctx, client.ObjectKeyFromObject(app), &d)
	return d.Spec.Template, err
}
