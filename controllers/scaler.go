package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// Somebody may point an autoscaler of their own at a MyApp's Deployment. What it writes looks like `kubectl scale`: an
// entry of the scale subresource among the managed fields. So while there is such an entry, a look at the autoscalers of
// the namespace tells the two apart: an autoscaler is let have its way, a hand is put back.

// scalerTrust is how long the answer is good for, unless the size changes before.
const scalerTrust = 10 * time.Minute

// scalerAnswer is what the last look at the autoscalers of the namespace found.
type scalerAnswer struct {
	found bool
	// size is the MyApp's at that time, until when the answer is good for.
	size  int32
	until time.Time
}

// good tells whether the answer still holds; a nil one does not.
func (a *scalerAnswer) good(size int32, now time.Time) bool {
	return a != nil && a.size == size && now.Before(a.until)
}

// externallyScaled tells whether an autoscaler that is not ours chooses the number of pods. When the API server does not
// say, it is as before, and with no answer yet the benefit of the doubt is the other one's: pods must not come and go.
func (r *Reconciler) externallyScaled(ctx context.Context, p *pass) (bool, error) {
	size := desired.Size(p.input.App)
	if p.input.Autoscaled() || size == 0 || !p.scaledBySomebody() {
		p.memory.scaler = nil
		return false, nil
	}
	last := p.memory.scaler
	if !last.good(size, p.now) {
		found, err := r.findScaler(ctx, p.app)
		if err != nil {
			return last == nil || last.found, err
		}
		last = &scalerAnswer{found, size, p.now.Add(scalerTrust)}
		p.memory.scaler = last
	}
	if last.found {
		p.wake = earliest(p.wake, last.until.Sub(p.now))
	}
	return last.found, nil
}

// scaledBySomebody tells whether the number of pods is as somebody wrote it through the scale subresource.
func (p *pass) scaledBySomebody() bool {
	d := mine[*appsv1.Deployment](p.observed, p.app)
	return d != nil && slices.ContainsFunc(d.ManagedFields, isScale)
}

// findScaler asks the API server for an autoscaler of the MyApp's Deployment.
func (r *Reconciler) findScaler(ctx context.Context, app *v1beta1.MyApp) (bool, error) {
	var all autoscalingv2.HorizontalPodAutoscalerList
	if err := r.APIReader.List(ctx, &all, client.InNamespace(app.Namespace)); err != nil {
		return false, fmt.Errorf("list HorizontalPodAutoscalers: %w", err)
	}
	return slices.ContainsFunc(all.Items, func(h autoscalingv2.HorizontalPodAutoscaler) bool {
		target := h.Spec.ScaleTargetRef
		group, err := schema.ParseGroupVersion(target.APIVersion)
		return err == nil && group.Group == appsv1.GroupName && target.Kind == deploymentKind && target.Name == app.Name &&
			!owns(app, &h)
	}), nil
}

// isScale tells whether somebody wrote the number of pods through the scale subresource.
func isScale(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "scale" }
