package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// This file is the applier, the one place that changes children. What it may find of a child, and what it does:
//
//	in the cache and ours    as intended      nothing, no request
//	                         otherwise        forced apply that names the UID, so that it can never create
//	                         not intended     delete that names the UID
//	                         being deleted    wait for the end
//	in the cache, not ours   intended         blocked, or adopted where the object allows it; no request
//	not in the cache         intended         apply that can only create; if the name is taken, one look decides:
//	                                          ours after all (label stripped, cache behind) → forced apply,
//	                                          may be adopted → adopt, else blocked and looked at again later
//	not ours or not there    not intended     nothing
//
// An apply without force is no protection: it takes over a foreign object whose values do not conflict.

// pass is one reconcile of one MyApp.
type pass struct {
	app      *v1beta1.MyApp
	input    desired.Input
	observed observed
	memory   *memory
	now      time.Time
	// changed holds the kinds that were written.
	changed []string
	// wake is when this MyApp is to be looked at again although nothing happens; zero for never.
	wake time.Duration
	// alive is set once the API server has confirmed that the MyApp still exists.
	alive bool
}

// plan is one child as it should be; a nil intent means not at all.
type plan struct {
	kind
	intent any
}

// decide renders every child. What must not exist comes first: an autoscaler has to be gone before the operator chooses
// the number of pods again.
func (r *Reconciler) decide(p *pass) []plan {
	var removals, intents []plan
	for _, k := range r.kinds() {
		var known client.Object
		if live := p.observed.children[k.name]; live != nil && owns(p.app, live) {
			known = live
			p.memory.seen[k.name] = true
		}
		if intent := k.render(p.input, known); intent != nil {
			intents = append(intents, plan{k, intent})
		} else {
			removals = append(removals, plan{k, nil})
		}
	}
	return append(removals, intents...)
}

// ensure makes one child what it should be.
func (r *Reconciler) ensure(ctx context.Context, p *pass, next plan) error {
	k, intent := next.kind, next.intent
	live := p.observed.children[k.name]
	ours := live != nil && owns(p.app, live)
	switch {
	case intent == nil && ours:
		return r.remove(ctx, p, k, live)
	case intent == nil:
		return nil
	case r.unavailable(k) != nil:
		return r.unavailable(k)
	case p.memory.refuses(k.name, intent, p.now) != nil:
		return p.memory.refuses(k.name, intent, p.now)
	case live == nil:
		return r.create(ctx, p, k, intent)
	case !ours:
		return r.contest(ctx, p, k, intent, live, time.Time{})
	case live.GetDeletionTimestamp() != nil:
		return beingDeleted(k, time.Time{})
	}
	return r.update(ctx, p, k, intent, live)
}

// beingDeleted: our child is on its way out, by somebody else's hand, and its end makes room for a new one.
func beingDeleted(k kind, lookAgain time.Time) error {
	return &blockedError{reason: v1beta1.ReasonChildDeleting, lookAgain: lookAgain, message: fmt.Sprintf(
		"the %s is being deleted by somebody else and will be made again once it is gone", k.name)}
}

// update applies the intent to our own child unless it already is that way.
func (r *Reconciler) update(ctx context.Context, p *pass, k kind, intent any, live client.Object) error {
	if inherits(live) {
		inherited, err := r.inherit(ctx, p, k, live)
		if err != nil {
			return err
		}
		live, intent = inherited, k.render(p.input, inherited)
	}
	now := agreement{intent: hash(intent), live: fingerprint(live)}
	if p.memory.agreed[k.name] == now {
		return nil
	}
	owned, err := k.extract(live)
	if err == nil && equality.Semantic.DeepEqual(owned, intent) {
		p.memory.agreed[k.name] = now
		return nil
	}
	if err := r.correct(ctx, p, k, intent, live); err != nil {
		return err
	}
	if p.memory.wroteNothing(k.name, live.GetResourceVersion()) {
		// The server drops a field that it does not serve, and would again: this is as near as it comes.
		p.memory.agreed[k.name] = now
	}
	return nil
}

// correct applies the intent to our own child.
func (r *Reconciler) correct(ctx context.Context, p *pass, k kind, intent any, live client.Object) error {
	if metav1.GetControllerOfNoCopy(live) == nil {
		// The garbage collector strips owner references while it deletes a MyApp with --cascade=orphan.
		if err := r.confirmAlive(ctx, p); err != nil {
			return err
		}
	}
	only := precondition{"uid": string(live.GetUID())}
	if d, ok := live.(*appsv1.Deployment); ok && p.input.HoldsReplicas(d) {
		only["resourceVersion"] = d.ResourceVersion
	}
	return r.apply(ctx, p, k, intent, only)
}

// create applies a child that is not in the cache.
func (r *Reconciler) create(ctx context.Context, p *pass, k kind, intent any) error {
	if blocked := p.memory.blocked[k.name]; blocked != nil {
		if p.now.Before(blocked.lookAgain) {
			return blocked
		}
		return r.look(ctx, p, k, intent)
	}
	if p.mayBeLate(k) {
		if err := r.confirmAlive(ctx, p); err != nil {
			return err
		}
	}
	if p.wasBlocked() {
		return r.look(ctx, p, k, intent)
	}
	err := r.applyNew(ctx, p, k, intent)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return r.look(ctx, p, k, intent)
	}
	return err
}

// mayBeLate tells whether a child may be missing because the MyApp was deleted and the watch has yet to say so: one that
// this process has seen before, or that nothing in the spec asked for anew. Under Orphan the garbage collector would never
// take a child that was made too late, so there every creation counts.
func (p *pass) mayBeLate(k kind) bool {
	status := p.app.Status
	return p.memory.seen[k.name] || p.input.App.Spec.DeletionPolicy == v1beta1.DeletionPolicyOrphan ||
		(status.ObservedGeneration != 0 && status.ObservedGeneration == p.app.Generation)
}

// wasBlocked tells from the status, which outlives the process, whether a foreign object was in the way.
func (p *pass) wasBlocked() bool {
	reason := conditionOf(p.app.Status, v1beta1.ConditionDegraded).Reason
	return reason == v1beta1.ReasonForeignObject || reason == v1beta1.ReasonSelectorDiffers
}

// look asks the API server who has the name of a child that is not in the cache.
func (r *Reconciler) look(ctx context.Context, p *pass, k kind, intent any) error {
	delete(p.memory.blocked, k.name)
	gvk, err := apiutil.GVKForObject(k.empty(), r.Client.Scheme())
	if err != nil {
		return err
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	switch err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(p.app), live); {
	case apierrors.IsNotFound(err):
		if err := r.confirmAlive(ctx, p); err != nil {
			return err
		}
		return r.applyNew(ctx, p, k, intent)
	case err != nil:
		return fmt.Errorf("read %s: %w", k.name, err)
	case owns(p.app, live) && live.DeletionTimestamp != nil:
		return beingDeleted(k, p.now.Add(lookAgain()))
	case owns(p.app, live):
		return r.retake(ctx, p, k, intent, live)
	}
	err = r.contest(ctx, p, k, intent, live, p.now.Add(lookAgain()))
	if blocked, ok := err.(*blockedError); ok { //nolint:errorlint // made by contest itself, never wrapped
		p.memory.blocked[k.name] = blocked
	}
	return err
}

// lookAgain spreads the looks at foreign objects over 1 to 5 minutes.
func lookAgain() time.Duration { return time.Minute + rand.N(4*time.Minute) }

// contest decides about an object that has a child's name and is not ours. lookAgain is zero when its watch tells us of
// changes.
func (r *Reconciler) contest(
	ctx context.Context, p *pass, k kind, intent any, live client.Object, lookAgain time.Time,
) error {
	if mayAdopt(p.app, live) {
		return r.adopt(ctx, p, k, intent, lookAgain)
	}
	return foreign(k.name, live.GetName(), lookAgain)
}

// remove deletes our own child.
func (r *Reconciler) remove(ctx context.Context, p *pass, k kind, live client.Object) error {
	if live.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := live.GetUID()
	err := r.Client.Delete(ctx, live, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", k.name, err)
	}
	p.changed = append(p.changed, k.name)
	return nil
}

// noSuchVersion is a resourceVersion that no object has: an apply that carries it creates, or fails with a conflict.
const noSuchVersion = "1"

func (r *Reconciler) applyNew(ctx context.Context, p *pass, k kind, intent any) error {
	return r.apply(ctx, p, k, intent, precondition{"resourceVersion": noSuchVersion})
}

// precondition holds fields of the metadata that the live object must have for an apply to succeed.
type precondition map[string]string

// apply sends the intent.
func (r *Reconciler) apply(ctx context.Context, p *pass, k kind, intent any, only precondition) error {
	object, err := toUnstructured(intent)
	if err != nil {
		return err
	}
	for field, value := range only {
		if err := unstructured.SetNestedField(object.Object, value, "metadata", field); err != nil {
			return err
		}
	}
	err = r.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
		client.ForceOwnership, client.FieldOwner(v1beta1.OperatorName))
	if err != nil {
		err = fmt.Errorf("apply %s: %w", k.name, err)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			p.memory.wasRefused(k.name, intent, err, p.now)
		}
		return err
	}
	delete(p.memory.refused, k.name)
	p.changed = append(p.changed, k.name)
	p.memory.seen[k.name] = true
	p.memory.wrote(k.name, object.GetResourceVersion(), r.now())
	return nil
}

// confirmAlive asks the API server, once a pass, whether the MyApp still exists and is not being deleted.
func (r *Reconciler) confirmAlive(ctx context.Context, p *pass) error {
	if p.alive {
		return nil
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(v1beta1.Kind)
	err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(p.app), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != p.app.UID || live.DeletionTimestamp != nil):
		return errGone
	case err != nil:
		return fmt.Errorf("read MyApp: %w", err)
	}
	p.alive = true
	return nil
}

func toUnstructured(intent any) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(intent)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return object, nil
}

// hash is a fingerprint of an intent. Apply configurations marshal deterministically.
func hash(intent any) uint64 {
	h := fnv.New64a()
	// Writing to a hash never fails, and an intent that cannot be encoded fails when it is sent.
	_ = json.NewEncoder(h).Encode(intent)
	return h.Sum64()
}

// fingerprint changes whenever what we own of the object may have changed. It leaves out the status, so that a
// Deployment is not compared again for each pod that becomes ready. Kinds without a generation fall back on the
// resourceVersion.
func fingerprint(live client.Object) uint64 {
	version := fmt.Sprint(live.GetGeneration())
	if live.GetGeneration() == 0 {
		version = live.GetResourceVersion()
	}
	var fields string
	if e := ourFields(live); e != nil && e.FieldsV1 != nil {
		fields = e.FieldsV1.GetRawString()
	}
	return hash([]any{live.GetUID(), version, fields, live.GetLabels(), live.GetAnnotations(), live.GetOwnerReferences()})
}
