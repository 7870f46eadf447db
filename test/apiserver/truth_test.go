package apiserver

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// rollsOut gives the Deployment the status of a finished rollout, as the controller manager would.
func (o *operator) rollsOut(app *v1beta1.MyApp) {
	GinkgoHelper()
	d := get[appsv1.Deployment](o.ctx, app)
	n := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}},
	}
	Expect(admin.Status().Update(o.ctx, d)).To(Succeed())
}

// failing is a client whose applies of one kind the API server answers with an error of its own.
type failing struct {
	client.Client
	err error
}

func (f failing) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return f.err
}

var _ = Describe("The report", func() {
	rolledOut := condition{metav1.ConditionTrue, v1beta1.ReasonRolledOut}
	progressing := condition{metav1.ConditionFalse, v1beta1.ReasonProgressing}

	ready := func(ctx context.Context) (*operator, *v1beta1.MyApp) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		o.rollsOut(app)
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(rolledOut))
		return o, app
	}

	It("does not call a new image rolled out when two changes come within a second", func(ctx SpecContext) {
		o, app := ready(ctx)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Service = &v1beta1.ServiceSpec{Type: corev1.ServiceTypeClusterIP} })
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Image = "nginx:1.28" })
		_, err = o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(progressing))
	})

	It("does not call a new image rolled out while the API server is too busy to take it", func(ctx SpecContext) {
		o, app := ready(ctx)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Image = "nginx:1.28" })
		o.r.Client = failing{o.cached, apierrors.NewTooManyRequests("slow down", 1)}
		_, err := o.step(app)
		Expect(err).To(HaveOccurred())
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(progressing))
		o.r.Client = o.cached
		o.run(app)
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.28"))
	})

	It("does not call a new image rolled out, now or later, when it may not be written", func(ctx SpecContext) {
		o, app := ready(ctx)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Image = "nginx:1.28" })
		o.r.Client = failing{o.cached, apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "shop", errors.New("no"))}
		for range 2 {
			_, err := o.step(app)
			Expect(err).To(HaveOccurred())
			Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonForbidden}))
			Expect(o.condition(app, v1beta1.ConditionProgressing)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonProgressing}))
		}
	})

	It("puts back a hand scaling of the Deployment once, and stays Ready", func(ctx SpecContext) {
		o, app := ready(ctx)
		edit(ctx, get[appsv1.Deployment](ctx, app), func(d *appsv1.Deployment) { d.Spec.Replicas = ptr[int32](7) })
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{"patch deployments OK"}))
		o.rollsOut(app)
		Expect(o.run(app)).To(BeEmpty())
		Expect(*get[appsv1.Deployment](ctx, app).Spec.Replicas).To(Equal(int32(2)))
	})
})

var _ = Describe("A spec that says what no child can carry", func() {
	It("is told while admission is off, and the rest is kept", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.Service = &v1beta1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Annotations: map[string]string{"other.example.com/a": "b"}}
		app.Spec.Ports[0].NodePort = freeNodePort(ctx)
		o.create(app)
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonInvalidSpec}))
		Expect(o.fullCondition(app, v1beta1.ConditionReady).Message).To(And(
			ContainSubstring("spec.ports[0].nodePort"), ContainSubstring("spec.service.annotations[other.example.com/a]")))
		Expect(get[corev1.Service](ctx, app).Annotations).To(BeEmpty())
	})
})

var _ = Describe("A teardown", func() {
	It("stops the pods of a spec that the API server refuses, and rolls out nothing", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.DeletionPolicy = v1beta1.DeletionPolicyDrain
		o.create(app)
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.ServiceAccountName = "Bad_Name" })
		o.run(app)
		Expect(admin.Delete(ctx, app)).To(Succeed())
		for range 2 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		d := get[appsv1.Deployment](ctx, app)
		Expect(*d.Spec.Replicas).To(BeZero())
		Expect(d.Spec.Template.Spec.ServiceAccountName).To(Equal("default"))
	})

	It("leaves nothing behind of a MyApp under Orphan that was deleted before its first pass", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan
		o.create(app)
		stale := get[v1beta1.MyApp](ctx, app)
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.settle(app)
		o.r.Client = lateClient{o.cached, stale}
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{"get myapps Not Found"}))
	})
})
