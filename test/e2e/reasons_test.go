//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// reasonSpecs: what a kubelet, a scheduler and admission really say when pods do not run, and what the MyApp makes of it.
func reasonSpecs(ns func() string) {
	DescribeTable("says on the MyApp why its pods do not run",
		func(ctx SpecContext, reason, message string, spoil func(ctx context.Context, app *v1beta1.MyApp)) {
			app := makeWeb("broken", ns())
			spoil(ctx, app)
			Expect(world.admin.Create(ctx, app)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { gone(ctx, app) })
			Eventually(func(g Gomega) {
				g.Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
				ready := meta.FindStatusCondition(app.Status.Conditions, v1beta1.ConditionReady)
				g.Expect(ready).NotTo(BeNil())
				g.Expect(ready.Status).To(Equal(metav1.ConditionFalse))
				g.Expect(ready.Reason).To(Equal(reason), ready.Message)
				g.Expect(ready.Message).To(ContainSubstring(message))
			}).WithContext(ctx).Should(Succeed())
		},
		Entry("an image that is not in the registry", v1beta1.ReasonImagePullBackOff, "webapp:absent",
			func(_ context.Context, app *v1beta1.MyApp) { app.Spec.Image = world.images.Registry + "/webapp:absent" }),
		Entry("a command that ends", v1beta1.ReasonCrashLoopBackOff, "exit code 3",
			func(_ context.Context, app *v1beta1.MyApp) { app.Spec.Args = []string{"-exit=3"} }),
		Entry("a key that the Secret has not", v1beta1.ReasonContainerConfigError, "absent",
			func(ctx context.Context, app *v1beta1.MyApp) {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: app.Namespace}}
				Expect(client.IgnoreAlreadyExists(world.admin.Create(ctx, secret))).To(Succeed())
				app.Spec.Envs = append(app.Spec.Envs, corev1.EnvVar{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
					SecretKeyRef: &corev1.SecretKeySelector{
						LocalObjectReference: corev1.LocalObjectReference{Name: "token"}, Key: "absent"},
				}})
			}),
		Entry("more memory than any node has", v1beta1.ReasonUnschedulable, "Insufficient memory",
			func(_ context.Context, app *v1beta1.MyApp) {
				app.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("9Ti")}
			}),
		Entry("a quota without room", v1beta1.ReasonQuotaExceeded, "exceeded quota",
			func(ctx context.Context, app *v1beta1.MyApp) {
				quota := &corev1.ResourceQuota{
					ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: app.Namespace},
					Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
				}
				Expect(world.admin.Create(ctx, quota)).To(Succeed())
				DeferCleanup(func(ctx SpecContext) { gone(ctx, quota) })
				Eventually(func() (corev1.ResourceList, error) {
					err := world.admin.Get(ctx, client.ObjectKeyFromObject(quota), quota)
					return quota.Status.Hard, err
				}).WithContext(ctx).ShouldNot(BeEmpty())
			}),
		Entry("a namespace whose Pod Security is stricter than the pods", v1beta1.ReasonPodSecurity, "restricted",
			func(ctx context.Context, app *v1beta1.MyApp) {
				enforce(ctx, app.Namespace, "restricted")
				DeferCleanup(func(ctx SpecContext) { enforce(ctx, app.Namespace, "privileged") })
				app.Spec.SecurityProfile = v1beta1.SecurityProfileBaseline
			}),
	)
}

// enforce sets the Pod Security Standard of a namespace.
func enforce(ctx context.Context, ns, standard string) {
	GinkgoHelper()
	patch := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"` + standard + `"}}}`
	Expect(world.admin.Patch(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}},
		client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}
