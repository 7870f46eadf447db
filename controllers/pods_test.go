package controllers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// told is what a trouble reads like at first sight: reason and message.
func told(t *trouble) string {
	if t == nil {
		return ""
	}
	return t.reason + ": " + t.message("")
}

func TestPodTroubles(t *testing.T) {
	cannot := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: waiting(reason, message)}
	}
	cases := []struct {
		name   string
		status corev1.ContainerStatus
		want   string
	}{
		{"healthy", corev1.ContainerStatus{Ready: true, State: runningFor(time.Hour)}, ""},
		{"starting", cannot("ContainerCreating", ""), ""},
		{"running, not ready yet", corev1.ContainerStatus{State: runningFor(time.Second)}, ""},
		{"image not there", cannot("ErrImagePull", "manifest unknown"), `ImagePullBackOff: container "app": image "web:1" cannot be pulled: manifest unknown`},
		{"image, backing off", cannot("ImagePullBackOff", `Back-off pulling image "web:1": ErrImagePull: manifest unknown`), `ImagePullBackOff: container "app": image "web:1" cannot be pulled: manifest unknown`},
		{"image, backing off, older kubelet", cannot("ImagePullBackOff", `Back-off pulling image "web:1"`), `ImagePullBackOff: container "app": image "web:1" cannot be pulled`},
		{"image never pulled", cannot("ErrImageNeverPull", "not present"), `ImagePullBackOff: container "app": image "web:1" cannot be pulled: not present`},
		{"invalid image name", cannot("InvalidImageName", "couldn't parse image"), `InvalidImageName: container "app": image "web:1" is not a valid reference`},
		{"E06 Secret missing", cannot("CreateContainerConfigError", `secret "api" not found`), `CreateContainerConfigError: container "app": secret "api" not found`},
		{"E06 key missing", cannot("CreateContainerConfigError", `couldn't find key token in Secret default/api`), `CreateContainerConfigError: container "app": couldn't find key token in Secret default/api`},
		{"image runs as root", cannot("CreateContainerConfigError", `container has runAsNonRoot and image will run as root (pod: "shop-5d4f-x2x_default(7c1e)", container: app)`),
			`CreateContainerConfigError: container "app": container has runAsNonRoot and image will run as root`},
		{"cannot be created", cannot("CreateContainerError", "no space"), `CreateContainerError: container "app" cannot be started: no space`},
		{"cannot be run", cannot("RunContainerError", "no such file"), `CreateContainerError: container "app" cannot be started: no such file`},
		{"ended once", corev1.ContainerStatus{State: ended(1, "Error", time.Second)}, `CrashLoopBackOff: container "app" ends with exit code 1`},
		{"out of memory", corev1.ContainerStatus{RestartCount: 3, State: waiting("CrashLoopBackOff", "back-off 40s"), LastTerminationState: ended(137, "OOMKilled", time.Second)},
			`CrashLoopBackOff: container "app" ends with exit code 137 (OOMKilled)`},
		{"ends without an error, again and again", corev1.ContainerStatus{RestartCount: 3, State: waiting("CrashLoopBackOff", ""), LastTerminationState: ended(0, "Completed", time.Second)},
			`CrashLoopBackOff: container "app" ends with exit code 0 (Completed)`},
		{"crashed once, ready again", corev1.ContainerStatus{RestartCount: 1, Ready: true, State: runningFor(time.Second), LastTerminationState: ended(1, "Error", time.Second)}, ""},
		{"crashed once, on its way again", corev1.ContainerStatus{RestartCount: 1, State: runningFor(time.Second), LastTerminationState: ended(1, "Error", time.Second)},
			`CrashLoopBackOff: container "app" ends with exit code 1`},
		{"crashed days ago, unready today", corev1.ContainerStatus{RestartCount: 1, State: runningFor(50 * time.Hour), LastTerminationState: ended(1, "Error", time.Minute)}, ""},
		{"runs longer than before", corev1.ContainerStatus{RestartCount: 9, Ready: true, State: runningFor(5 * time.Minute), LastTerminationState: ended(1, "Error", time.Minute)}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := inspect([]corev1.Pod{pod("shop-5d4f-x2x", c.status)}, now)
			if diff := cmp.Diff(c.want, told(got.trouble)); diff != "" {
				t.Errorf("the condition says (-want +got):\n%s", diff)
			}
		})
	}
}

// A kubelet and a crash loop go round through states; the status is written for the first of them and stays.
func TestTroubleIsToldOnce(t *testing.T) {
	last := ended(1, "Error", 20*time.Second)
	noStart := ended(128, "StartError", 0)
	noStart.Terminated.Message = "exec: no such file"
	cases := []struct {
		name  string
		cycle []corev1.ContainerStatus
		want  string
	}{
		{"image pull error and back-off", []corev1.ContainerStatus{
			{State: waiting("ErrImagePull", "rpc error: manifest unknown")},
			{State: waiting("ImagePullBackOff", `Back-off pulling image "web:1"`)},
			{State: waiting("ErrImagePull", "rpc error: i/o timeout after 3s")},
			{State: waiting("ImagePullBackOff", `Back-off pulling image "web:1": ErrImagePull: rpc error: manifest unknown`)},
		}, `ImagePullBackOff: container "app": image "web:1" cannot be pulled: rpc error: manifest unknown`},
		{"crash loop", []corev1.ContainerStatus{
			{RestartCount: 3, State: waiting("CrashLoopBackOff", "back-off 40s restarting failed container=app pod=shop-x"), LastTerminationState: last},
			{RestartCount: 4, State: runningFor(time.Second), LastTerminationState: last},
			{RestartCount: 4, Ready: true, State: runningFor(5 * time.Second), LastTerminationState: last},
			{RestartCount: 4, State: last, LastTerminationState: ended(1, "Error", 20*time.Second)},
			{RestartCount: 4, State: waiting("CrashLoopBackOff", "back-off 80s restarting failed container=app pod=shop-x"), LastTerminationState: last},
		}, `CrashLoopBackOff: container "app" ends with exit code 1`},
		{"a command that is not there", []corev1.ContainerStatus{
			{RestartCount: 1, State: waiting("RunContainerError", "failed to start: exec: no such file"), LastTerminationState: noStart},
			{RestartCount: 1, State: waiting("CrashLoopBackOff", "back-off 10s"), LastTerminationState: noStart},
			{RestartCount: 2, State: noStart, LastTerminationState: noStart},
		}, `CreateContainerError: container "app" cannot be started: failed to start: exec: no such file`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := myApp(t, "size: 2")
			for turn := range 3 {
				for i, status := range c.cycle {
					counters := counts{2, 2, 2, 1, 1}
					if status.Ready {
						counters.ready, counters.available = 2, 2
					}
					d := deployment(app, counters, finished)
					f := finding{now: now.Add(time.Duration(turn) * time.Hour), observed: seen([]corev1.Pod{healthyPod("a"), pod("b", status)}, d)}
					f.observed.pods = shift(f.observed.pods, time.Duration(turn)*time.Hour)
					next, _ := nextStatus(app, f)
					degraded := conditionOf(next, v1beta1.ConditionDegraded)
					if got := degraded.Reason + ": " + degraded.Message; got != c.want {
						t.Errorf("turn %d, state %d: Degraded says %q, want %q", turn, i, got, c.want)
					}
					if turn+i > 0 {
						if diff := cmp.Diff(app.Status, next); diff != "" {
							t.Errorf("turn %d, state %d: the status is written again (-before +after):\n%s", turn, i, diff)
						}
					}
					app.Status = next
				}
			}
		})
	}
}

// shift moves the times of containers, as if the same happened later.
func shift(pods []corev1.Pod, by time.Duration) []corev1.Pod {
	var all []corev1.Pod
	for _, p := range pods {
		p = *p.DeepCopy()
		for i := range p.Status.ContainerStatuses {
			if r := p.Status.ContainerStatuses[i].State.Running; r != nil {
				r.StartedAt = metav1.NewTime(r.StartedAt.Add(by))
			}
		}
		all = append(all, p)
	}
	return all
}

func TestCrashLoopProof(t *testing.T) {
	cases := []struct {
		name     string
		ready    bool
		restarts int32
		lastRun  time.Duration
		running  time.Duration
		looping  bool
		recheck  time.Duration
	}{
		{"first crash, ready", true, 1, time.Second, time.Second, false, 0},
		{"short runs need ten seconds", true, 5, time.Second, 4 * time.Second, true, 6 * time.Second},
		{"short run proved", true, 5, time.Second, 10 * time.Second, false, 0},
		{"twice the last run", true, 5, time.Minute, 30 * time.Second, true, 90 * time.Second},
		{"longer runs need ten minutes", true, 5, 9 * time.Minute, 9 * time.Minute, true, time.Minute},
		{"longer run proved", true, 5, 9 * time.Minute, 10 * time.Minute, false, 0},
		{"ended once in a month, ready", true, 2, 720 * time.Hour, time.Second, false, 0},
		{"unready needs ten minutes", false, 1, time.Second, 9 * time.Minute, true, time.Minute},
		{"ended once in a month, not ready for another reason", false, 1, 720 * time.Hour, time.Second, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			report := inspect([]corev1.Pod{pod("a", corev1.ContainerStatus{
				Ready: c.ready, RestartCount: c.restarts, State: runningFor(c.running), LastTerminationState: ended(1, "Error", c.lastRun),
			})}, now)
			if report.looping != c.looping || report.recheck != c.recheck {
				t.Errorf("looping %v, looked at again after %s; want %v, %s", report.looping, report.recheck, c.looping, c.recheck)
			}
		})
	}
}

func TestInspectIgnoresPodsThatEnd(t *testing.T) {
	ending, failed, succeeded := unpullablePod("ending"), unpullablePod("failed"), unpullablePod("succeeded")
	ending.DeletionTimestamp = ptr(ago(time.Second))
	failed.Status.Phase, succeeded.Status.Phase = corev1.PodFailed, corev1.PodSucceeded
	got := inspect([]corev1.Pod{ending, failed, healthyPod("b"), succeeded, healthyPod("a")}, now)
	if diff := cmp.Diff([]string{"a", "b"}, got.names); diff != "" {
		t.Errorf("status.nodes (-want +got):\n%s", diff)
	}
	if got.trouble != nil || got.steady != 2 {
		t.Errorf("pods that end count: %s, %d steady", told(got.trouble), got.steady)
	}
}

func TestGravestTroubleWinsInAnyOrder(t *testing.T) {
	unschedulable := pod("u", corev1.ContainerStatus{})
	unschedulable.Status.ContainerStatuses = nil
	unschedulable.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient cpu.",
	}}
	byGravity := []struct {
		pod  corev1.Pod
		want string
	}{
		{pod("i", corev1.ContainerStatus{State: waiting("InvalidImageName", "")}), "InvalidImageName"},
		{unpullablePod("p"), "ImagePullBackOff"},
		{pod("s", corev1.ContainerStatus{State: waiting("CreateContainerConfigError", `secret "a" not found`)}), "CreateContainerConfigError"},
		{pod("e", corev1.ContainerStatus{State: waiting("CreateContainerError", "x")}), "CreateContainerError"},
		{pod("c", corev1.ContainerStatus{State: ended(1, "", 0)}), "CrashLoopBackOff"},
		{unschedulable, "Unschedulable"},
	}
	for i := range byGravity {
		var pods []corev1.Pod
		for _, p := range byGravity[i:] {
			pods = append(pods, p.pod, healthyPod("h"))
		}
		for range 2 {
			if got := inspect(pods, now).trouble; got == nil || got.reason != byGravity[i].want {
				t.Errorf("of %d pods, the trouble told is %s, want %s", len(pods), told(got), byGravity[i].want)
			}
			slices.Reverse(pods)
		}
	}
	if got, want := told(inspect([]corev1.Pod{unschedulable}, now).trouble), "Unschedulable: no node fits a pod: 0/3 nodes are available: 3 Insufficient cpu."; got != want {
		t.Errorf("the condition says %q, want %q", got, want)
	}
}

func TestReplicaFailure(t *testing.T) {
	cases := []struct{ name, message, want string }{
		{"Q04 quota", `pods "shop-5d4f-x2x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`,
			"QuotaExceeded: a ResourceQuota leaves no room for a pod: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"},
		{"Q04 limit range", `pods "shop-5d4f-x2x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`,
			"FailedCreate: the pods cannot be created: maximum memory usage per Container is 1Gi, but limit is 2Gi"},
		{"Pod Security", `pods "shop-5d4f-x2x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`,
			`PodSecurityViolation: Pod Security admission refuses the pods: violates PodSecurity "restricted:latest": runAsNonRoot != true`},
		{"service account", `pods "shop-5d4f-" is forbidden: error looking up service account default/web: serviceaccount "web" not found`,
			`FailedCreate: the pods cannot be created: error looking up service account default/web: serviceaccount "web" not found`},
		{"invalid", `Pod "shop-5d4f-x2x" is invalid: spec.containers[0].image: Required value`,
			"FailedCreate: the pods cannot be created: spec.containers[0].image: Required value"},
		{"webhook", "admission webhook denied the request", "FailedCreate: the pods cannot be created: admission webhook denied the request"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := told(replicaFailure(deployment(myApp(t, ""), counts{}, updating, refusedPods(c.message))))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the condition says (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "5d4f") {
				t.Errorf("the message changes with every pod that is tried: %s", got)
			}
		})
	}
	cured := deployment(myApp(t, ""), counts{}, updating, refusedPods("old"), func(d *appsv1.Deployment) {
		d.Status.Conditions[1].Status = corev1.ConditionFalse
	})
	if got := replicaFailure(cured); got != nil {
		t.Errorf("a failure that is over is told: %s", told(got))
	}
}

// A quota's message counts what is used, which changes while the cause does not.
func TestCountersInAMessageDoNotTick(t *testing.T) {
	app := myApp(t, "size: 3")
	status := func(used string) v1beta1.MyAppStatus {
		d := deployment(app, counts{want: 3}, updating, refusedPods(`pods "shop-`+used+`" is forbidden: exceeded quota: q, used: pods=`+used))
		next, _ := nextStatus(app, finding{now: now, observed: seen(nil, d)})
		return next
	}
	app.Status = status("1")
	if diff := cmp.Diff(app.Status, status("2")); diff != "" {
		t.Errorf("the status is written with every try to create a pod (-before +after):\n%s", diff)
	}
}
