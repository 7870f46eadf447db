package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// row is one row of the truth table: a state, and the four conditions that it gives. docs/myapp.md has the same rows in
// the same order.
type row struct {
	state string
	spec  string
	app   []func(*v1beta1.MyApp)
	// counts and reason are those of the live Deployment; no reason means that there is none.
	counts counts
	reason string
	more   func(*appsv1.Deployment)

	pods     []corev1.Pod
	problems []problem
	drain    *drainStep

	ready, available, progressing, degraded string
}

// Reasons of a Deployment's condition Progressing.
const (
	created  = "NewReplicaSetCreated"
	updating = "ReplicaSetUpdated"
	finished = "NewReplicaSetAvailable"
	late     = "ProgressDeadlineExceeded"
)

// Values that many rows share.
const (
	few    = "False MinimumUnavailable"
	enough = "True MinimumAvailable"
	moving = "True Progressing"
	fine   = "False AsExpected"
)

func shown(reason string) []problem { return []problem{{reason: reason, message: "as it was said"}} }

func step(reason string, timedOut bool) *drainStep {
	return &drainStep{reason: reason, message: "as it was said", timedOut: timedOut}
}

// was gives the MyApp the status of another row.
func was(state string) func(*v1beta1.MyApp) {
	return func(app *v1beta1.MyApp) {
		for _, r := range truthTable() {
			if r.state == state {
				app.Status, _ = nextStatus(withoutPause(app), r.finding(app))
				return
			}
		}
		panic("no row " + state)
	}
}

func withoutPause(app *v1beta1.MyApp) *v1beta1.MyApp {
	app = app.DeepCopy()
	app.Annotations, app.DeletionTimestamp = nil, nil
	return app
}

// finding is what the row's state looks like to the reconciler.
func (r row) finding(app *v1beta1.MyApp) finding {
	f := finding{problems: r.problems, drain: r.drain, now: now, observed: seen(r.pods)}
	if r.reason == "" {
		return f
	}
	d := deployment(app, r.counts, r.reason)
	if r.more != nil {
		r.more(d)
	}
	f.observed = seen(r.pods, d)
	return f
}

func truthTable() []row {
	three := "size: 3"
	return []row{
		// New, nothing up yet.
		{state: "new, no child yet", spec: three,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},
		{state: "new, Deployment not observed yet", spec: three, counts: counts{want: 3}, reason: created, more: unobserved,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},
		{state: "new, pods starting", spec: three, counts: counts{3, 3, 3, 0, 0}, reason: updating,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},
		{state: "new, one of three up", spec: three, counts: counts{3, 3, 3, 1, 1}, reason: updating,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},
		{state: "new, as many up as the budget keeps", spec: three, counts: counts{3, 3, 3, 2, 2}, reason: updating,
			ready: "False Progressing", available: enough, progressing: moving, degraded: fine},

		// Rolling out, old pods serve.
		{state: "rolling out, old pods serve", spec: three, counts: counts{3, 4, 1, 3, 3}, reason: updating,
			ready: "False Progressing", available: enough, progressing: moving, degraded: fine},
		{state: "rolling out, new spec not observed yet", spec: three, counts: counts{3, 3, 3, 3, 3}, reason: finished, more: unobserved,
			ready: "False Progressing", available: enough, progressing: moving, degraded: fine},
		{state: "rolling out, one old pod left", spec: three, counts: counts{3, 4, 3, 4, 4}, reason: updating,
			ready: "False Progressing", available: enough, progressing: moving, degraded: fine},

		// Rolled out.
		{state: "rolled out", spec: three, counts: counts{3, 3, 3, 3, 3}, reason: finished,
			ready: "True RolledOut", available: enough, progressing: "False RolledOut", degraded: fine},

		// Scaling only: template unchanged, enough pods.
		{state: "scaling up, too few for the budget", spec: "size: 5", counts: counts{5, 5, 5, 3, 3}, reason: finished,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},
		{state: "Z03 an autoscaler added pods", spec: "{size: 1, autoscaling: {minReplicas: 2, maxReplicas: 9}}", counts: counts{8, 8, 8, 2, 2}, reason: finished,
			ready: "True Scaling", available: enough, progressing: "True Scaling", degraded: fine},
		{state: "Z03 an autoscaler's pods are all up", spec: "{size: 1, autoscaling: {minReplicas: 2, maxReplicas: 9}}", counts: counts{8, 8, 8, 8, 8}, reason: finished,
			ready: "True RolledOut", available: enough, progressing: "False RolledOut", degraded: fine},
		{state: "scaling up", spec: "size: 5", counts: counts{5, 5, 5, 4, 4}, reason: finished,
			ready: "True Scaling", available: enough, progressing: "True Scaling", degraded: fine},
		{state: "one of three pods unready", spec: three, counts: counts{3, 3, 3, 2, 2}, reason: finished,
			ready: "True Scaling", available: enough, progressing: "True Scaling", degraded: fine},
		{state: "scaling up from nothing", spec: "size: 2", counts: counts{2, 2, 2, 0, 0}, reason: finished,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},
		{state: "size changed, Deployment not yet", spec: "size: 5", counts: counts{3, 3, 3, 3, 3}, reason: finished,
			ready: "False Progressing", available: few, progressing: moving, degraded: fine},

		// Scaled to 0.
		{state: "Z01 scaled to 0", spec: "size: 0", counts: counts{}, reason: finished,
			ready: "True ScaledToZero", available: "True ScaledToZero", progressing: "False ScaledToZero", degraded: fine},
		{state: "Z01 scaling to 0, pods left", spec: "size: 0", counts: counts{0, 2, 2, 2, 2}, reason: finished,
			ready: "True Scaling", available: "True ScaledToZero", progressing: "True Scaling", degraded: fine},

		// Pods cannot start.
		{state: "pods cannot start", spec: three, counts: counts{3, 3, 3, 0, 0}, reason: updating, pods: []corev1.Pod{unpullablePod("a")},
			ready: "False ImagePullBackOff", available: few, progressing: moving, degraded: "True ImagePullBackOff"},
		{state: "new pods cannot start, old ones serve", spec: three, counts: counts{3, 4, 1, 3, 3}, reason: updating, pods: []corev1.Pod{unpullablePod("a"), healthyPod("b")},
			ready: "False ImagePullBackOff", available: enough, progressing: moving, degraded: "True ImagePullBackOff"},
		{state: "pods cannot start, past the deadline", spec: three, counts: counts{3, 3, 3, 0, 0}, reason: late, pods: []corev1.Pod{unpullablePod("a")},
			ready: "False ImagePullBackOff", available: few, progressing: "False ProgressDeadlineExceeded", degraded: "True ImagePullBackOff"},
		{state: "Q04 pods are refused by a quota", spec: three, counts: counts{3, 0, 0, 0, 0}, reason: updating, more: refusedPods(`pods "shop-1" is forbidden: exceeded quota: q`),
			ready: "False QuotaExceeded", available: few, progressing: moving, degraded: "True QuotaExceeded"},

		// Progress deadline exceeded.
		{state: "progress deadline exceeded", spec: three, counts: counts{3, 4, 1, 3, 3}, reason: late,
			ready: "False ProgressDeadlineExceeded", available: enough, progressing: "False ProgressDeadlineExceeded", degraded: "True ProgressDeadlineExceeded"},
		{state: "progress deadline exceeded, nothing up", spec: three, counts: counts{3, 3, 3, 0, 0}, reason: late,
			ready: "False ProgressDeadlineExceeded", available: few, progressing: "False ProgressDeadlineExceeded", degraded: "True ProgressDeadlineExceeded"},

		// A foreign object in the way, forbidden, quota.
		{state: "C03 foreign Deployment", spec: three, problems: shown("ForeignObject"),
			ready: "False ForeignObject", available: few, progressing: moving, degraded: "True ForeignObject"},
		{state: "C03 foreign Service, Deployment kept", spec: three, counts: counts{3, 3, 3, 3, 3}, reason: finished, problems: shown("ForeignObject"),
			ready: "False ForeignObject", available: enough, progressing: "False RolledOut", degraded: "True ForeignObject"},
		{state: "forbidden", spec: three, counts: counts{3, 3, 3, 2, 2}, reason: updating, problems: shown("Forbidden"),
			ready: "False Forbidden", available: enough, progressing: moving, degraded: "True Forbidden"},
		{state: "a problem of a child before one of the pods", spec: three, counts: counts{3, 3, 3, 0, 0}, reason: late, problems: shown("Forbidden"), pods: []corev1.Pod{unpullablePod("a")},
			ready: "False Forbidden", available: few, progressing: "False ProgressDeadlineExceeded", degraded: "True Forbidden"},
		{state: "a problem that mends itself is not shown", spec: three, counts: counts{3, 3, 3, 3, 3}, reason: finished, problems: shown(""),
			ready: "True RolledOut", available: enough, progressing: "False RolledOut", degraded: fine},

		// Invalid spec: the webhook was bypassed.
		{state: "T06 invalid spec", spec: three, problems: shown("InvalidSpec"),
			ready: "False InvalidSpec", available: few, progressing: "False InvalidSpec", degraded: "True InvalidSpec"},
		{state: "T06 invalid spec, old pods serve", spec: three, counts: counts{3, 3, 3, 3, 3}, reason: finished, problems: shown("InvalidSpec"),
			ready: "False InvalidSpec", available: enough, progressing: "False InvalidSpec", degraded: "True InvalidSpec"},

		// Paused.
		{state: "paused from the first", spec: three, app: []func(*v1beta1.MyApp){paused},
			ready: "False Progressing", available: few, progressing: "False Paused", degraded: fine},
		{state: "paused after rolled out, pods lost", spec: three, app: []func(*v1beta1.MyApp){paused, was("rolled out")}, counts: counts{3, 3, 3, 0, 0}, reason: updating,
			ready: "True RolledOut", available: few, progressing: "False Paused", degraded: fine},
		{state: "paused while degraded, pods back", spec: three, app: []func(*v1beta1.MyApp){paused, was("pods cannot start")}, counts: counts{3, 3, 3, 3, 3}, reason: finished,
			ready: "False ImagePullBackOff", available: enough, progressing: "False Paused", degraded: "True ImagePullBackOff"},
		{state: "paused with a problem", spec: three, app: []func(*v1beta1.MyApp){paused, was("rolled out")}, counts: counts{3, 3, 3, 3, 3}, reason: finished, problems: shown("InvalidSpec"),
			ready: "True RolledOut", available: enough, progressing: "False Paused", degraded: fine},

		// Deleting under Drain.
		{state: "draining", spec: three, app: []func(*v1beta1.MyApp){deleting}, counts: counts{3, 3, 3, 3, 3}, reason: finished, drain: step("DeletingService", false),
			ready: "False Draining", available: enough, progressing: "True DeletingService", degraded: fine},
		{state: "draining, pods end", spec: three, app: []func(*v1beta1.MyApp){deleting}, counts: counts{0, 1, 1, 0, 0}, reason: finished, drain: step("StoppingPods", false),
			ready: "False Draining", available: few, progressing: "True StoppingPods", degraded: fine},
		{state: "draining, a step was skipped", spec: three, app: []func(*v1beta1.MyApp){deleting}, counts: counts{3, 3, 3, 3, 3}, reason: finished, drain: step("StoppingPods", true),
			ready: "False Draining", available: enough, progressing: "True StoppingPods", degraded: "True DrainTimedOut"},
		{state: "draining and forbidden", spec: three, app: []func(*v1beta1.MyApp){deleting}, counts: counts{3, 3, 3, 3, 3}, reason: finished, problems: shown("Forbidden"), drain: step("DeletingService", false),
			ready: "False Draining", available: enough, progressing: "True DeletingService", degraded: "True Forbidden"},
		{state: "draining while paused", spec: three, app: []func(*v1beta1.MyApp){paused, was("rolled out"), deleting}, counts: counts{3, 3, 3, 3, 3}, reason: finished, drain: step("DeletingService", false),
			ready: "False Draining", available: enough, progressing: "True DeletingService", degraded: fine},
	}
}

func TestTruthTable(t *testing.T) {
	for _, r := range truthTable() {
		t.Run(r.state, func(t *testing.T) {
			app := myApp(t, r.spec, r.app...)
			next, _ := nextStatus(app, r.finding(app))
			want := []string{"Ready=" + r.ready, "Available=" + r.available, "Progressing=" + r.progressing, "Degraded=" + r.degraded}
			if diff := cmp.Diff(want, summary(next)); diff != "" {
				t.Errorf("`kubectl describe myapp` shows (-want +got):\n%s", diff)
			}
			for _, c := range next.Conditions {
				if c.ObservedGeneration != app.Generation || c.Message == "" || c.Reason == "" || c.LastTransitionTime.IsZero() {
					t.Errorf("condition is not complete: %+v", c)
				}
			}
			if len(next.Conditions) != 4 {
				t.Errorf("%d conditions, want 4", len(next.Conditions))
			}
		})
	}
}

// The report of a lost or regained readiness does not wait; that of a counter does.
func TestServesAlike(t *testing.T) {
	app := myApp(t, "size: 3")
	rolledOut := deployment(app, counts{3, 3, 3, 3, 3}, finished)
	cases := []struct {
		name string
		to   *appsv1.Deployment
		want bool
	}{
		{"the same", rolledOut, true},
		{"one pod unready, the others serve", deployment(app, counts{3, 3, 3, 2, 2}, finished), true},
		{"no pod serves", deployment(app, counts{3, 3, 3, 0, 0}, finished), false},
		{"a rollout began", deployment(app, counts{3, 4, 1, 3, 3}, updating), false},
		{"not observed", deployment(app, counts{3, 3, 3, 3, 3}, finished, unobserved), false},
		{"pods are refused", deployment(app, counts{3, 3, 3, 3, 3}, finished, refusedPods("exceeded quota")), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := servesAlike(desired.Input{App: app}, rolledOut, c.to); got != c.want {
				t.Errorf("the report waits: %v, want %v", got, c.want)
			}
			if got := servesAlike(desired.Input{App: app}, c.to, rolledOut); got != c.want {
				t.Errorf("the report of the way back waits: %v, want %v", got, c.want)
			}
		})
	}
}
