//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
)

// kindSpecs: every kind of child is made by the operator's pod with the rights that it has, and removed.
func kindSpecs(ns func() string) {
	It("makes and removes every kind of child", func(ctx SpecContext) {
		Expect(world.InstallServiceMonitorCRD(ctx)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(world.RemoveCRD(ctx, cluster.ServiceMonitorCRD)).To(Succeed()) })
		class := &networkingv1.IngressClass{
			ObjectMeta: metav1.ObjectMeta{Name: "test"}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/none"},
		}
		Expect(world.admin.Create(ctx, class)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { gone(ctx, class) })

		app := makeWeb("every", ns())
		app.Spec.Size = ptr.To[int32](2)
		app.Spec.DeletionPolicy = v1beta1.DeletionPolicyDrain
		app.Spec.Ingress = &v1beta1.IngressSpec{
			Host: "every.example.com", ClassName: "test",
			TLS: &v1beta1.IngressTLS{IssuerRef: &v1beta1.IssuerReference{Name: "absent"}},
		}
		app.Spec.Autoscaling = &v1beta1.AutoscalingSpec{MinReplicas: ptr.To[int32](2), MaxReplicas: 3}
		app.Spec.Metrics = &v1beta1.MetricsSpec{Interval: "30s"}
		Expect(world.admin.Create(ctx, app)).To(Succeed())
		Eventually(optional).WithContext(ctx).WithArguments(app.Namespace).Should(HaveLen(5))

		update(ctx, app, func(app *v1beta1.MyApp) {
			app.Spec.Size, app.Spec.Ports, app.Spec.Probes = ptr.To[int32](1), nil, nil
			app.Spec.Ingress, app.Spec.Autoscaling, app.Spec.Metrics = nil, nil, nil
		})
		Eventually(optional).WithContext(ctx).WithArguments(app.Namespace).Should(BeEmpty())
		Eventually(children).WithContext(ctx).WithArguments(app.Namespace).Should(Equal(1), "the Deployment")
		gone(ctx, app)
	})
}

// optional are the children of kinds that a MyApp has on request.
func optional(ctx context.Context, ns string) ([]string, error) {
	out, err := world.Kubectl(ctx, "get", "ingresses,certificates,horizontalpodautoscalers,poddisruptionbudgets,servicemonitors",
		"--namespace", ns, "--output=name", "--selector=app.kubernetes.io/managed-by="+v1beta1.OperatorName)
	return lines(out), err
}
