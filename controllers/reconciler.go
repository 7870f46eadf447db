// Package controllers keeps the children of MyApps as their specs say and reports in their status.
//
// A reconcile gathers what the cache knows, lets the pure builders of package desired decide, acts through one generic
// ensure per child, computes the status with one pure function and writes it once if it changed. One function says what an
// error means, one when to come back. Only ensure.go, adopt.go, finalize.go and report.go talk to the API server; a pass
// with nothing to do sends no request.
package controllers

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// Reconciler keeps MyApps. All fields but Clock are required.
type Reconciler struct {
	// Client reads from a cache that was made with CacheOptions and writes to the API server.
	Client client.Client
	// APIReader reads from the API server.
	APIReader client.Reader
	// Recorder records events.
	Recorder events.EventRecorder
	// Cache is the cache that Client reads from. Watches come and go in it: of kinds that the cluster may lack, and of
	// ConfigMaps and Secrets that pods restart for.
	Cache cache.Cache
	// Options are the operator's settings that builders depend on.
	Options desired.Options
	// Clock is the time; time.Now when nil.
	Clock func() time.Time

	memories memories
	watches  watches
}

const (
	// settle is how long a pass that changed a child leaves the report to the next one: the children have only begun to
	// react, and most of the time the next report is the last.
	settle = time.Second
	// catchUp is when to look again at a cache that does not show our own last write yet.
	catchUp = 50 * time.Millisecond
)

// +kubebuilder:rbac:groups=app.ydzs.io,resources=myapps,verbs=get;list;watch;patch

// Reconcile is one pass over one MyApp.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	app := &v1beta1.MyApp{}
	if err := r.Client.Get(ctx, req.NamespacedName, app); err != nil {
		if apierrors.IsNotFound(err) {
			r.memories.forget(req.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	observed, err := r.gather(ctx, app)
	if err != nil {
		return reconcile.Result{}, err
	}
	p := &pass{app: app, observed: observed, memory: r.memories.of(app), now: r.now()}
	if p.behind() {
		return reconcile.Result{RequeueAfter: catchUp}, nil
	}
	withDefaults := app.DeepCopy()
	v1beta1.SetDefaults(withDefaults)
	p.input = desired.Input{Options: r.Options, App: withDefaults}
	if app.DeletionTimestamp != nil {
		return r.finalize(ctx, p)
	}
	return r.keep(ctx, p)
}

// keep is the reconcile of a MyApp that is there to stay.
func (r *Reconciler) keep(ctx context.Context, p *pass) (reconcile.Result, error) {
	problems, err := r.act(ctx, p)
	if errors.Is(err, errGone) {
		return reconcile.Result{}, nil
	}
	if len(p.changed) > 0 && len(problems) == 0 && !p.memory.unreported {
		p.memory.unreported = true
		return reconcile.Result{RequeueAfter: settle}, nil
	}
	p.memory.unreported = false
	recheck, err := r.report(ctx, p, finding{
		observed: p.observed, problems: problems, unsettled: p.unsettled(problems), now: p.now, input: p.input,
	})
	if err != nil {
		problems = append(problems, classify(v1beta1.Kind.Kind, p.app, err, p.now))
	}
	return retry(problems, earliest(recheck, p.wake))
}

// act makes every child what it should be; one that fails does not keep the others waiting. The only error is errGone.
func (r *Reconciler) act(ctx context.Context, p *pass) ([]problem, error) {
	var problems []problem
	drain := p.input.App.Spec.DeletionPolicy == v1beta1.DeletionPolicyDrain
	if err := r.setFinalizer(ctx, p, drain); errors.Is(err, errGone) {
		return nil, errGone
	} else if err != nil {
		problems = append(problems, classify(v1beta1.Kind.Kind, p.app, err, p.now))
	}
	if p.app.IsPaused() {
		return problems, nil
	}
	if wrong := desired.Check(p.input); len(wrong) > 0 {
		problems = append(problems, invalid(wrong))
	}
	problems = append(problems, r.learn(ctx, p)...)
	for _, next := range r.decide(p) {
		err := r.ensure(ctx, p, next)
		if errors.Is(err, errGone) {
			return nil, errGone
		}
		if err != nil {
			problems = append(problems, classify(next.name, p.input.App, err, p.now))
		}
	}
	return problems, nil
}

// learn finds out what decisions depend on beyond the spec and the children. What cannot be found out is taken to be as it
// was.
func (r *Reconciler) learn(ctx context.Context, p *pass) []problem {
	var problems []problem
	var err error
	if p.input.ExternallyScaled, err = r.externallyScaled(ctx, p); err != nil {
		problems = append(problems, classify("HorizontalPodAutoscaler", p.app, err, p.now))
	}
	if p.input.Config, err = r.config(ctx, p); err != nil {
		problems = append(problems, classify("configuration", p.app, err, p.now))
	}
	return problems
}

// behind tells whether the cache has yet to show our own last writes. Acting on it would repeat them.
func (p *pass) behind() bool {
	if p.memory.behind(v1beta1.Kind.Kind, p.app, p.now) {
		return true
	}
	for _, k := range kinds {
		if p.memory.behind(k.name, p.observed.children[k.name], p.now) {
			return true
		}
	}
	return false
}

// unsettled tells whether the observed Deployment is not what the spec asks for: it cannot be written, or a new spec was
// written in this very pass or waits for a busy API server. After a mere repair of the same spec it still says how things are.
func (p *pass) unsettled(problems []problem) bool {
	pending := slices.Contains(p.changed, deploymentKind)
	for _, q := range problems {
		if q.kind == deploymentKind && q.reason != "" {
			return true
		}
		pending = pending || q.kind == deploymentKind
	}
	return pending && p.app.Generation != p.app.Status.ObservedGeneration
}

func (r *Reconciler) now() time.Time {
	if r.Clock != nil {
		return r.Clock()
	}
	return time.Now()
}
