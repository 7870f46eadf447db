package apiserver

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func (o *operator) env(app *v1beta1.MyApp) []corev1.EnvVar {
	GinkgoHelper()
	return get[appsv1.Deployment](o.ctx, app).Spec.Template.Spec.Containers[0].Env
}

var _ = Describe("Variables", func() {
	It("E04 keep the order of the spec, in which swapping two is one rollout", func(ctx SpecContext) {
		o := newOperator(ctx)
		zone := corev1.EnvVar{Name: "ZONE", Value: "b"}
		address := corev1.EnvVar{Name: "ADDR", Value: "host-$(ZONE)"}
		last := corev1.EnvVar{Name: "A_LAST", Value: "$(ADDR):80"}
		app := o.smallest()
		app.Spec.Envs = []corev1.EnvVar{zone, address, last}
		o.create(app)
		o.run(app)
		Expect(o.env(app)).To(Equal(app.Spec.Envs))

		for i, order := range [][]corev1.EnvVar{
			{address, zone, last}, {last, address, zone}, {zone, {Name: "BETWEEN", Value: "1"}, address, last}, {zone, address, last},
		} {
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Envs = order })
			o.run(app)
			Expect(o.env(app)).To(Equal(order))
			Expect(get[appsv1.Deployment](ctx, app).Generation).To(Equal(int64(i+2)), "not exactly one rollout")
			Expect(o.run(app)).To(BeEmpty())
		}
	})

	It("E08 that are quoted numbers arrive as they were written", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.smallest()
		app.Spec.Envs = []corev1.EnvVar{{Name: "PORT", Value: "8080"}, {Name: "VER", Value: "1.10"}, {Name: "ON", Value: "true"}, {Name: "OCTAL", Value: "010"}}
		o.create(app)
		o.run(app)
		Expect(o.env(app)).To(Equal(app.Spec.Envs))
	})

	It("E01 of one name, stored by an admission that did not look, are one again after every clean-up", func(ctx SpecContext) {
		mode, region := corev1.EnvVar{Name: "MODE", Value: "qa"}, corev1.EnvVar{Name: "REGION", Value: "eu"}
		for _, cleaned := range [][]corev1.EnvVar{{mode, region}, {region, mode}} {
			o := newOperator(ctx)
			app := o.smallest()
			app.Spec.Envs = []corev1.EnvVar{mode, region, mode}
			o.create(app)
			o.run(app)
			Expect(o.env(app)).To(ConsistOf(mode, region))
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](2) })
			o.run(app)
			Expect(get[appsv1.Deployment](ctx, app).Spec.Replicas).To(HaveValue(BeEquivalentTo(2)), "it cannot be edited")
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Envs = cleaned })
			o.run(app)
			Expect(o.env(app)).To(Equal(cleaned))
			Expect(o.run(app)).To(BeEmpty())
		}
	})

	It("E01 are not alone: every list with a key takes an entry that was stored twice", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}, {Name: "other"}, {Name: "registry"}}
		app.Spec.Ports = append(app.Spec.Ports, corev1.ServicePort{Name: "again", Port: 81, TargetPort: app.Spec.Ports[0].TargetPort})
		app.Spec.Ports[0].Name = "web"
		o.create(app)
		o.run(app)
		pod := get[appsv1.Deployment](ctx, app).Spec.Template.Spec
		Expect(pod.ImagePullSecrets).To(Equal(app.Spec.ImagePullSecrets[:2]))
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.ImagePullSecrets = a.Spec.ImagePullSecrets[:2] })
		o.run(app)
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Spec.ImagePullSecrets).To(Equal(app.Spec.ImagePullSecrets))
	})

	DescribeTable("E06 that refer to what is missing are named, without a value, and recover without a change of the MyApp",
		func(ctx SpecContext, source corev1.EnvVarSource, said string) {
			o := newOperator(ctx)
			app := o.smallest()
			app.Spec.Envs = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &source}}
			o.create(app)
			o.run(app)
			Expect(o.env(app)[0].ValueFrom).To(Equal(&source))
			pod := o.pod(app, "shop-1")
			o.becomes(pod, corev1.ContainerStatus{State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: said}}})
			o.run(app)
			Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonContainerConfigError}))
			Expect(o.fullCondition(app, v1beta1.ConditionReady).Message).To(ContainSubstring(said))
			version := get[v1beta1.MyApp](ctx, app).Generation

			o.becomes(pod, corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
			o.run(app)
			Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
			Expect(get[v1beta1.MyApp](ctx, app).Generation).To(Equal(version))
		},
		Entry("a Secret", corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "not-there-yet"}, Key: "token"}}, `secret "not-there-yet" not found`),
		Entry("a key of a Secret", corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "half"}, Key: "token"}}, `couldn't find key token in Secret shop/half`),
		Entry("a ConfigMap", corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "not-there-yet"}, Key: "mode"}}, `configmap "not-there-yet" not found`),
	)

	It("E06 that are optional stay so for the node, which then does without", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.smallest()
		secret := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "never"}, Key: "token", Optional: ptr(true)}
		app.Spec.Envs = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &secret}}}
		o.create(app)
		o.run(app)
		Expect(o.env(app)[0].ValueFrom.SecretKeyRef).To(Equal(&secret))
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})
})
