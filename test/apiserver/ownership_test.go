package apiserver

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// selectorless is a Service that somebody else made under the MyApp's name. None of its values would conflict with ours.
func (o *operator) selectorless() *corev1.Service {
	GinkgoHelper()
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: o.namespace},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	Expect(admin.Create(o.ctx, svc)).To(Succeed())
	return svc
}

// deployment is a Deployment of somebody else under the MyApp's name.
func (o *operator) deployment(selector map[string]string, change func(*appsv1.Deployment)) *appsv1.Deployment {
	GinkgoHelper()
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: o.namespace},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selector},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "legacy", Image: "legacy:1", Env: []corev1.EnvVar{{Name: "LEGACY", Value: "1"}},
				}}},
			},
		},
	}
	if change != nil {
		change(d)
	}
	Expect(admin.Create(o.ctx, d)).To(Succeed())
	return d
}

func (o *operator) unchanged(object client.Object) {
	GinkgoHelper()
	version := object.GetResourceVersion()
	Expect(admin.Get(o.ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	Expect(object.GetResourceVersion()).To(Equal(version), "somebody else's object was written")
}

// lateClient is a client whose watch of MyApps lags.
type lateClient struct {
	client.Client
	app *v1beta1.MyApp
}

func (c lateClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if late, ok := object.(*v1beta1.MyApp); ok {
		c.app.DeepCopyInto(late)
		return nil
	}
	return c.Client.Get(ctx, key, object, opts...)
}

var foreign = condition{metav1.ConditionTrue, v1beta1.ReasonForeignObject}

var _ = Describe("Ownership", func() {
	It("C03 leaves a foreign Service alone, reports it, keeps the Deployment and looks again minutes later", func(ctx SpecContext) {
		o := newOperator(ctx)
		svc := o.selectorless()
		app := o.create(o.web())

		result, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{
			"patch deployments Created", "patch services Conflict", "get services OK", "patch poddisruptionbudgets Created",
			"patch myapps/status OK"}))
		Expect(result.RequeueAfter).To(And(BeNumerically(">=", time.Minute-11*time.Second), BeNumerically("<=", 5*time.Minute)))
		o.unchanged(svc)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(foreign))
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonForeignObject}))
		Expect(o.fullCondition(app, v1beta1.ConditionReady).Message).To(And(
			ContainSubstring(`Service named "shop"`), ContainSubstring(v1beta1.AnnotationAdopt)))
		Expect(o.events.Events).To(Receive(ContainSubstring("Warning ForeignObject")))

		By("no request until the next look, and one read then")
		Expect(o.run(app)).To(BeEmpty())
		o.now = o.now.Add(5 * time.Minute)
		_, err = o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(writes(o.requests.take())).To(BeEmpty())

		By("an operator that restarts only looks")
		restarted := startOperator(ctx, o.namespace, plane.Config())
		Expect(writes(restarted.run(app))).To(BeEmpty())
		Expect(o.events.Events).NotTo(Receive())

		By("the name is used once it is free")
		Expect(admin.Delete(ctx, svc)).To(Succeed())
		o.now = o.now.Add(5 * time.Minute)
		o.run(app)
		Expect(get[corev1.Service](ctx, app).OwnerReferences).To(HaveLen(1))
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
	})

	DescribeTable("C03 touches no foreign Deployment", func(ctx context.Context, change func(*appsv1.Deployment)) {
		o := newOperator(ctx)
		d := o.deployment(v1beta1.SelectorLabels("shop"), change)
		app := o.create(o.web())
		Expect(writes(o.run(app))).NotTo(ContainElement("patch deployments OK"))
		o.unchanged(d)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(foreign))
		Expect(missing(ctx, app, &corev1.Service{})).To(BeFalse(), "the other child is not kept")
	},
		Entry("of nobody", nil),
		Entry("of another controller", func(d *appsv1.Deployment) {
			d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Other", Name: "shop", UID: "1", Controller: ptr(true)}}
		}),
		Entry("Z07 left by a former MyApp of the name, with our labels", func(d *appsv1.Deployment) {
			d.Labels = v1beta1.SelectorLabels("shop")
			d.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: v1beta1.GroupVersion.String(), Kind: "MyApp", Name: "shop", UID: "former", Controller: ptr(true)}}
		}),
		Entry("orphaned by a former MyApp of the name", func(d *appsv1.Deployment) {
			d.Labels = v1beta1.SelectorLabels("shop")
			d.Annotations = map[string]string{v1beta1.AnnotationOwnerUID: "former"}
		}),
		Entry("of another controller, although it may be adopted", func(d *appsv1.Deployment) {
			d.Annotations = map[string]string{v1beta1.AnnotationAdopt: "true"}
			d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Other", Name: "shop", UID: "1", Controller: ptr(true)}}
		}),
	)

	It("Z07 prunes nothing foreign", func(ctx SpecContext) {
		o := newOperator(ctx)
		svc := o.selectorless()
		app := o.create(o.smallest())
		o.run(app)
		edit(ctx, svc, func(s *corev1.Service) { s.Labels = v1beta1.SelectorLabels("shop") })
		o.run(app)
		o.unchanged(svc)
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})

	It("adopts a Service that allows it, keeps its addresses and drops what its former manager had set", func(ctx SpecContext) {
		o := newOperator(ctx)
		svc := o.selectorless()
		edit(ctx, svc, func(s *corev1.Service) {
			s.Annotations = map[string]string{v1beta1.AnnotationAdopt: "true", "former": "yes"}
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "old", Port: 9999})
			s.Spec.Ports[0].Name = "web"
		})
		app := o.create(o.web())
		o.run(app)
		adopted := get[corev1.Service](ctx, app)
		Expect(adopted.UID).To(Equal(svc.UID))
		Expect(adopted.Spec.ClusterIP).To(Equal(svc.Spec.ClusterIP))
		Expect(adopted.Spec.Selector).To(Equal(v1beta1.SelectorLabels("shop")))
		Expect(adopted.Spec.Ports).To(HaveLen(1))
		Expect(adopted.Annotations).To(BeEmpty())
		Expect(metav1.GetControllerOf(adopted).UID).To(Equal(app.UID))
		Expect(o.run(app)).To(BeEmpty())
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})

	It("adopts a Deployment with our selector and refuses one with another", func(ctx SpecContext) {
		allowed := func(d *appsv1.Deployment) { d.Annotations = map[string]string{v1beta1.AnnotationAdopt: "true"} }
		o := newOperator(ctx)
		d := o.deployment(v1beta1.SelectorLabels("shop"), allowed)
		app := o.create(o.web())
		o.run(app)
		adopted := get[appsv1.Deployment](ctx, app)
		Expect(adopted.UID).To(Equal(d.UID))
		Expect(adopted.Spec.Template.Spec.Containers).To(HaveLen(1), "the former manager's container is left")
		Expect(o.run(app)).To(BeEmpty())

		o = newOperator(ctx)
		d = o.deployment(map[string]string{"app": "legacy"}, allowed)
		app = o.create(o.web())
		o.run(app)
		o.unchanged(d)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonSelectorDiffers}))
	})

	It("restores a stripped owner reference after one look at the MyApp", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		edit(ctx, get[corev1.Service](ctx, app), func(s *corev1.Service) { s.OwnerReferences = nil })
		Expect(o.run(app)).To(Equal([]string{"get myapps OK", "patch services OK"}))
		Expect(get[corev1.Service](ctx, app).OwnerReferences).To(HaveLen(1))
	})

	It("C05 adopts nothing of a former MyApp when it is made again under the same name", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		former := get[appsv1.Deployment](ctx, app)
		Expect(admin.Delete(ctx, app)).To(Succeed())
		again := o.create(o.web())
		o.run(again)
		Expect(get[appsv1.Deployment](ctx, again).UID).To(Equal(former.UID))
		Expect(metav1.GetControllerOf(get[appsv1.Deployment](ctx, again)).UID).To(Equal(app.UID), "it belongs to the former one until the garbage collector comes")
		Expect(o.condition(again, v1beta1.ConditionDegraded)).To(Equal(foreign))
	})
})

var _ = Describe("Deletion", func() {
	It("F02, F05 does nothing under Delete, has no finalizer and creates nothing while the MyApp is deleting", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		Expect(get[v1beta1.MyApp](ctx, app).Finalizers).To(BeEmpty())
		Expect(admin.Delete(ctx, app, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		Expect(admin.Delete(ctx, get[corev1.Service](ctx, app))).To(Succeed())
		Expect(o.run(app)).To(BeEmpty())
	})

	It("F05 creates nothing when the watch has yet to tell that the MyApp was deleted", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		stale := get[v1beta1.MyApp](ctx, app)
		Expect(admin.Delete(ctx, app)).To(Succeed())
		Expect(admin.Delete(ctx, get[corev1.Service](ctx, app))).To(Succeed())
		edit(ctx, get[appsv1.Deployment](ctx, app), func(d *appsv1.Deployment) { d.OwnerReferences = nil })
		o.settle(app)
		o.requests.take()
		o.r.Client = lateClient{o.cached, stale}
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{"get myapps Not Found"}))
	})

	It("keeps the children without an owner under Orphan, switches both ways, and has no finalizer", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		policy := func(p v1beta1.DeletionPolicy) {
			GinkgoHelper()
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.DeletionPolicy = p })
			o.run(app)
		}
		policy(v1beta1.DeletionPolicyOrphan)
		for _, child := range []client.Object{get[appsv1.Deployment](ctx, app), get[corev1.Service](ctx, app)} {
			Expect(child.GetOwnerReferences()).To(BeEmpty())
			Expect(child.GetAnnotations()).To(HaveKeyWithValue(v1beta1.AnnotationOwnerUID, string(app.UID)))
		}
		Expect(o.run(app)).To(BeEmpty())
		policy(v1beta1.DeletionPolicyDelete)
		for _, child := range []client.Object{get[appsv1.Deployment](ctx, app), get[corev1.Service](ctx, app)} {
			Expect(child.GetOwnerReferences()).To(HaveLen(1))
			Expect(child.GetAnnotations()).NotTo(HaveKey(v1beta1.AnnotationOwnerUID))
		}
		policy(v1beta1.DeletionPolicyOrphan)
		Expect(get[v1beta1.MyApp](ctx, app).Finalizers).To(BeEmpty())
		Expect(admin.Delete(ctx, app)).To(Succeed())
		Expect(o.run(app)).To(BeEmpty())
		Expect(missing(ctx, app, &corev1.Service{})).To(BeFalse())
	})

	drained := func(ctx SpecContext) (*operator, *v1beta1.MyApp) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.DeletionPolicy = v1beta1.DeletionPolicyDrain
		o.create(app)
		o.run(app)
		Expect(get[v1beta1.MyApp](ctx, app).Finalizers).To(Equal([]string{v1beta1.Finalizer}))
		return o, app
	}

	It("takes the parts down in order under Drain", func(ctx SpecContext) {
		o, app := drained(ctx)
		pod := o.pod(app, "shop-1")
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.now = time.Now()
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{"delete services OK", "patch myapps/status OK"}))
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonDraining}))
		Expect(o.condition(app, v1beta1.ConditionProgressing)).To(Equal(condition{metav1.ConditionTrue, "DeletingService"}))

		_, err = o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{"patch deployments OK", "patch myapps/status OK"}))
		Expect(*get[appsv1.Deployment](ctx, app).Spec.Replicas).To(BeZero())
		Expect(o.condition(app, v1beta1.ConditionProgressing)).To(Equal(condition{metav1.ConditionTrue, "StoppingPods"}))
		Expect(o.run(app)).To(BeEmpty(), "it does not wait for the pods")

		Expect(admin.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
		o.noPods(app)
		_, err = o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(ContainElement("delete deployments OK"))
		_, err = o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal([]string{"patch myapps OK"}))
		Expect(missing(ctx, app, &v1beta1.MyApp{})).To(BeTrue())
	})

	It("skips a step that does not end in time, says so and ends", func(ctx SpecContext) {
		o, app := drained(ctx)
		o.pod(app, "shop-1")
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.run(app)
		o.now = time.Now().Add(2*(35+60)*time.Second + time.Second)
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(ContainElement("delete deployments OK"))
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonDrainTimedOut}))
		_, err = o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(missing(ctx, app, &v1beta1.MyApp{})).To(BeTrue())
	})

	DescribeTable("F05 hands the order to the garbage collector", func(ctx SpecContext, policy metav1.DeletionPropagation) {
		o, app := drained(ctx)
		Expect(admin.Delete(ctx, app, client.PropagationPolicy(policy))).To(Succeed())
		Expect(o.run(app)).To(Equal([]string{"patch myapps OK"}))
		Expect(get[v1beta1.MyApp](ctx, app).Finalizers).NotTo(ContainElement(v1beta1.Finalizer))
	},
		Entry("under a foreground cascade", metav1.DeletePropagationForeground),
		Entry("under an orphan cascade", metav1.DeletePropagationOrphan),
	)

	It("takes the finalizer off when the policy is no longer Drain", func(ctx SpecContext) {
		o, app := drained(ctx)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.DeletionPolicy = v1beta1.DeletionPolicyDelete })
		o.run(app)
		Expect(get[v1beta1.MyApp](ctx, app).Finalizers).To(BeEmpty())
	})

	It("creates nothing while a foreign object is in the way of a Drain", func(ctx SpecContext) {
		o := newOperator(ctx)
		svc := o.selectorless()
		app := o.web()
		app.Spec.DeletionPolicy = v1beta1.DeletionPolicyDrain
		o.create(app)
		_, _ = o.step(app)
		Expect(admin.Delete(ctx, app)).To(Succeed())
		for range 4 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(missing(ctx, app, &v1beta1.MyApp{})).To(BeTrue())
		o.unchanged(svc)
	})
})
