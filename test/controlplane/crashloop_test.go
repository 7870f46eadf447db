package controlplane

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// crashLoopSpecs plays the kubelet of a pod that ends again and again: without a readiness probe it counts as ready for a
// moment in every turn, and the Deployment with it.
func crashLoopSpecs() {
	It("reports a crash loop once and not with every turn", func(ctx SpecContext) {
		ns := newNamespace(ctx, "crash")
		app := wrappers.MakeMyApp("web", ns).Port(80).PodAnnotation(cluster.Fault, cluster.FaultHold).Obj()
		create(ctx, app)
		pod := onlyPod(ctx, app)
		// The first turns, until the trouble is known and shown.
		var restarts int32
		for ; restarts < 4; restarts++ {
			turn(ctx, pod, restarts)
		}
		reaches(ctx, app, "False "+v1beta1.ReasonCrashLoopBackOff)
		Expect(message(ctx, app)).To(ContainSubstring("exit code 7"))
		turn(ctx, pod, restarts)

		since := mark(ctx)
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
			restarts++
			turn(ctx, pod, restarts)
		}
		Expect(writes(ctx, since, operatorUser, ns)).To(BeEmpty())
		reaches(ctx, app, "False "+v1beta1.ReasonCrashLoopBackOff)
	}, SpecTimeout(2*time.Minute))
}

func onlyPod(ctx context.Context, app client.Object) *corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Eventually(ctx, func() int {
		Expect(plane.admin.List(ctx, &pods, client.InNamespace(app.GetNamespace()))).To(Succeed())
		return len(pods.Items)
	}).Should(Equal(1))
	return &pods.Items[0]
}

// turn is one turn of a crash loop: the container runs and is ready, ends, and waits to be started again.
func turn(ctx context.Context, pod *corev1.Pod, restarts int32) {
	GinkgoHelper()
	now := metav1.Now()
	last := corev1.ContainerState{}
	if restarts > 0 {
		last.Terminated = &corev1.ContainerStateTerminated{ExitCode: 7, Reason: "Error", StartedAt: now, FinishedAt: now}
	}
	show(ctx, pod, restarts, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}, last)
	last.Terminated = &corev1.ContainerStateTerminated{ExitCode: 7, Reason: "Error", StartedAt: now, FinishedAt: now}
	show(ctx, pod, restarts, corev1.ContainerState{Terminated: last.Terminated}, last)
	waiting := &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off restarting failed container"}
	show(ctx, pod, restarts, corev1.ContainerState{Waiting: waiting}, last)
}

// show writes the pod's status, and leaves it that way long enough for everybody to see it.
func show(ctx context.Context, pod *corev1.Pod, restarts int32, state, last corev1.ContainerState) {
	GinkgoHelper()
	ready := state.Running != nil
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Now()},
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		Ready: ready, RestartCount: restarts, State: state, LastTerminationState: last,
	}}
	live := live[corev1.Pod](ctx, pod)
	live.Status = pod.Status
	Expect(plane.admin.Status().Update(ctx, live)).To(Succeed())
	Expect(pause(ctx, 700*time.Millisecond)).To(Succeed())
}
