package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// owns tells whether a child belongs to this very MyApp, not merely to one of its name:
//
//   - its controller reference has our UID, or
//   - it has no controller and carries our UID as an annotation (deletionPolicy Orphan), or
//   - it has neither, but we applied it and it is not older than the MyApp: somebody stripped the owner reference. What a
//     former MyApp of the same name left behind is older, and so is everything that was there first.
func owns(app *v1beta1.MyApp, child metav1.Object) bool {
	if ref := metav1.GetControllerOfNoCopy(child); ref != nil {
		return ref.UID == app.UID
	}
	if uid, ok := child.GetAnnotations()[v1beta1.AnnotationOwnerUID]; ok {
		return uid == string(app.UID)
	}
	created := child.GetCreationTimestamp()
	return ourFields(child) != nil && !created.Before(&app.CreationTimestamp)
}

// ourFields returns the managedFields entry of what we applied, nil when we never did.
func ourFields(object metav1.Object) *metav1.ManagedFieldsEntry {
	entries := object.GetManagedFields()
	for i := range entries {
		if isOurs(entries[i]) {
			return &entries[i]
		}
	}
	return nil
}

func isOurs(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == v1beta1.OperatorName && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
}
