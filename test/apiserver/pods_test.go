package apiserver

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// pod makes a pod of the MyApp and waits until the cache shows it.
func (o *operator) pod(app *v1beta1.MyApp, name string) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: app.Namespace, Labels: v1beta1.SelectorLabels(app.Name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: app.Spec.Image}}},
	}
	Expect(admin.Create(o.ctx, pod)).To(Succeed())
	o.sees(pod)
	return pod
}

func (o *operator) sees(pod *corev1.Pod) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		cached := &corev1.Pod{}
		g.Expect(o.cached.Get(o.ctx, client.ObjectKeyFromObject(pod), cached)).To(Succeed())
		g.Expect(cached.ResourceVersion).To(Equal(pod.ResourceVersion))
	}).WithTimeout(5 * time.Second).WithPolling(5 * time.Millisecond).Should(Succeed())
}

func (o *operator) noPods(app *v1beta1.MyApp) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var pods corev1.PodList
		g.Expect(o.cached.List(o.ctx, &pods, client.InNamespace(app.Namespace))).To(Succeed())
		g.Expect(pods.Items).To(BeEmpty())
	}).WithTimeout(5 * time.Second).WithPolling(5 * time.Millisecond).Should(Succeed())
}

// becomes gives the pod's container a state, as a kubelet would.
func (o *operator) becomes(pod *corev1.Pod, status corev1.ContainerStatus) {
	GinkgoHelper()
	status.Name, status.Image = "app", pod.Spec.Containers[0].Image
	ready := corev1.ConditionFalse
	if status.Ready {
		ready = corev1.ConditionTrue
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	Expect(admin.Status().Update(o.ctx, pod)).To(Succeed())
	o.sees(pod)
}

var _ = Describe("Pods", func() {
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}

	It("tells why an image cannot be pulled, once, and recovers", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		pod := o.pod(app, "shop-1")
		o.becomes(pod, waiting("ErrImagePull", "not found"))
		Expect(o.run(app)).To(Equal([]string{"patch myapps/status OK"}))
		Expect(o.fullCondition(app, v1beta1.ConditionReady).Message).To(Equal(`container "app": image "nginx:1.27" cannot be pulled: not found`))
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonImagePullBackOff}))
		Expect(get[v1beta1.MyApp](ctx, app).Status.Nodes).To(Equal([]string{"shop-1"}))
		for range 3 {
			o.becomes(pod, waiting("ImagePullBackOff", `Back-off pulling image "nginx:1.27"`))
			Expect(o.run(app)).To(BeEmpty())
			o.becomes(pod, waiting("ErrImagePull", "not found"))
			Expect(o.run(app)).To(BeEmpty())
		}
		Expect(o.events.Events).To(Receive(HavePrefix("Warning ImagePullBackOff")))
		Expect(o.events.Events).NotTo(Receive())
		o.becomes(pod, corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
	})

	It("E06 names the missing Secret and key", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		pod := o.pod(app, "shop-1")
		o.becomes(pod, waiting("CreateContainerConfigError", `couldn't find key token in Secret shop/not-there-yet`))
		o.run(app)
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring("couldn't find key token in Secret shop/not-there-yet"))
	})

	It("writes a crash loop once, with its exit code", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		pod := o.pod(app, "shop-1")
		ended := &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error",
			StartedAt: metav1.NewTime(o.now.Add(-3 * time.Minute)), FinishedAt: metav1.NewTime(o.now.Add(-time.Minute))}
		o.becomes(pod, corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended}})
		o.run(app)
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(Equal(`container "app" ends with exit code 3`))
		last := corev1.ContainerState{Terminated: ended}
		for turn := int32(2); turn < 6; turn++ {
			o.becomes(pod, corev1.ContainerStatus{RestartCount: turn, LastTerminationState: last,
				State: waiting("CrashLoopBackOff", "back-off 40s restarting failed container").State})
			Expect(o.run(app)).To(BeEmpty())
			o.becomes(pod, corev1.ContainerStatus{RestartCount: turn, LastTerminationState: last, Ready: true,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(o.now)}}})
			Expect(o.run(app)).To(BeEmpty())
		}
		By("it has run for twice its last run")
		o.now = o.now.Add(4 * time.Minute)
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
	})
})
