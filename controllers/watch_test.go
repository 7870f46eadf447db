package controllers

import (
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestF06SpecOrMetadata(t *testing.T) {
	cases := []struct {
		name   string
		change func(*v1beta1.MyApp)
		want   bool
	}{
		{"spec", func(a *v1beta1.MyApp) { a.Generation++ }, true},
		{"F06 paused", paused, true},
		{"F06 label", func(a *v1beta1.MyApp) { a.Labels = map[string]string{"a": "b"} }, true},
		{"F06 finalizer removed", func(a *v1beta1.MyApp) { a.Finalizers = nil }, true},
		{"F06 being deleted", deleting, true},
		{"status only", func(a *v1beta1.MyApp) { a.Status.Replicas++ }, false},
		{"resync", func(a *v1beta1.MyApp) { a.ResourceVersion = "10" }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := myApp(t, "", func(a *v1beta1.MyApp) { a.Finalizers = []string{"example.com/x"} })
			after := before.DeepCopy()
			after.ResourceVersion = "11"
			c.change(after)
			if got := specOrMetadata.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.want {
				t.Errorf("the change is acted on: %v, want %v", got, c.want)
			}
		})
	}
}

func TestChangedBySomebody(t *testing.T) {
	app := myApp(t, "")
	cases := []struct {
		name   string
		change func(*appsv1.Deployment)
		want   bool
	}{
		{"status only", func(d *appsv1.Deployment) { d.Status.Replicas++ }, false},
		{"spec", func(d *appsv1.Deployment) { d.Generation++ }, true},
		{"label stripped", func(d *appsv1.Deployment) { d.Labels = nil }, true},
		{"annotation", func(d *appsv1.Deployment) { d.Annotations = map[string]string{"a": "b"} }, true},
		{"owner stripped", func(d *appsv1.Deployment) { d.OwnerReferences = nil }, true},
		{"a kind without generation", func(d *appsv1.Deployment) { d.Generation = 0 }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := deployment(app, counts{}, finished)
			after := before.DeepCopy()
			c.change(after)
			if got := changedBySomebody(before, after); got != c.want {
				t.Errorf("drift is repaired soon: %v, want %v", got, c.want)
			}
		})
	}
}

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1beta1.AddToScheme, clientgoscheme.AddToScheme, certmanagerv1.AddToScheme, monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// Early changes are told soon and late ones rarely.
func TestWindowGrows(t *testing.T) {
	cases := []struct {
		name    string
		status  metav1.ConditionStatus
		since   time.Duration
		deleted bool
		want    time.Duration
	}{
		{"no condition yet", "", 0, false, time.Second},
		{"ready for long", metav1.ConditionTrue, time.Hour, false, time.Second},
		{"unready at once", metav1.ConditionFalse, 0, false, time.Second},
		{"unready for 7 s", metav1.ConditionFalse, 7 * time.Second, false, 7 * time.Second},
		{"unready for 30 s", metav1.ConditionFalse, 30 * time.Second, false, 30 * time.Second},
		{"unready for days", metav1.ConditionFalse, 72 * time.Hour, false, 30 * time.Second},
		{"a clock that runs behind", metav1.ConditionFalse, -time.Hour, false, time.Second},
		{"being deleted", metav1.ConditionFalse, time.Hour, true, time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := myApp(t, "")
			if c.status != "" {
				app.Status.Conditions = []metav1.Condition{{Type: v1beta1.ConditionReady, Status: c.status, LastTransitionTime: ago(c.since)}}
			}
			if c.deleted {
				deleting(app)
				app.Finalizers = []string{v1beta1.Finalizer}
			}
			r := &Reconciler{
				Client: fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(app).WithStatusSubresource(app).Build(),
				Clock:  func() time.Time { return now },
			}
			h := &childHandler{r: r, key: client.ObjectKeyFromObject}
			if got := h.window(t.Context(), deployment(app, counts{}, updating)); got != c.want {
				t.Errorf("changes are gathered for %s, want %s", got, c.want)
			}
		})
	}
	h := &childHandler{r: &Reconciler{Client: fake.NewClientBuilder().WithScheme(testScheme(t)).Build()}, key: client.ObjectKeyFromObject}
	if got := h.window(t.Context(), deployment(myApp(t, ""), counts{}, updating)); got != time.Second {
		t.Errorf("a child without a MyApp waits %s", got)
	}
}
