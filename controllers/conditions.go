package controllers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// This file computes the conditions; docs/myapp.md holds the table of what they are in every state, and the tests follow
// it row by row. Messages never hold a time or a counter that ticks.

// stage is how far the Deployment is from what the spec asks for.
type stage int

const (
	// rolling: pods of another template are left, or too few are up yet.
	rolling stage = iota
	// scaling: the template is rolled out and enough pods serve; only their number is changing.
	scaling
	// rolledOut: what `kubectl rollout status` calls rolled out.
	rolledOut
	// overdue: no progress within the Deployment's deadline.
	overdue
)

// stageOf reads the Deployment. available is given apart, since a pod in a crash loop does not count as such.
func stageOf(in desired.Input, d *appsv1.Deployment, available int32) stage {
	if !upToDate(d) {
		return rolling
	}
	s := d.Status
	progressing := deploymentReason(d, appsv1.DeploymentProgressing)
	switch {
	case progressing == "ProgressDeadlineExceeded":
		return overdue
	case *d.Spec.Replicas != in.Replicas(d):
		return rolling
	case complete(d, available):
		return rolledOut
	case s.UpdatedReplicas == s.Replicas && progressing == "NewReplicaSetAvailable" && available >= in.MinAvailable(*d.Spec.Replicas):
		return scaling
	default:
		return rolling
	}
}

// upToDate tells whether the Deployment's status speaks of its current spec.
func upToDate(d *appsv1.Deployment) bool {
	return d != nil && d.Spec.Replicas != nil && d.Generation <= d.Status.ObservedGeneration
}

// complete is what `kubectl rollout status` waits for, and where no pod is asked for, that none is left.
func complete(d *appsv1.Deployment, available int32) bool {
	s, want := d.Status, *d.Spec.Replicas
	if want == 0 {
		return s.Replicas == 0
	}
	return s.UpdatedReplicas == s.Replicas && s.UpdatedReplicas >= want && available >= s.UpdatedReplicas
}

func deploymentReason(d *appsv1.Deployment, t appsv1.DeploymentConditionType) string {
	for _, c := range d.Status.Conditions {
		if c.Type == t {
			return c.Reason
		}
	}
	return ""
}

// verdict is one condition without its bookkeeping.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
	// generation is that of the spec the condition speaks of, when it is not the current one.
	generation int64
}

func yes(reason, message string) verdict {
	return verdict{status: metav1.ConditionTrue, reason: reason, message: message}
}

func no(reason, message string) verdict {
	return verdict{status: metav1.ConditionFalse, reason: reason, message: message}
}

const (
	messageRolling = "a rollout is under way"
	messageNothing = "nothing is wrong"
	messageOverdue = "the rollout made no progress within its deadline; look at the pods and their events"
)

// setConditions writes the four conditions. next already has its counters.
func setConditions(next *v1beta1.MyAppStatus, app *v1beta1.MyApp, f finding, pods podReport, scaler *trouble) {
	in := f.input
	in.App = app
	d := mine[*appsv1.Deployment](f.observed, app)
	at := stageOf(in, d, next.AvailableReplicas)
	if f.unsettled {
		at = rolling
	}
	ready, progressing := healthy(in, d, at)
	if pending, unready := trafficPending(f.observed, app); pending != nil && ready.status == metav1.ConditionTrue {
		progressing = yes(pending.reason, pending.head)
		if unready {
			ready = no(pending.reason, pending.head)
		}
	}
	degraded := no(v1beta1.ReasonAsExpected, messageNothing)
	if wrong := wrong(app, f, pods, d, at); wrong != nil {
		ready, degraded = no(wrong.reason, wrong.message), yes(wrong.reason, wrong.message)
		if wrong.reason == v1beta1.ReasonInvalidSpec {
			progressing = no(wrong.reason, wrong.message)
		}
	} else if scaler != nil {
		// The pods serve as before; only their number does not follow the load.
		degraded = *worded(app, *scaler)
		degraded.status = metav1.ConditionTrue
	}
	switch {
	case f.drain != nil:
		ready, progressing, degraded = draining(f.drain, degraded)
	case app.IsPaused():
		// They keep the generation they were told of, so that nobody takes them for news of a spec that is not applied.
		ready = unchanged(app.Status, v1beta1.ConditionReady, ready)
		degraded = unchanged(app.Status, v1beta1.ConditionDegraded, degraded)
		progressing = no(v1beta1.ReasonPaused, "the annotation "+v1beta1.AnnotationPaused+" stops all changes to the children")
	}
	w := writer{next, app, f.now}
	w.set(v1beta1.ConditionReady, ready)
	w.set(v1beta1.ConditionAvailable, available(in, d, next.AvailableReplicas))
	w.set(v1beta1.ConditionProgressing, progressing)
	w.set(v1beta1.ConditionDegraded, degraded)
}

// healthy is Ready and Progressing as long as nothing is wrong.
func healthy(in desired.Input, d *appsv1.Deployment, at stage) (ready, progressing verdict) {
	switch {
	case at == rolledOut && in.Replicas(d) == 0:
		v := v1beta1.ReasonScaledToZero
		return yes(v, "no pod is asked for and none is left"), no(v, "no pod is asked for and none is left")
	case at == rolledOut:
		return yes(v1beta1.ReasonRolledOut, "every pod runs the current spec and is available"),
			no(v1beta1.ReasonRolledOut, "every pod runs the current spec and is available")
	case at == scaling:
		return yes(v1beta1.ReasonScaling, "enough pods serve; the others are on their way"),
			yes(v1beta1.ReasonScaling, "the number of available pods is on its way to spec.size")
	case at == overdue:
		return no(v1beta1.ReasonProgressDeadlineExceeded, messageOverdue), no(v1beta1.ReasonProgressDeadlineExceeded, messageOverdue)
	default:
		return no(v1beta1.ReasonProgressing, messageRolling), yes(v1beta1.ReasonProgressing, messageRolling)
	}
}

func available(in desired.Input, d *appsv1.Deployment, pods int32) verdict {
	switch {
	case in.Replicas(d) == 0:
		return yes(v1beta1.ReasonScaledToZero, "no pod is asked for")
	case pods >= in.MinAvailable(in.Replicas(d)):
		return yes(v1beta1.ReasonMinimumAvailable, "enough pods are available to serve")
	default:
		return no(v1beta1.ReasonMinimumUnavailable, "too few pods are available to serve")
	}
}

// wrong finds what goes into Degraded: what keeps a child from being as intended comes before what keeps the pods from
// running, and that before a deadline, which says the least.
func wrong(app *v1beta1.MyApp, f finding, pods podReport, d *appsv1.Deployment, at stage) *verdict {
	shown := slices.DeleteFunc(slices.Clone(f.problems), func(p problem) bool { return p.reason == "" })
	if len(shown) > 0 {
		return worded(app, shown[0].trouble())
	}
	t := pods.trouble
	if t == nil && d != nil {
		t = replicaFailure(d)
	}
	if t != nil {
		return worded(app, *t)
	}
	if at == overdue {
		return &verdict{reason: v1beta1.ReasonProgressDeadlineExceeded, message: messageOverdue}
	}
	if t = trafficTrouble(f.observed, app); t != nil {
		return worded(app, *t)
	}
	return nil
}

// worded puts a trouble into words, as it was worded last if it is still the same.
func worded(app *v1beta1.MyApp, t trouble) *verdict {
	last := conditionOf(app.Status, v1beta1.ConditionDegraded)
	if last.Reason != t.reason {
		last.Message = ""
	}
	return &verdict{reason: t.reason, message: truncate(t.message(last.Message))}
}

// draining are the conditions of a MyApp that is deleted in order.
func draining(step *drainStep, degraded verdict) (ready, progressing, nextDegraded verdict) {
	ready = no(v1beta1.ReasonDraining, "the MyApp is being deleted")
	progressing = yes(step.reason, step.message)
	if step.timedOut {
		degraded = yes(v1beta1.ReasonDrainTimedOut, "a step of the ordered deletion did not end in time and was skipped")
	}
	return ready, progressing, degraded
}

// unchanged keeps a condition as it was, if it was ever set.
func unchanged(status v1beta1.MyAppStatus, conditionType string, otherwise verdict) verdict {
	if c := meta.FindStatusCondition(status.Conditions, conditionType); c != nil {
		return verdict{c.Status, c.Reason, c.Message, c.ObservedGeneration}
	}
	return otherwise
}

// conditionOf returns the condition of this type, or an empty one.
func conditionOf(status v1beta1.MyAppStatus, conditionType string) metav1.Condition {
	if c := meta.FindStatusCondition(status.Conditions, conditionType); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// writer sets conditions; lastTransitionTime moves only when the status flips.
type writer struct {
	next *v1beta1.MyAppStatus
	app  *v1beta1.MyApp
	now  time.Time
}

func (w writer) set(conditionType string, v verdict) {
	meta.SetStatusCondition(&w.next.Conditions, metav1.Condition{
		Type: conditionType, Status: v.status, Reason: v.reason, Message: v.message,
		ObservedGeneration: cmp.Or(v.generation, w.app.Generation), LastTransitionTime: metav1.NewTime(w.now),
	})
}

// maxMessage is the longest message of a condition, in bytes; the API allows 32768, which nobody reads.
const maxMessage = 1024

func truncate(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	// Half a character would come back from the API server as another one, and the status would never be as computed.
	return strings.ToValidUTF8(message[:maxMessage-1], "") + "…"
}

// servesAlike tells whether two states of a Deployment mean the same for Ready. When they do not, the report does not wait.
func servesAlike(in desired.Input, a, b *appsv1.Deployment) bool {
	ready := func(d *appsv1.Deployment) bool {
		at := stageOf(in, d, d.Status.AvailableReplicas)
		return at == rolledOut || at == scaling
	}
	return ready(a) == ready(b) && (replicaFailure(a) == nil) == (replicaFailure(b) == nil)
}
