package apiserver

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

var _ = Describe("Quantities", func() {
	// patched writes a spec as a user spells it; the Go types would respell it.
	patched := func(o *operator, app *v1beta1.MyApp, spec string) {
		GinkgoHelper()
		Expect(admin.Patch(o.ctx, app, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)))).To(Succeed())
	}
	resting := func(o *operator, app *v1beta1.MyApp) {
		GinkgoHelper()
		o.requests.take()
		for range 10 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(o.requests.take()).To(BeEmpty(), "ten passes send requests")
	}
	const spelled = `{"resources":{"limits":{"memory":"2048Mi","cpu":"1000m","example.com/gpu":"2000m"},"requests":{"memory":"1.5Gi","cpu":"0.5","example.com/gpu":2}},
		"envs":[{"name":"M","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1024Ki"}}}],
		"mounts":[{"path":"/data","emptyDir":{"sizeLimit":"1024Mi"}}]}`
	const respelled = `{"resources":{"limits":{"memory":"2Gi","cpu":1,"example.com/gpu":"2"},"requests":{"memory":"1536Mi","cpu":"500m","example.com/gpu":"2"}},
		"envs":[{"name":"M","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}}],
		"mounts":[{"path":"/data","emptyDir":{"sizeLimit":"1Gi"}}]}`

	It("Q01 cost one write in any spelling, and none when only the spelling changes", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.smallest())
		patched(o, app, spelled)
		Expect(o.run(app)).To(ContainElements("patch deployments Created"))
		resting(o, app)
		Expect(get[appsv1.Deployment](ctx, app).Generation).To(Equal(int64(1)))

		for _, spec := range []string{respelled, spelled, respelled} {
			patched(o, app, spec)
			Expect(o.run(app)).NotTo(ContainElement(HavePrefix("patch deployments")), "another spelling writes the Deployment")
			resting(o, app)
		}
		restarted := startOperator(ctx, o.namespace, plane.Config())
		Expect(restarted.run(app)).To(BeEmpty(), "a restart of the operator sends a request")
		Expect(get[appsv1.Deployment](ctx, app).Generation).To(Equal(int64(1)), "the pods restart for a spelling")

		By("another value is a change")
		patched(o, app, `{"resources":{"limits":{"memory":"3Gi"}}}`)
		o.run(app)
		Expect(get[appsv1.Deployment](ctx, app).Generation).To(Equal(int64(2)))
	})

	It("Q01 are the same when there are none, written out or not", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.smallest())
		o.run(app)
		for _, spec := range []string{
			`{"resources":{"limits":{},"requests":{}}}`, `{"resources":{}}`, `{"resources":null}`, `{"resources":{"limits":{}}}`,
			`{"podLabels":{},"podAnnotations":{},"envs":[],"ports":[],"securityContext":{},"podSecurityContext":{}}`,
		} {
			patched(o, app, spec)
			Expect(o.run(app)).NotTo(ContainElement(HavePrefix("patch deployments")), spec)
			resting(o, app)
		}
		Expect(get[appsv1.Deployment](ctx, app).Generation).To(Equal(int64(1)))
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Resources).To(Equal(corev1.ResourceRequirements{}))
	})
})
