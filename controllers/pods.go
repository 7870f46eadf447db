package controllers

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// trouble is why pods do not run. head is worded the same every time the cause is the same; detail is what the node or the
// scheduler adds, which may vary while nothing changes.
type trouble struct{ reason, head, detail string }

// message keeps the last message of the same trouble, so that a condition does not tick with every retry of a node.
func (t trouble) message(last string) string {
	if strings.HasPrefix(last, t.head) && (last != t.head || t.detail == "") {
		return last
	}
	if t.detail == "" {
		return t.head
	}
	return t.head + ": " + t.detail
}

// podReport is what the pods tell beyond the Deployment's counters.
type podReport struct {
	// names of the pods that are not ending, sorted.
	names []string
	// trouble is the gravest cause that keeps pods from running; nil when there is none.
	trouble *trouble
	// looping is set when a pod is in a crash loop; steady then counts the ready pods that are not.
	looping bool
	steady  int32
	// recheck is when a pod that runs again will no longer count as crash looping; zero for never.
	recheck time.Duration
}

// inspect reads the pods. The result does not depend on their order.
func inspect(pods []corev1.Pod, now time.Time) podReport {
	var report podReport
	var all []trouble
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		report.names = append(report.names, pod.Name)
		found, recheck := podTroubles(pod, now)
		all = append(all, found...)
		report.recheck = earliest(report.recheck, recheck)
		if slices.ContainsFunc(found, func(t trouble) bool { return t.reason == v1beta1.ReasonCrashLoopBackOff }) {
			report.looping = true
		} else if podReady(pod) {
			report.steady++
		}
	}
	slices.Sort(report.names)
	report.trouble = gravest(all)
	return report
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// gravity orders the reasons: what nobody but the user can mend comes first.
var gravity = []string{
	v1beta1.ReasonInvalidImageName, v1beta1.ReasonImagePullBackOff, v1beta1.ReasonContainerConfigError,
	v1beta1.ReasonContainerError, v1beta1.ReasonCrashLoopBackOff, v1beta1.ReasonUnschedulable,
}

func gravest(all []trouble) *trouble {
	if len(all) == 0 {
		return nil
	}
	t := slices.MinFunc(all, func(a, b trouble) int {
		return cmp.Or(
			cmp.Compare(slices.Index(gravity, a.reason), slices.Index(gravity, b.reason)),
			cmp.Compare(a.head, b.head), cmp.Compare(a.detail, b.detail))
	})
	return &t
}

func podTroubles(pod *corev1.Pod, now time.Time) (all []trouble, recheck time.Duration) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			all = append(all, trouble{v1beta1.ReasonUnschedulable, "no node fits a pod", c.Message})
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if t := waitingTrouble(c); t != nil {
			all = append(all, *t)
			continue
		}
		t, again := crashLoop(c, now)
		if t != nil {
			all = append(all, *t)
			recheck = earliest(recheck, again)
		}
	}
	return all, recheck
}

// waitingTrouble reads a container that cannot start. The kubelet alternates between the error and its back-off, so both
// have one reason here.
func waitingTrouble(c corev1.ContainerStatus) *trouble {
	w := c.State.Waiting
	if w == nil {
		return nil
	}
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
		return &trouble{v1beta1.ReasonImagePullBackOff, fmt.Sprintf("container %q: image %q cannot be pulled", c.Name, c.Image), pullError(w.Message)}
	case "InvalidImageName":
		return &trouble{v1beta1.ReasonInvalidImageName, fmt.Sprintf("container %q: image %q is not a valid reference", c.Name, c.Image), ""}
	case "CreateContainerConfigError":
		return &trouble{v1beta1.ReasonContainerConfigError, fmt.Sprintf("container %q: %s", c.Name, podSuffix.ReplaceAllString(w.Message, "")), ""}
	case "CreateContainerError", "RunContainerError", "PreStartHookError", "PostStartHookError", "CreatePodSandboxError":
		return startTrouble(c.Name, w.Message)
	}
	return nil
}

func startTrouble(container, detail string) *trouble {
	return &trouble{v1beta1.ReasonContainerError, fmt.Sprintf("container %q cannot be started", container), detail}
}

// podSuffix is how the kubelet names the pod in the message of a container that must not run as root.
var podSuffix = regexp.MustCompile(` \(pod: "[^"]*", container: [^)]*\)`)

var backOffPrefix = regexp.MustCompile(`^Back-off pulling image "[^"]*"(: [A-Za-z]+: )?`)

// pullError is the registry's own words, which the kubelet wraps while it backs off.
func pullError(message string) string { return backOffPrefix.ReplaceAllString(message, "") }

// How long a container that crashed must run again before it no longer counts as crash looping: twice its last run, within
// these bounds, or the longer bound while it is not ready, since it may be on its way to its next crash. One that had run
// for that long before it crashed is no crash loop; the kubelet, too, forgets its back-off by then.
const (
	shortestProof = 10 * time.Second
	longestProof  = 10 * time.Minute
)

// crashLoop tells whether a container ends again and again, from how it ended last: that stays the same while the kubelet
// goes through back-off, start and crash, so the status is written once and not with every turn. A container that passes
// its readiness check is given the benefit of the doubt after its first crash.
func crashLoop(c corev1.ContainerStatus, now time.Time) (*trouble, time.Duration) {
	last := lastEnd(c)
	if last == nil {
		return nil, 0
	}
	t := &trouble{v1beta1.ReasonCrashLoopBackOff, crashMessage(c.Name, last), ""}
	if last.Reason == "StartError" || last.Reason == "ContainerCannotRun" {
		// The kubelet alternates between RunContainerError and its back-off; both have one reason here.
		t = startTrouble(c.Name, last.Message)
	}
	running := c.State.Running
	if running == nil {
		return t, 0
	}
	lastRun := last.FinishedAt.Sub(last.StartedAt.Time)
	if lastRun >= longestProof || (c.Ready && c.RestartCount < 2) {
		return nil, 0
	}
	proof := longestProof
	if c.Ready {
		proof = min(max(2*lastRun, shortestProof), longestProof)
	}
	if left := proof - now.Sub(running.StartedAt.Time); left > 0 {
		return t, left
	}
	return nil, 0
}

// lastEnd is how a container that may be in a crash loop ended last; nil when it never did.
func lastEnd(c corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	last := c.LastTerminationState.Terminated
	if t := c.State.Terminated; t != nil && (t.ExitCode != 0 || c.RestartCount > 0) {
		last = t
	}
	backingOff := c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff"
	if last == nil || (c.RestartCount == 0 && last.ExitCode == 0 && !backingOff) {
		return nil
	}
	return last
}

func crashMessage(container string, t *corev1.ContainerStateTerminated) string {
	if t.Reason == "" || t.Reason == "Error" {
		return fmt.Sprintf("container %q ends with exit code %d", container, t.ExitCode)
	}
	return fmt.Sprintf("container %q ends with exit code %d (%s)", container, t.ExitCode, t.Reason)
}

var podPrefix = regexp.MustCompile(`^[Pp]ods? "[^"]*" is (forbidden|invalid): `)

// replicaFailure reads why the ReplicaSet cannot create pods at all.
func replicaFailure(d *appsv1.Deployment) *trouble {
	for _, c := range d.Status.Conditions {
		if c.Type != appsv1.DeploymentReplicaFailure || c.Status != corev1.ConditionTrue {
			continue
		}
		detail := podPrefix.ReplaceAllString(c.Message, "")
		switch {
		case strings.Contains(c.Message, "exceeded quota"):
			return &trouble{v1beta1.ReasonQuotaExceeded, "a ResourceQuota leaves no room for a pod", detail}
		case strings.Contains(c.Message, "violates PodSecurity"):
			return &trouble{v1beta1.ReasonPodSecurity, "Pod Security admission refuses the pods", detail}
		default:
			return &trouble{v1beta1.ReasonFailedCreate, "the pods cannot be created", detail}
		}
	}
	return nil
}
