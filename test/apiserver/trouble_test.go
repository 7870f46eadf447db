package apiserver

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// The webhooks are off here, so that what they refuse can be stored.
var _ = Describe("A spec that the API server refuses", func() {
	DescribeTable("T06 is told with the MyApp's own field and not sent again",
		func(ctx context.Context, change func(*v1beta1.MyApp), field string) {
			o := newOperator(ctx)
			app := o.web()
			change(app)
			o.create(app)
			result, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
			Expect(result.RequeueAfter).To(BeZero(), "it is tried again although the spec did not change")
			for _, t := range []string{v1beta1.ConditionReady, v1beta1.ConditionProgressing} {
				Expect(o.condition(app, t)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonInvalidSpec}))
			}
			Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonInvalidSpec}))
			Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring(field + ": "))
			Expect(o.events.Events).To(Receive(HavePrefix("Warning InvalidSpec")))
			o.run(app)
			for range 3 {
				_, err = o.step(app)
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(writes(o.requests.take())).To(BeEmpty(), "a refused spec is sent again")

			By("a good spec heals it")
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = o.web().Spec })
			o.run(app)
			Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
		},
		Entry("a bad account name", func(a *v1beta1.MyApp) { a.Spec.ServiceAccountName = "Bad_Name" }, "spec.serviceAccountName"),
		Entry("P02 the same port twice", func(a *v1beta1.MyApp) {
			a.Spec.Ports = []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 80}}
		}, "spec.ports"),
		Entry("P04 the same port name twice", func(a *v1beta1.MyApp) {
			a.Spec.Ports = []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "a", Port: 81}}
		}, "spec.ports[1].name"),
		Entry("a node port out of range", func(a *v1beta1.MyApp) { a.Spec.Ports[0].NodePort = 80 }, "spec.ports[0].nodePort"),
		Entry("E07 an env name with =", func(a *v1beta1.MyApp) {
			a.Spec.Envs = []corev1.EnvVar{{Name: "DUP", Value: "1"}, {Name: "DUP", Value: "2"}, {Name: "A=B", Value: "x"}}
		}, "spec.envs[2].name"),
		Entry("a bad pod label", func(a *v1beta1.MyApp) { a.Spec.PodLabels = map[string]string{"a b": "c"} }, "spec.podLabels"),
	)

	It("E01 takes the last of several entries of one variable, and has it once after a clean-up", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.smallest()
		app.Spec.Envs = []corev1.EnvVar{{Name: "MODE", Value: "qa"}, {Name: "REGION", Value: "eu"}, {Name: "MODE", Value: "prod"}}
		o.create(app)
		o.run(app)
		env := func() []corev1.EnvVar { return get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Env }
		Expect(env()).To(Equal([]corev1.EnvVar{{Name: "REGION", Value: "eu"}, {Name: "MODE", Value: "prod"}}))
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Envs = a.Spec.Envs[:2] })
		o.run(app)
		Expect(env()).To(ConsistOf(corev1.EnvVar{Name: "MODE", Value: "qa"}, corev1.EnvVar{Name: "REGION", Value: "eu"}))
	})

	It("tells that a node port is taken, keeps the rest and recovers once it is free", func(ctx SpecContext) {
		o := newOperator(ctx)
		holder := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "holder", Namespace: o.namespace},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
		}
		Expect(admin.Create(ctx, holder)).To(Succeed())
		app := o.web()
		app.Spec.Ports[0].NodePort = holder.Spec.Ports[0].NodePort
		o.create(app)
		_, err := o.step(app)
		Expect(err).To(HaveOccurred(), "it is not tried again")
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonNodePortAllocated}))
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring("spec.ports[0].nodePort"))
		Expect(missing(ctx, app, &appsv1.Deployment{})).To(BeFalse())
		Expect(admin.Delete(ctx, holder)).To(Succeed())
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})
})

var _ = Describe("A call that is forbidden", func() {
	It("is told, keeps nothing else waiting and recovers", func(ctx SpecContext) {
		o := newOperator(ctx)
		config, err := plane.UserConfig("weak-" + o.namespace)
		Expect(err).NotTo(HaveOccurred())
		rules := []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{
				"myapps", "pods", "services", "deployments", "ingresses", "certificates", "horizontalpodautoscalers", "poddisruptionbudgets", "servicemonitors",
			}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"apps", "policy", "app.ydzs.io"}, Resources: []string{"*"}, Verbs: []string{"create", "patch", "delete", "update"}},
		}
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "weak", Namespace: o.namespace}, Rules: rules}
		Expect(admin.Create(ctx, role)).To(Succeed())
		Expect(admin.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "weak", Namespace: o.namespace},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "weak"},
			Subjects:   []rbacv1.Subject{{Kind: "User", Name: "weak-" + o.namespace}},
		})).To(Succeed())
		weak := startOperator(ctx, o.namespace, config)
		app := weak.create(weak.web())
		_, err = weak.step(app)
		Expect(err).To(HaveOccurred(), "it is not tried again")
		Expect(weak.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonForbidden}))
		Expect(weak.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring(`cannot patch resource "services"`))
		Expect(missing(ctx, app, &appsv1.Deployment{})).To(BeFalse())

		edit(ctx, role, func(r *rbacv1.Role) {
			r.Rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"create", "patch"}})
		})
		Eventually(func(g Gomega) {
			_, err := weak.step(app)
			g.Expect(err).NotTo(HaveOccurred())
		}).Should(Succeed())
		weak.run(app)
		Expect(weak.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})
})
