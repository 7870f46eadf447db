package apiserver

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// scale writes the number of pods as an autoscaler or `kubectl scale` does.
func (o *operator) scale(app *v1beta1.MyApp, manager string, replicas int32) {
	GinkgoHelper()
	d := get[appsv1.Deployment](o.ctx, app)
	s := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	Expect(admin.SubResource("scale").Update(o.ctx, d, client.WithSubResourceBody(s), client.FieldOwner(manager))).To(Succeed())
}

const autoscaler = "kube-controller-manager"

// replicas follows the number of pods of a Deployment; the function returns every value that it took, repetitions apart.
func (o *operator) replicas(app *v1beta1.MyApp) func() []int32 {
	GinkgoHelper()
	w, err := client.NewWithWatch(plane.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	d := get[appsv1.Deployment](o.ctx, app)
	events, err := w.Watch(o.ctx, &appsv1.DeploymentList{}, client.InNamespace(o.namespace), &client.ListOptions{
		Raw: &metav1.ListOptions{ResourceVersion: d.ResourceVersion},
	})
	Expect(err).NotTo(HaveOccurred())
	all := []int32{*d.Spec.Replicas}
	return func() []int32 {
		GinkgoHelper()
		last := get[appsv1.Deployment](o.ctx, app).ResourceVersion
		for seen := d.ResourceVersion; seen != last; {
			var e watch.Event
			Eventually(events.ResultChan()).WithTimeout(5 * time.Second).Should(Receive(&e))
			d = e.Object.(*appsv1.Deployment)
			seen, all = d.ResourceVersion, append(all, *d.Spec.Replicas)
		}
		all = slices.Compact(all)
		return slices.Clone(all)
	}
}

func (o *operator) autoscaled(size, least, most int32) *v1beta1.MyApp {
	app := wrappers.MakeMyApp("shop", o.namespace).Size(size).Obj()
	app.Spec.Autoscaling = &v1beta1.AutoscalingSpec{MinReplicas: &least, MaxReplicas: most}
	return app
}

func (o *operator) size(app *v1beta1.MyApp) int32 {
	GinkgoHelper()
	return *get[appsv1.Deployment](o.ctx, app).Spec.Replicas
}

var _ = Describe("Scaling", func() {
	It("Z03 hands the number of pods to the autoscaler and takes it back, without a value in between", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(wrappers.MakeMyApp("shop", o.namespace).Size(3).Obj())
		o.run(app)
		values := o.replicas(app)

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Autoscaling = o.autoscaled(3, 2, 6).Spec.Autoscaling })
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Envs = wrappers.MakeMyApp("a", "b").Env("A", "1").Obj().Spec.Envs })
		o.run(app)
		Expect(values()).To(Equal([]int32{3}), "before the autoscaler has written its first number")

		o.scale(app, autoscaler, 4)
		Expect(writes(o.run(app))).To(BeEmpty())
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Envs[0].Value = "2" })
		o.run(app)
		Expect(startOperator(ctx, o.namespace, plane.Config()).run(app)).To(BeEmpty(), "a restart of the operator")
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		Expect(values()).To(Equal([]int32{3, 4}))

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Autoscaling = nil })
		requests := o.run(app)
		Expect(slices.Index(requests, "delete horizontalpodautoscalers OK")).To(BeNumerically("<", slices.Index(requests, "patch deployments OK")),
			"an autoscaler that still exists would write once more: %v", requests)
		Expect(values()).To(Equal([]int32{3, 4, 3}))
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](2) })
		o.run(app)
		Expect(values()).To(Equal([]int32{3, 4, 3, 2}), "size counts again")
	})

	It("Z03 begins with the size, within the autoscaler's bounds", func(ctx SpecContext) {
		for size, want := range map[int32]int32{1: 2, 3: 3, 9: 6} {
			o := newOperator(ctx)
			app := o.create(o.autoscaled(size, 2, 6))
			o.run(app)
			Expect(o.size(app)).To(Equal(want))
		}
	})

	It("Z02 stops at size 0 beside an autoscaler, and comes back", func(ctx SpecContext) {
		hpa := func(app *v1beta1.MyApp) bool { return !missing(ctx, app, &autoscalingv2.HorizontalPodAutoscaler{}) }
		o := newOperator(ctx)
		app := o.create(o.autoscaled(1, 2, 5))
		o.run(app)
		Expect(hpa(app)).To(BeTrue())
		o.scale(app, autoscaler, 4)
		values := o.replicas(app)

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](0) })
		o.run(app)
		Expect(hpa(app)).To(BeFalse(), "an autoscaler is left that has nothing to do")
		Expect(o.condition(app, v1beta1.ConditionAvailable)).To(Equal(condition{"True", v1beta1.ReasonScaledToZero}))

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = nil })
		o.run(app)
		Expect(hpa(app)).To(BeTrue())
		Expect(values()).To(Equal([]int32{4, 0, 2}), "lifted once, to minReplicas")
		o.scale(app, autoscaler, 3)
		Expect(o.run(app)).To(BeEmpty(), "the autoscaler has the number again")

		By("starting with size 0")
		fresh := newOperator(ctx)
		stopped := fresh.create(fresh.autoscaled(0, 2, 5))
		fresh.run(stopped)
		Expect(fresh.size(stopped)).To(BeZero())
		Expect(hpa(stopped)).To(BeFalse())
		edit(ctx, stopped, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](1) })
		fresh.run(stopped)
		Expect(fresh.size(stopped)).To(Equal(int32(2)))
		Expect(hpa(stopped)).To(BeTrue())
	})

	It("Z02 lifts an autoscaled Deployment that somebody set to 0, which no autoscaler would", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.autoscaled(1, 2, 5))
		o.run(app)
		o.scale(app, "kubectl", 0)
		o.run(app)
		Expect(o.size(app)).To(Equal(int32(2)))
	})

	It("puts a hand back once, and lets an autoscaler of somebody else have its way while it exists", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(wrappers.MakeMyApp("shop", o.namespace).Size(2).Obj())
		o.run(app)
		look := "get horizontalpodautoscalers OK"

		By("a hand")
		o.scale(app, "kubectl", 5)
		Expect(o.run(app)).To(Equal([]string{look, "patch deployments OK"}))
		Expect(o.size(app)).To(Equal(int32(2)))

		By("an autoscaler")
		theirs := externalAutoscaler(ctx, app)
		o.scale(app, autoscaler, 4)
		Expect(o.run(app)).To(Equal([]string{look}), "it is asked about once")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Envs = wrappers.MakeMyApp("a", "b").Env("A", "1").Obj().Spec.Envs })
		o.run(app)
		Expect(o.size(app)).To(Equal(int32(4)))
		Expect(o.condition(app, v1beta1.ConditionReady).Reason).NotTo(Equal(v1beta1.ReasonTwoAutoscalers))

		By("a change of size asks again")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](3) })
		Expect(o.run(app)).To(ContainElement(look))
		Expect(o.size(app)).To(Equal(int32(4)))

		By("size 0 stops it all the same")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](0) })
		o.run(app)
		Expect(o.size(app)).To(BeZero())
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](3) })
		o.run(app)
		Expect(o.size(app)).To(Equal(int32(3)))

		By("the autoscaler gone, its number is put back within 10 minutes")
		o.scale(app, autoscaler, 4)
		o.run(app)
		Expect(admin.Delete(ctx, theirs)).To(Succeed())
		Expect(o.run(app)).To(BeEmpty())
		Expect(o.size(app)).To(Equal(int32(4)))
		result, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(And(BeNumerically(">", 0), BeNumerically("<=", 10*time.Minute)))
		o.now = o.now.Add(10 * time.Minute)
		Expect(o.run(app)).To(Equal([]string{look, "patch deployments OK"}))
		Expect(o.size(app)).To(Equal(int32(3)))
	})
})

// externalAutoscaler is one that somebody points at the MyApp's Deployment.
func externalAutoscaler(ctx context.Context, app *v1beta1.MyApp) *autoscalingv2.HorizontalPodAutoscaler {
	GinkgoHelper()
	h := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "theirs", Namespace: app.Namespace},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: app.Name},
			MaxReplicas:    10,
		},
	}
	Expect(admin.Create(ctx, h)).To(Succeed())
	return h
}
