package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// +kubebuilder:rbac:groups=app.ydzs.io,resources=myapps/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// report writes the status if it changed, once, and then tells of a new trouble by one event. The patch carries the
// resourceVersion: a status computed from an old view must not overwrite a newer one.
func (r *Reconciler) report(ctx context.Context, p *pass, f finding) (recheck time.Duration, err error) {
	next, recheck := nextStatus(p.app, f)
	before := p.app.DeepCopy()
	if equality.Semantic.DeepEqual(before.Status, next) {
		return recheck, nil
	}
	p.app.Status = next
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(r.Client.Status().Patch(ctx, p.app, patch)); err != nil {
		return recheck, fmt.Errorf("write the status of MyApp: %w", err)
	}
	p.memory.wrote(v1beta1.Kind.Kind, p.app.ResourceVersion, r.now())
	r.announce(p.app, conditionOf(before.Status, v1beta1.ConditionDegraded), conditionOf(next, v1beta1.ConditionDegraded))
	return recheck, nil
}

// announce records one Warning for each change of the reason why a MyApp is degraded, and nothing while all is well.
func (r *Reconciler) announce(app *v1beta1.MyApp, before, after metav1.Condition) {
	if after.Status != metav1.ConditionTrue || (before.Status == after.Status && before.Reason == after.Reason) {
		return
	}
	r.Recorder.Eventf(app, nil, corev1.EventTypeWarning, after.Reason, "Reconcile", "%s", after.Message)
}
