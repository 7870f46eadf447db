package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// setting is an entry that owns these fields.
func setting(e metav1.ManagedFieldsEntry, fields string) metav1.ManagedFieldsEntry {
	e.FieldsV1 = metav1.NewFieldsV1(fields)
	return e
}

// C11: who counts as an earlier operator, and when the API server is asked about one.
func TestC11FormerManagers(t *testing.T) {
	const (
		reference  = `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"uid-of-shop\"}":{}}},"f:spec":{"f:replicas":{}}}`
		other      = `{"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"other\"}":{}}}}`
		annotation = `{"f:metadata":{"f:annotations":{".":{},"f:app.ydzs.io/owner-uid":{}}}}`
	)
	ours := applied("myapp-operator", "")
	cases := []struct {
		name     string
		entries  []metav1.ManagedFieldsEntry
		inherits bool
		former   []string
	}{
		{"ours alone", []metav1.ManagedFieldsEntry{ours, updated("kube-controller-manager", "status")}, false, nil},
		{"somebody beside us", []metav1.ManagedFieldsEntry{ours, updated("kubectl-edit", "")}, false, nil},
		{"somebody set our reference anew beside us", []metav1.ManagedFieldsEntry{ours, setting(updated("kubectl-edit", ""), reference)}, false, nil},
		{"our name, by updates", []metav1.ManagedFieldsEntry{updated("myapp-operator", "")}, true, []string{"myapp-operator"}},
		{"our name, by updates, after a rollback", []metav1.ManagedFieldsEntry{ours, updated("myapp-operator", "")}, true, []string{"myapp-operator"}},
		{"our name on a subresource", []metav1.ManagedFieldsEntry{ours, updated("myapp-operator", "status")}, false, nil},
		{"another name, by updates", []metav1.ManagedFieldsEntry{setting(updated("manager", ""), reference), updated("kubectl-annotate", "")}, true, []string{"manager"}},
		{"another name, by applies", []metav1.ManagedFieldsEntry{setting(applied("old-operator", ""), reference)}, true, []string{"old-operator"}},
		{"another name, without an owner", []metav1.ManagedFieldsEntry{setting(updated("manager", ""), annotation)}, true, []string{"manager"}},
		{"somebody else's reference", []metav1.ManagedFieldsEntry{setting(updated("manager", ""), other)}, true, nil},
		{"no entries at all", nil, true, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop", ManagedFields: c.entries}}
			if got := inherits(d); got != c.inherits {
				t.Errorf("the API server is asked: %v, want %v", got, c.inherits)
			}
			if diff := cmp.Diff(c.former, emptyIsNil(sets.List(formerManagers(d, "uid-of-shop")))); diff != "" {
				t.Errorf("whose fields are dropped unless we set them (-want +got):\n%s", diff)
			}
			cached := d.DeepCopy()
			if _, err := keepOurFields(cached); err != nil || inherits(cached) != c.inherits {
				t.Errorf("the cache hides an earlier operator, or makes one up (error %v)", err)
			}
		})
	}
}

func emptyIsNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}
