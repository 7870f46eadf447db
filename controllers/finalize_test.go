package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestNextDrainStep(t *testing.T) {
	// Grace period 5 + 30 s, so that each step may take 95 s.
	const share = 95 * time.Second
	app := myApp(t, "{size: 2, ports: [{port: 80}], deletionPolicy: Drain}", func(app *v1beta1.MyApp) {
		app.DeletionTimestamp = &metav1.Time{Time: now}
	})
	svc := service(t, app, "{}")
	up, stopped := deployment(app, counts{2, 2, 2, 2, 2}, finished), deployment(app, counts{}, finished)
	foreignSvc := svc.DeepCopy()
	foreignSvc.OwnerReferences[0].UID = "somebody-else"
	ending := healthyPod("a")
	ending.DeletionTimestamp = ptr(ago(0))
	pods, none := []corev1.Pod{ending}, []corev1.Pod(nil)

	cases := []struct {
		name     string
		children []client.Object
		pods     []corev1.Pod
		after    time.Duration
		want     string
		timedOut bool
		deadline time.Duration
	}{
		{"the Service first", []client.Object{svc, up}, pods, 0, "DeletingService", false, share},
		{"then the pods", []client.Object{up}, pods, 0, "StoppingPods", false, 2 * share},
		{"scaled to 0, pods still end", []client.Object{stopped}, pods, 0, "StoppingPods", false, 2 * share},
		{"no pods yet, not scaled to 0", []client.Object{up}, none, 0, "StoppingPods", false, 2 * share},
		{"then the Deployment", []client.Object{stopped}, none, 0, "DeletingDeployment", false, 3 * share},
		{"done", nil, none, 0, "", false, 0},
		{"somebody's Service is none of ours", []client.Object{foreignSvc, stopped}, none, 0, "DeletingDeployment", false, 3 * share},
		{"just before the deadline", []client.Object{svc, up}, pods, share - 1, "DeletingService", false, share},
		{"the Service hangs", []client.Object{svc, up}, pods, share, "StoppingPods", true, 2 * share},
		{"Service and pods hang", []client.Object{svc, up}, pods, 2 * share, "DeletingDeployment", true, 3 * share},
		{"everything hangs", []client.Object{svc, up}, pods, 3 * share, "", false, 0},
		{"late, but nothing was skipped", []client.Object{up}, pods, share + 1, "StoppingPods", false, 2 * share},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			step := nextDrainStep(app, seen(c.pods, c.children...), now.Add(c.after))
			if step == nil {
				step = &drainStep{deadline: now}
			}
			if step.reason != c.want || step.timedOut != c.timedOut {
				t.Errorf("the deletion stands at %q, timed out %v; want %q, %v", step.reason, step.timedOut, c.want, c.timedOut)
			}
			if got := step.deadline.Sub(now); got != c.deadline {
				t.Errorf("the step may take until %s after the delete, want %s", got, c.deadline)
			}
		})
	}
}

// What starts pods goes before what brings traffic, and that before the pods; a MyApp that has neither waits no longer.
func TestDrainOrder(t *testing.T) {
	app := myApp(t, "{size: 2, ports: [{port: 80}], ingress: {host: a.example.com}, autoscaling: {maxReplicas: 3}, deletionPolicy: Drain}", deleting)
	left := []client.Object{
		autoscaler(app, "", 0), ingress(app, "nginx", ""), service(t, app, "{}"), deployment(app, counts{2, 2, 2, 2, 2}, finished),
	}
	var got []string
	for len(left) > 0 {
		step := nextDrainStep(app, seen(nil, left...), now)
		got = append(got, step.reason)
		if step.act == drainStop {
			left = []client.Object{deployment(app, counts{}, finished)}
			continue
		}
		left = left[1:]
	}
	want := []string{"DeletingAutoscaler", "DeletingIngress", "DeletingService", "StoppingPods", "DeletingDeployment"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order of the deletion (-want +got):\n%s", diff)
	}
}

func TestF05OrphanedChildrenAreNotDrained(t *testing.T) {
	app := myApp(t, "deletionPolicy: Drain")
	child := deployment(app, counts{2, 2, 2, 2, 2}, finished)
	child.OwnerReferences = nil
	child.ManagedFields = []metav1.ManagedFieldsEntry{applied(v1beta1.OperatorName, "")}
	p := &pass{app: app, memory: &memory{}, observed: seen(nil, child)}
	if p.drains() {
		t.Error("children that the garbage collector has set free are deleted")
	}
	app.Finalizers = []string{metav1.FinalizerOrphanDependents}
	p = &pass{app: app, memory: &memory{}}
	p.drains()
	app.Finalizers = nil
	if p.drains() {
		t.Error("the second look forgets who had the order")
	}
}

func TestDrains(t *testing.T) {
	cases := []struct {
		name, policy string
		finalizers   []string
		want         bool
	}{
		{"Drain", "Drain", []string{v1beta1.Finalizer}, true},
		{"Delete", "Delete", nil, false},
		{"Orphan", "Orphan", nil, false},
		{"F05 foreground", "Drain", []string{v1beta1.Finalizer, "foregroundDeletion"}, false},
		{"F05 orphan", "Drain", []string{v1beta1.Finalizer, "orphan"}, false},
		{"somebody's finalizer", "Drain", []string{v1beta1.Finalizer, "example.com/x"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := myApp(t, "deletionPolicy: "+c.policy)
			app.Finalizers = c.finalizers
			if got := (&pass{app: app, memory: &memory{}}).drains(); got != c.want {
				t.Errorf("the deletion is held: %v, want %v", got, c.want)
			}
		})
	}
}

func TestBoundedProblemsEndInTime(t *testing.T) {
	got := bounded([]problem{{permanent: true, reason: "a"}, {after: time.Hour, reason: "b"}, {reason: "c"}}, 5*time.Second)
	want := []problem{{after: 5 * time.Second, reason: "a"}, {after: 5 * time.Second, reason: "b"}, {after: 5 * time.Second, reason: "c"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(problem{})); diff != "" {
		t.Errorf("a failing step outlasts its deadline (-want +got):\n%s", diff)
	}
}
