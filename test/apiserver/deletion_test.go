package apiserver

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// There is no garbage collector here, so a foreground deletion stays for as long as the test wants, and what counts is what
// the operator writes.
var _ = Describe("While a deletion waits for the garbage collector", func() {
	DescribeTable("F05 nothing is made, repaired or changed, whatever goes and whatever the spec says",
		func(ctx SpecContext, policy v1beta1.DeletionPolicy, cascade metav1.DeletionPropagation, released []string) {
			o := newOperator(ctx)
			app := o.create(wrappers.MakeMyApp("shop", o.namespace).Size(2).Port(80).DeletionPolicy(policy).Obj())
			o.run(app)
			Expect(admin.Delete(ctx, app, client.PropagationPolicy(cascade))).To(Succeed())
			Expect(o.run(app)).To(Equal(released))

			Expect(admin.Delete(ctx, get[corev1.Service](ctx, app))).To(Succeed())
			d := get[appsv1.Deployment](ctx, app)
			edit(ctx, d, func(d *appsv1.Deployment) {
				d.OwnerReferences, d.Spec.Template.Spec.Containers[0].Image = nil, "drifted:1"
			})
			edit(ctx, app, func(a *v1beta1.MyApp) {
				a.Spec.Image = "changed:1"
				a.Spec.Ports = append(a.Spec.Ports, corev1.ServicePort{Name: "other", Port: 81})
			})
			Expect(o.run(app)).To(BeEmpty())
			restarted := startOperator(ctx, o.namespace, plane.Config())
			Expect(restarted.run(app)).To(BeEmpty(), "after a restart of the operator")
			o.unchanged(d)
			Expect(missing(ctx, app, &corev1.Service{})).To(BeTrue())
		},
		Entry("foreground, without our finalizer", v1beta1.DeletionPolicyDelete, metav1.DeletePropagationForeground, nil),
		Entry("foreground, with our finalizer", v1beta1.DeletionPolicyDrain, metav1.DeletePropagationForeground, []string{"patch myapps OK"}),
		Entry("orphan, without our finalizer", v1beta1.DeletionPolicyDelete, metav1.DeletePropagationOrphan, nil),
		Entry("orphan, with our finalizer", v1beta1.DeletionPolicyDrain, metav1.DeletePropagationOrphan, []string{"patch myapps OK"}),
	)

	DescribeTable("F05 children that were to be kept are kept, although the garbage collector has finished first",
		func(ctx SpecContext, seen bool) {
			o := newOperator(ctx)
			app := o.create(wrappers.MakeMyApp("shop", o.namespace).Size(2).Port(80).DeletionPolicy(v1beta1.DeletionPolicyDrain).Obj())
			o.run(app)
			Expect(admin.Delete(ctx, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))).To(Succeed())
			if seen {
				// Somebody else changes the MyApp between our read and our write.
				o.settle(app)
				edit(ctx, get[v1beta1.MyApp](ctx, app), func(a *v1beta1.MyApp) { a.Labels = map[string]string{"touched": "yes"} })
				_, _ = o.r.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
			}
			for _, child := range []client.Object{get[appsv1.Deployment](ctx, app), get[corev1.Service](ctx, app)} {
				edit(ctx, child, func(c client.Object) { c.SetOwnerReferences(nil) })
			}
			if !missing(ctx, app, &v1beta1.MyApp{}) {
				edit(ctx, get[v1beta1.MyApp](ctx, app), func(a *v1beta1.MyApp) {
					controllerutil.RemoveFinalizer(a, metav1.FinalizerOrphanDependents)
				})
			}
			o.run(app)
			Expect(missing(ctx, app, &v1beta1.MyApp{})).To(BeTrue())
			Expect(*get[appsv1.Deployment](ctx, app).Spec.Replicas).To(Equal(int32(2)))
			Expect(missing(ctx, app, &corev1.Service{})).To(BeFalse())
		},
		Entry("before the operator looked", false),
		Entry("between two looks of the operator", true),
	)
})
