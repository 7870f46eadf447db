package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// An earlier version of the operator may have kept a child by updates, or under another name. What it set and we no longer
// do would stay for ever, since nobody who owns those fields is left to drop them. So they become ours first, in the
// managed fields alone, and the apply that follows removes them together with everything else that changes: one rollout.

// inherits tells whether our own child may hold fields of an earlier operator: we have never applied it, or somebody of
// our name has updated it, which we never do.
func inherits(child metav1.Object) bool {
	for _, e := range child.GetManagedFields() {
		if isFormer(e) {
			return true
		}
	}
	return ourFields(child) == nil
}

// isFormer tells whether an entry is that of an operator of our name that updates.
func isFormer(e metav1.ManagedFieldsEntry) bool {
	return e.Manager == v1beta1.OperatorName && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
}

// inherit makes the fields of earlier operators ours and returns the child as it is after that.
func (r *Reconciler) inherit(ctx context.Context, p *pass, k kind, known client.Object) (client.Object, error) {
	live := k.empty()
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(known), live)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read %s: %w", k.name, err)
	}
	if live.GetUID() != known.GetUID() || !owns(p.app, live) {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: k.name}, known.GetName(), errors.New("it has changed hands"))
	}
	if former := formerManagers(live, p.app.UID); former.Len() > 0 {
		if err := r.takeFields(ctx, k, live, former); err != nil {
			return nil, err
		}
	}
	_, err = keepOurFields(live)
	return live, err
}

// formerManagers are the names of earlier operators among the managers of our child. On one that we have never applied, it
// is whoever wrote the MyApp's UID on it, whatever the name. Others keep what they own.
func formerManagers(child metav1.Object, app types.UID) sets.Set[string] {
	names := sets.New[string]()
	never := ourFields(child) == nil
	for _, e := range child.GetManagedFields() {
		if isFormer(e) || (never && e.Subresource == "" && wroteIdentity(e, app)) {
			names.Insert(e.Manager)
		}
	}
	return names
}

// wroteIdentity tells whether a manager wrote what makes a child the MyApp's.
func wroteIdentity(e metav1.ManagedFieldsEntry, app types.UID) bool {
	if e.FieldsV1 == nil {
		return false
	}
	fields := e.FieldsV1.GetRawString()
	return strings.Contains(fields, `"k:{\"uid\":\"`+string(app)+`\"}"`) || strings.Contains(fields, `"f:`+v1beta1.AnnotationOwnerUID+`"`)
}

// retake applies to our own child that is out of sight; live is all that is known of it.
func (r *Reconciler) retake(ctx context.Context, p *pass, k kind, intent any, live *metav1.PartialObjectMetadata) error {
	if inherits(live) {
		return r.update(ctx, p, k, intent, live)
	}
	return r.apply(ctx, p, k, intent, precondition{"uid": string(live.UID)})
}
