package v1beta1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// These names are in the clusters of users: a selector is immutable, scripts and alerts match on the rest.
func TestNamesNeverChange(t *testing.T) {
	got := map[string]string{
		"operator": OperatorName, "name": LabelName, "managed by": LabelManagedBy, "instance": LabelInstance, "app": LabelApp,
		"paused": AnnotationPaused, "adopt": AnnotationAdopt, "owner": AnnotationOwnerUID, "finalizer": Finalizer,
		"group": GroupVersion.String(), "kind": Kind.String(),
	}
	want := map[string]string{
		"operator": "myapp-operator", "name": "app.kubernetes.io/name", "managed by": "app.kubernetes.io/managed-by",
		"instance": "app.kubernetes.io/instance", "app": "app",
		"paused": "app.ydzs.io/paused", "adopt": "app.ydzs.io/adopt", "owner": "app.ydzs.io/owner-uid",
		"finalizer": "app.ydzs.io/teardown", "group": "app.ydzs.io/v1beta1", "kind": "app.ydzs.io/v1beta1, Kind=MyApp",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a name that users and controllers rely on changed (-want +got):\n%s", diff)
	}
}

func TestS07SelectorLabels(t *testing.T) {
	want := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/managed-by": "myapp-operator"}
	got := SelectorLabels("shop")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("every Deployment would be refused, its selector is immutable (-want +got):\n%s", diff)
	}
	got["x"] = "y"
	if diff := cmp.Diff(want, SelectorLabels("shop")); diff != "" {
		t.Errorf("two MyApps share one map (-want +got):\n%s", diff)
	}
}

func TestReservedLabels(t *testing.T) {
	for key, want := range map[string]bool{
		LabelName: true, LabelManagedBy: true, LabelInstance: true, LabelApp: false, "app.kubernetes.io/version": false, "": false,
	} {
		if got := IsReservedLabel(key); got != want {
			t.Errorf("label %q reserved: %v, want %v", key, got, want)
		}
	}
	for key := range SelectorLabels("shop") {
		if !IsReservedLabel(key) {
			t.Errorf("podLabels could break the selector by %s", key)
		}
	}
}

func TestIsPaused(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false, "True": false} {
		app := &MyApp{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationPaused: value}}}
		if app.IsPaused() != want {
			t.Errorf("%s: %q pauses: %v, want %v", AnnotationPaused, value, app.IsPaused(), want)
		}
	}
	if (&MyApp{}).IsPaused() {
		t.Error("a MyApp without annotations is paused")
	}
}

func TestSchemeKnowsMyApp(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, object := range []runtime.Object{&MyApp{}, &MyAppList{}} {
		gvks, _, err := scheme.ObjectKinds(object)
		if err != nil || len(gvks) != 1 || gvks[0].GroupVersion() != GroupVersion {
			t.Errorf("%T: %v %v", object, gvks, err)
		}
	}
}
