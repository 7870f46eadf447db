package apiserver

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
)

var _ = Describe("A steady state", func() {
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	// passes are made in the same second, in the next ones and for hours after.
	passes := []time.Duration{0, 0, 300 * time.Millisecond, time.Second, time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 10 * time.Hour}

	DescribeTable("T01, T04 is written once, so that an edit that began before still saves",
		func(ctx SpecContext, bring func(*operator, *v1beta1.MyApp), ready condition) {
			o := newOperator(ctx)
			app := o.web()
			bring(o, app)
			o.run(app)
			Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(ready))
			edited := get[v1beta1.MyApp](ctx, app)

			for _, later := range passes {
				o.settle(app)
				o.now = o.now.Add(later)
				_, err := o.r.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(writes(o.requests.take())).To(BeEmpty())
			Expect(get[v1beta1.MyApp](ctx, app).ResourceVersion).To(Equal(edited.ResourceVersion))

			edited.Labels = map[string]string{"team": "web"}
			Expect(admin.Update(ctx, edited)).To(Succeed(), "what a user has been editing cannot be saved")
		},
		Entry("of a healthy MyApp", func(o *operator, app *v1beta1.MyApp) {
			o.create(app)
			o.run(app)
			o.rollsOut(app)
		}, condition{metav1.ConditionTrue, v1beta1.ReasonRolledOut}),
		Entry("of one at size 0", func(o *operator, app *v1beta1.MyApp) {
			app.Spec.Size = ptr[int32](0)
			o.create(app)
			o.run(app)
			o.rollsOut(app)
		}, condition{metav1.ConditionTrue, v1beta1.ReasonScaledToZero}),
		Entry("of one whose image cannot be pulled", func(o *operator, app *v1beta1.MyApp) {
			o.create(app)
			o.run(app)
			o.becomes(o.pod(app, "shop-1"), waiting("ImagePullBackOff", "Back-off pulling image"))
		}, condition{metav1.ConditionFalse, v1beta1.ReasonImagePullBackOff}),
		Entry("of one with a Service of somebody else in the way", func(o *operator, app *v1beta1.MyApp) {
			o.selectorless()
			o.create(app)
		}, condition{metav1.ConditionFalse, v1beta1.ReasonForeignObject}),
		Entry("of one that the API server refuses", func(o *operator, app *v1beta1.MyApp) {
			app.Spec.ServiceAccountName = "Bad_Name"
			o.create(app)
		}, condition{metav1.ConditionFalse, v1beta1.ReasonInvalidSpec}),
		Entry("of one that is paused", func(o *operator, app *v1beta1.MyApp) {
			o.create(app)
			o.run(app)
			o.rollsOut(app)
			o.run(app)
			edit(o.ctx, app, func(a *v1beta1.MyApp) { a.Annotations = map[string]string{v1beta1.AnnotationPaused: "true"} })
		}, condition{metav1.ConditionTrue, v1beta1.ReasonRolledOut}),
	)

	It("T01 keeps the time of a condition when only its message changes, and moves it with its status", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		pod := o.pod(app, "shop-1")
		o.becomes(pod, waiting("ErrImagePull", "not found"))
		o.run(app)
		first := o.fullCondition(app, v1beta1.ConditionDegraded)
		o.now = o.now.Add(time.Hour)
		o.becomes(pod, waiting("CreateContainerConfigError", `secret "x" not found`))
		o.run(app)
		second := o.fullCondition(app, v1beta1.ConditionDegraded)
		Expect(second.Message).NotTo(Equal(first.Message))
		Expect(second.LastTransitionTime).To(Equal(first.LastTransitionTime))
		o.now = o.now.Add(time.Hour)
		o.becomes(pod, corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		o.run(app)
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).LastTransitionTime).NotTo(Equal(first.LastTransitionTime))
	})

	It("T06 of five hopeless MyApps keeps none of a hundred good ones waiting", func(ctx SpecContext) {
		o := newOperator(ctx)
		all := make([]*v1beta1.MyApp, 0, 105)
		for i := range 105 {
			app := o.smallest()
			app.Name, app.GenerateName = "", "shop-"
			if i%21 == 0 {
				app.Spec.ServiceAccountName = "Bad_Name"
			}
			all = append(all, o.create(app))
		}
		// One round of the queue; nobody asks for a turn before the others have had theirs.
		for i, app := range all {
			o.settle(app)
			result, err := o.r.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
			Expect(err).NotTo(HaveOccurred())
			if i%21 == 0 {
				Expect(result.RequeueAfter).To(BeZero())
				Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonInvalidSpec}))
				continue
			}
			Expect(o.requests.take()).To(ContainElement("patch deployments Created"))
		}
		Expect(o.events.Events).To(HaveLen(5), "one event of each hopeless one")
	})
})
