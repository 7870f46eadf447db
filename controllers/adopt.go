package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// adopt takes over a foreign object that allows it: the fields of its former managers become ours, so that the apply that
// follows removes those we do not set.
func (r *Reconciler) adopt(ctx context.Context, p *pass, k kind, intent any, lookAgain time.Time) error {
	live := k.empty()
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(p.app), live); err != nil {
		return fmt.Errorf("read %s: %w", k.name, err)
	}
	if !mayAdopt(p.app, live) {
		// The name has changed hands since the decision.
		return foreign(k.name, live.GetName(), lookAgain)
	}
	if d, ok := live.(*appsv1.Deployment); ok && !sameSelector(d, p.app) {
		return &blockedError{
			reason: v1beta1.ReasonSelectorDiffers,
			message: fmt.Sprintf("the Deployment %q may be taken over, but its selector differs and cannot be changed; delete it instead",
				d.Name),
			lookAgain: lookAgain,
		}
	}
	if err := r.confirmAlive(ctx, p); err != nil {
		return err
	}
	if err := r.takeFields(ctx, k, live, managers(live)); err != nil {
		return err
	}
	return r.apply(ctx, p, k, intent, precondition{"uid": string(live.GetUID())})
}

func sameSelector(d *appsv1.Deployment, app *v1beta1.MyApp) bool {
	return equality.Semantic.DeepEqual(d.Spec.Selector, &metav1.LabelSelector{MatchLabels: v1beta1.SelectorLabels(app.Name)})
}

// mayAdopt tells whether an object allows to be taken over: somebody said so on the object itself, and no other controller
// would fight for it.
func mayAdopt(app *v1beta1.MyApp, live metav1.Object) bool {
	if live.GetAnnotations()[v1beta1.AnnotationAdopt] != "true" || live.GetDeletionTimestamp() != nil {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(live)
	return ref == nil || (ref.APIVersion == v1beta1.GroupVersion.String() && ref.Kind == v1beta1.Kind.Kind && ref.Name == app.Name)
}

// managers are all who ever set a field of an object, but for the control plane's own.
func managers(live metav1.Object) sets.Set[string] {
	names := sets.New[string]()
	for _, e := range live.GetManagedFields() {
		if e.Subresource == "" && e.Manager != "kube-controller-manager" {
			names.Insert(e.Manager)
		}
	}
	return names
}

// takeFields makes the fields ours that these managers own, so that the next apply removes those we do not set.
func (r *Reconciler) takeFields(ctx context.Context, k kind, live client.Object, from sets.Set[string]) error {
	patch, err := takeFieldsPatch(live, from)
	if err != nil {
		return err
	}
	if err := r.Client.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return fmt.Errorf("take over the fields of %s: %w", k.name, err)
	}
	return nil
}

// takeFieldsPatch returns the JSON patch that merges the managedFields entries of these managers into ours. Those of
// subresources, such as status and scale, stay.
func takeFieldsPatch(live client.Object, from sets.Set[string]) ([]byte, error) {
	entries := live.GetManagedFields()
	for i := range entries {
		if entries[i].Subresource == "" && from.Has(entries[i].Manager) && !isOurs(entries[i]) {
			// The upgrade looks for updates only; a former manager may have applied.
			entries[i].Operation = metav1.ManagedFieldsOperationUpdate
		}
	}
	live.SetManagedFields(entries)
	if err := csaupgrade.UpgradeManagedFields(live, from, v1beta1.OperatorName); err != nil {
		return nil, fmt.Errorf("merge managed fields: %w", err)
	}
	patch := []map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": live.GetManagedFields()},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
	}
	return json.Marshal(patch)
}
