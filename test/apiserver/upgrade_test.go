package apiserver

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// formerly is how an earlier operator kept its children.
type formerly struct {
	// name is the field manager.
	name string
	// applies tells whether it applied; else it created and updated.
	applies bool
	// hidden leaves out the label that our cache selects by.
	hidden bool
	policy v1beta1.DeletionPolicy
}

// leave makes the MyApp's child as the earlier operator did: the child of today, and what change adds to it.
func (f formerly) leave(o *operator, app *v1beta1.MyApp, child client.Object, change func()) {
	GinkgoHelper()
	donor := newOperator(o.ctx)
	source := app.DeepCopy()
	source.ObjectMeta = metav1.ObjectMeta{Name: app.Name, Namespace: donor.namespace}
	donor.create(source)
	donor.run(source)
	Expect(admin.Get(o.ctx, client.ObjectKeyFromObject(source), child)).To(Succeed())
	withoutServerFields(child)
	child.SetUID("")
	child.SetCreationTimestamp(metav1.Time{})
	child.SetNamespace(o.namespace)
	if refs := child.GetOwnerReferences(); len(refs) > 0 {
		refs[0].UID = app.UID
		child.SetOwnerReferences(refs)
	} else {
		child.SetAnnotations(mergeMaps(child.GetAnnotations(), map[string]string{v1beta1.AnnotationOwnerUID: string(app.UID)}))
	}
	if f.hidden {
		labels := child.GetLabels()
		delete(labels, v1beta1.LabelManagedBy)
		child.SetLabels(labels)
	}
	change()
	if !f.applies {
		Expect(admin.Create(o.ctx, child, client.FieldOwner(f.name))).To(Succeed())
		return
	}
	gvk, err := admin.GroupVersionKindFor(child)
	Expect(err).NotTo(HaveOccurred())
	child.GetObjectKind().SetGroupVersionKind(gvk)
	Expect(admin.Patch(o.ctx, child, client.Apply, client.FieldOwner(f.name))).To(Succeed()) //nolint:staticcheck // there is no apply configuration of what is read
}

func (f formerly) app(o *operator) *v1beta1.MyApp {
	app := o.web()
	app.Spec.Envs = []corev1.EnvVar{{Name: "MODE", Value: "qa"}}
	app.Spec.DeletionPolicy = f.policy
	return app
}

// legacy gives a Deployment what later operators no longer set.
func legacy(d *appsv1.Deployment) {
	c := &d.Spec.Template.Spec.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: "LEGACY", Value: "1"})
	c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 9999, Protocol: corev1.ProtocolTCP})
}

// hasNoLegacy expects the container to be as the spec says, and nothing else.
func (o *operator) hasNoLegacy(app *v1beta1.MyApp) {
	GinkgoHelper()
	c := get[appsv1.Deployment](o.ctx, app).Spec.Template.Spec.Containers[0]
	Expect(c.Env).To(Equal([]corev1.EnvVar{{Name: "MODE", Value: "qa"}}))
	Expect(c.Ports).To(Equal([]corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}}))
}

var _ = Describe("After an upgrade from an operator that kept its children another way", func() {
	DescribeTable("C11 what it set and we do not is gone with one rollout, and what others set stays", func(ctx SpecContext, f formerly) {
		o := newOperator(ctx)
		app := o.create(f.app(o))
		d, svc := &appsv1.Deployment{}, &corev1.Service{}
		f.leave(o, app, d, func() { legacy(d) })
		f.leave(o, app, svc, func() {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "old", Port: 9999, Protocol: corev1.ProtocolTCP})
			svc.Spec.Ports[0].Name = "web"
			svc.Spec.ClusterIP, svc.Spec.ClusterIPs = "", nil
		})
		patch := func(manager, body string) {
			GinkgoHelper()
			Expect(admin.Patch(ctx, d, client.RawPatch("application/merge-patch+json", []byte(body)), client.FieldOwner(manager))).To(Succeed())
		}
		patch("kubectl-annotate", `{"metadata":{"annotations":{"example.com/note":"kept"}}}`)
		patch("kubectl-rollout", `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"today"}}}}}`)
		before := get[appsv1.Deployment](ctx, app)

		o.run(app)
		o.hasNoLegacy(app)
		after := get[appsv1.Deployment](ctx, app)
		Expect(after.UID).To(Equal(before.UID))
		Expect(after.Generation).To(Equal(before.Generation+1), "more than one rollout, or none")
		Expect(after.Annotations).To(HaveKeyWithValue("example.com/note", "kept"))
		Expect(after.Spec.Template.Annotations).To(HaveKeyWithValue("kubectl.kubernetes.io/restartedAt", "today"))
		Expect(managersOf(after)).To(ConsistOf("myapp-operator Apply", "kubectl-annotate Update", "kubectl-rollout Update"))
		Expect(get[corev1.Service](ctx, app).Spec.Ports).To(HaveLen(1))
		Expect(get[corev1.Service](ctx, app).Spec.ClusterIP).To(Equal(svc.Spec.ClusterIP))
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))

		Expect(o.run(app)).To(BeEmpty())
		Expect(startOperator(ctx, o.namespace, plane.Config()).run(app)).To(BeEmpty(), "after a restart of the operator")
	},
		Entry("under our name, by updates", formerly{name: v1beta1.OperatorName}),
		Entry("under another name, by updates", formerly{name: "manager"}),
		Entry("under another name, by applies", formerly{name: "old-operator", applies: true}),
		Entry("without owner references", formerly{name: "manager", policy: v1beta1.DeletionPolicyOrphan}),
		Entry("under other labels", formerly{name: "manager", hidden: true}),
	)

	It("C11 the number of pods stays the autoscaler's, whether or not it has written one", func(ctx SpecContext) {
		for _, scaled := range []bool{false, true} {
			o := newOperator(ctx)
			app := o.autoscaled(1, 1, 6)
			app.Spec.Ports, app.Spec.Envs = o.web().Spec.Ports, formerly{}.app(o).Spec.Envs
			o.create(app)
			d := &appsv1.Deployment{}
			formerly{name: v1beta1.OperatorName}.leave(o, app, d, func() { legacy(d); d.Spec.Replicas = ptr[int32](4) })
			if scaled {
				o.scale(app, autoscaler, 5)
			}
			values := o.replicas(app)
			generation := get[appsv1.Deployment](ctx, app).Generation
			o.run(app)
			o.hasNoLegacy(app)
			Expect(values()).To(HaveLen(1), "pods were started or stopped")
			after := get[appsv1.Deployment](ctx, app)
			Expect(after.Generation).To(Equal(generation + 1))
			if scaled {
				Expect(managersOf(after)).To(ContainElement(autoscaler + " Update scale"))
			}
		}
	})

	It("C11 what it set again after a rollback is gone again", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(formerly{}.app(o))
		o.run(app)
		d := get[appsv1.Deployment](ctx, app)
		legacy(d)
		Expect(admin.Update(ctx, d, client.FieldOwner(v1beta1.OperatorName))).To(Succeed())
		o.run(app)
		o.hasNoLegacy(app)
		Expect(o.run(app)).To(BeEmpty())
	})

	It("C11 a child that has changed hands meanwhile is not touched", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(formerly{}.app(o))
		d := &appsv1.Deployment{}
		formerly{name: "manager"}.leave(o, app, d, func() { legacy(d) })
		o.settle(app)
		o.r.Client = staleClient{o.cached, get[appsv1.Deployment](ctx, app)}
		Expect(admin.Delete(ctx, d)).To(Succeed())
		theirs := o.deployment(v1beta1.SelectorLabels("shop"), nil)
		o.requests.take()
		_, err := o.r.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
		Expect(err).NotTo(HaveOccurred())
		o.unchanged(theirs)
	})
})

// managersOf are who owns fields of an object, but for the test's own everybody and the status.
func managersOf(object client.Object) []string {
	var all []string
	for _, e := range object.GetManagedFields() {
		switch {
		case e.Subresource == "":
			all = append(all, e.Manager+" "+string(e.Operation))
		case e.Subresource != "status":
			all = append(all, e.Manager+" "+string(e.Operation)+" "+e.Subresource)
		}
	}
	return all
}

// staleClient is a client whose watch of Deployments lags.
type staleClient struct {
	client.Client
	d *appsv1.Deployment
}

func (c staleClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if late, ok := object.(*appsv1.Deployment); ok {
		c.d.DeepCopyInto(late)
		return nil
	}
	return c.Client.Get(ctx, key, object, opts...)
}
