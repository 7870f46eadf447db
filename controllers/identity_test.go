package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func applied(manager, subresource string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: subresource, APIVersion: "apps/v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
	}
}

func updated(manager, subresource string) metav1.ManagedFieldsEntry {
	e := applied(manager, subresource)
	e.Operation = metav1.ManagedFieldsOperationUpdate
	return e
}

func TestOwns(t *testing.T) {
	app := myApp(t, "")
	controller := func(uid string) func(*metav1.ObjectMeta) {
		return func(m *metav1.ObjectMeta) {
			m.OwnerReferences = ownedBy(app).OwnerReferences
			m.OwnerReferences[0].UID = types.UID(uid)
		}
	}
	annotation := func(uid string) func(*metav1.ObjectMeta) {
		return func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{v1beta1.AnnotationOwnerUID: uid} }
	}
	fields := func(entries ...metav1.ManagedFieldsEntry) func(*metav1.ObjectMeta) {
		return func(m *metav1.ObjectMeta) { m.ManagedFields = entries }
	}
	created := func(after time.Duration) func(*metav1.ObjectMeta) {
		return func(m *metav1.ObjectMeta) { m.CreationTimestamp = metav1.NewTime(start.Add(after)) }
	}
	ours := applied("myapp-operator", "")
	cases := []struct {
		name string
		with []func(*metav1.ObjectMeta)
		want bool
	}{
		{"our controller reference", with(controller("uid-of-shop")), true},
		{"C03 a former MyApp's reference", with(controller("former"), fields(ours), created(time.Hour)), false},
		{"C03 another controller", with(controller("somebody"), annotation("uid-of-shop")), false},
		{"a reference that does not control", with(func(m *metav1.ObjectMeta) {
			m.OwnerReferences = []metav1.OwnerReference{{UID: "uid-of-shop"}}
		}), false},
		{"orphan policy: our UID", with(annotation("uid-of-shop")), true},
		{"C03 orphan policy: a former UID", with(annotation("former"), fields(ours), created(time.Hour)), false},
		{"C03 unowned", nil, false},
		{"C03 unowned, with our labels", with(func(m *metav1.ObjectMeta) { m.Labels = v1beta1.SelectorLabels("shop") }, created(time.Hour)), false},
		{"stripped, made after the MyApp", with(fields(ours), created(time.Second)), true},
		{"stripped, made in the same second", with(fields(ours), created(0)), true},
		{"stripped, older: a former MyApp left it", with(fields(ours), created(-time.Second)), false},
		{"updated under our name", with(fields(updated("myapp-operator", "")), created(time.Second)), false},
		{"only the status is ours", with(fields(applied("myapp-operator", "status")), created(time.Second)), false},
		{"applied by somebody", with(fields(applied("kubectl", "")), created(time.Second)), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			child := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop", CreationTimestamp: metav1.NewTime(start.Add(-time.Hour))}}
			for _, f := range c.with {
				f(&child.ObjectMeta)
			}
			if got := owns(app, child); got != c.want {
				t.Errorf("the object is taken as ours: %v, want %v", got, c.want)
			}
		})
	}
}

func with(all ...func(*metav1.ObjectMeta)) []func(*metav1.ObjectMeta) { return all }

func TestMayAdopt(t *testing.T) {
	app := myApp(t, "")
	adopt := map[string]string{v1beta1.AnnotationAdopt: "true"}
	owner := func(kind, name string, controls bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: v1beta1.GroupVersion.String(), Kind: kind, Name: name, UID: "other", Controller: &controls}}
	}
	namesake := owner("MyApp", "shop", true)
	namesake[0].APIVersion = "example.com/v1"
	cases := []struct {
		name string
		meta metav1.ObjectMeta
		want bool
	}{
		{"annotated", metav1.ObjectMeta{Annotations: adopt}, true},
		{"not annotated", metav1.ObjectMeta{}, false},
		{"annotated otherwise", metav1.ObjectMeta{Annotations: map[string]string{v1beta1.AnnotationAdopt: "yes"}}, false},
		{"being deleted", metav1.ObjectMeta{Annotations: adopt, DeletionTimestamp: ptr(ago(0))}, false},
		{"controlled by somebody", metav1.ObjectMeta{Annotations: adopt, OwnerReferences: owner("ReplicaSet", "shop", true)}, false},
		{"owned, not controlled", metav1.ObjectMeta{Annotations: adopt, OwnerReferences: owner("ReplicaSet", "shop", false)}, true},
		{"left by a former MyApp of this name", metav1.ObjectMeta{Annotations: adopt, OwnerReferences: owner("MyApp", "shop", true)}, true},
		{"a MyApp's of another group", metav1.ObjectMeta{Annotations: adopt, OwnerReferences: namesake}, false},
		{"another MyApp's", metav1.ObjectMeta{Annotations: adopt, OwnerReferences: owner("MyApp", "other", true)}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := mayAdopt(app, &appsv1.Deployment{ObjectMeta: c.meta}); got != c.want {
				t.Errorf("the object is taken over: %v, want %v", got, c.want)
			}
		})
	}
}

func TestSameSelector(t *testing.T) {
	app := myApp(t, "")
	for name, c := range map[string]struct {
		selector *metav1.LabelSelector
		want     bool
	}{
		"equal":   {&metav1.LabelSelector{MatchLabels: v1beta1.SelectorLabels("shop")}, true},
		"another": {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}, false},
		"more":    {&metav1.LabelSelector{MatchLabels: v1beta1.SelectorLabels("shop"), MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a"}}}, false},
		"none":    {nil, false},
	} {
		if got := sameSelector(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: c.selector}}, app); got != c.want {
			t.Errorf("%s: same selector %v, want %v", name, got, c.want)
		}
	}
}

// C11: what former managers set becomes ours, and goes with the apply that follows unless we set it too; what the control
// plane set, and the status, stays.
func TestC11TakeFields(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{
		updated("kubectl-create", ""), applied("helm", ""), updated("kube-controller-manager", "status"),
		updated("kube-controller-manager", ""), updated("autoscaler", "scale"),
	}}}
	patch, err := takeFieldsPatch(d, managers(d))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range d.ManagedFields {
		got = append(got, e.Manager+" "+string(e.Operation)+" "+e.Subresource)
	}
	want := []string{"kube-controller-manager Update status", "kube-controller-manager Update ", "autoscaler Update scale", "myapp-operator Apply "}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("owners of fields after an adoption (-want +got):\n%s\n%s", diff, patch)
	}
}
