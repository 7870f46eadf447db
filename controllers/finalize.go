package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// A deleting MyApp never creates anything. Under Delete and Orphan there is nothing to do: owner references, or their
// absence, say it all, and no finalizer is there to hang. Under Drain our finalizer holds the MyApp while its parts go in
// order. `kubectl delete --cascade=foreground` and `--cascade=orphan` hand the children to the garbage collector, which
// would not wait for an order of ours.

// drainStep is where an ordered deletion stands.
type drainStep struct {
	reason, message string
	kind            string
	// act is what to do with the child of that kind.
	act drainAct
	// timedOut is set when an earlier step was skipped.
	timedOut bool
	// deadline is when this step is skipped.
	deadline time.Time
}

type drainAct int

const (
	drainDelete drainAct = iota
	drainStop
)

// drainSlack is what each step may take beyond the pods' grace period.
const drainSlack = 60 * time.Second

// nextDrainStep is the first step that is not done; nil when all are. Steps end together with their share of time: the nth
// step that the MyApp has is skipped n times (grace period + 60 s) after the deletion began, so that no step needs a clock
// of its own.
func nextDrainStep(app *v1beta1.MyApp, o observed, now time.Time) *drainStep {
	share := time.Duration(desired.GracePeriod(app))*time.Second + drainSlack
	deadline := app.DeletionTimestamp.Time
	timedOut := false
	for _, s := range drainSteps(app, o) {
		if s.asked || s.pending {
			deadline = deadline.Add(share)
		}
		if !s.pending {
			continue
		}
		if !now.Before(deadline) {
			timedOut = true
			continue
		}
		s.deadline, s.timedOut = deadline, timedOut
		return &s.drainStep
	}
	return nil
}

// maybeStep is a step with whether the spec asks for what it takes away, and whether that is still there.
type maybeStep struct {
	drainStep
	asked, pending bool
}

// drainSteps are all steps in order: what starts pods, what brings traffic, the pods.
func drainSteps(app *v1beta1.MyApp, o observed) []maybeStep {
	d := mine[*appsv1.Deployment](o, app)
	serves := d != nil && (d.Spec.Replicas == nil || *d.Spec.Replicas > 0 || d.Status.Replicas > 0 || slices.ContainsFunc(o.pods, runs))
	remove := func(kind, message string, asked, pending bool) maybeStep {
		return maybeStep{drainStep{reason: "Deleting" + kind, message: message, kind: kind, act: drainDelete}, asked, pending}
	}
	autoscaler := remove("HorizontalPodAutoscaler", "the autoscaler is being deleted, so that it starts no new pods",
		app.Spec.Autoscaling != nil, mine[*autoscalingv2.HorizontalPodAutoscaler](o, app) != nil)
	autoscaler.reason = "DeletingAutoscaler"
	return []maybeStep{
		autoscaler,
		remove("Ingress", "the Ingress is being deleted, so that no new traffic comes from outside",
			app.Spec.Ingress != nil, mine[*networkingv1.Ingress](o, app) != nil),
		remove("Service", "the Service is being deleted, so that no new traffic comes", true, mine[*corev1.Service](o, app) != nil),
		{drainStep{reason: "StoppingPods", message: "the pods are ending", kind: deploymentKind, act: drainStop}, true, serves},
		remove(deploymentKind, "the Deployment is being deleted", true, d != nil),
	}
}

// runs tells whether a pod still has to end; one that failed, for example by eviction, is over.
func runs(pod corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// drains tells whether the MyApp's deletion is held by our finalizer until its parts are gone in order. It is not when the
// garbage collector has the order, nor when it had: its finalizer may be gone before we take off ours, and children that
// were to be kept must not go then. What it leaves of its work is a child without an owner.
func (p *pass) drains() bool {
	for _, f := range []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents} {
		p.memory.handedOver = p.memory.handedOver || slices.Contains(p.app.Finalizers, f)
	}
	return p.app.Spec.DeletionPolicy == v1beta1.DeletionPolicyDrain && !p.memory.handedOver && !orphaned(p.observed, p.app)
}

// orphaned tells whether a child of ours has lost its owner.
func orphaned(o observed, app *v1beta1.MyApp) bool {
	for _, child := range o.children {
		if owns(app, child) && metav1.GetControllerOfNoCopy(child) == nil {
			return true
		}
	}
	return false
}

// finalize is the reconcile of a MyApp that is being deleted.
func (r *Reconciler) finalize(ctx context.Context, p *pass) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(p.app, v1beta1.Finalizer) {
		return reconcile.Result{}, nil
	}
	var step *drainStep
	if p.drains() {
		step = nextDrainStep(p.app, p.observed, p.now)
	}
	if step == nil {
		err := r.setFinalizer(ctx, p, false)
		if errors.Is(err, errGone) {
			err = nil
		}
		return reconcile.Result{}, err
	}
	var problems []problem
	if err := r.drain(ctx, p, step); err != nil {
		problems = append(problems, classify(step.kind, p.app, err, p.now))
	}
	recheck, err := r.report(ctx, p, finding{observed: p.observed, problems: problems, drain: step, now: p.now})
	if err != nil {
		problems = append(problems, classify("MyApp", p.app, err, p.now))
	}
	// Whatever else goes wrong, the step ends at its deadline.
	return retry(bounded(problems, drainRetry), earliest(recheck, step.deadline.Sub(p.now)))
}

// drainRetry is how often a step that fails is tried again; its deadline bounds the whole.
const drainRetry = 5 * time.Second

// bounded gives every problem a fixed time for its next try, so that a growing delay cannot outlast a deadline.
func bounded(problems []problem, after time.Duration) []problem {
	for i := range problems {
		problems[i].permanent, problems[i].after = false, after
	}
	return problems
}

func (r *Reconciler) drain(ctx context.Context, p *pass, step *drainStep) error {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == step.kind })
	k, live := kinds[i], p.observed.children[step.kind]
	if step.act == drainDelete {
		return r.remove(ctx, p, k, live)
	}
	d := live.(*appsv1.Deployment)
	if d.Spec.Replicas != nil && *d.Spec.Replicas == 0 {
		return nil
	}
	stopped, err := stop(d)
	if err != nil {
		return err
	}
	return r.apply(ctx, p, k, stopped, precondition{"uid": string(d.UID)})
}

// stop is what we own of the Deployment, with no pods. The spec is not rendered anew: it may be one that the API server
// refuses, and pods that are about to end need no rollout.
func stop(d *appsv1.Deployment) (*appsv1ac.DeploymentApplyConfiguration, error) {
	owned, err := appsv1ac.ExtractDeployment(d, v1beta1.OperatorName)
	if err != nil {
		return nil, fmt.Errorf("read what we own of the Deployment: %w", err)
	}
	if owned.Spec == nil {
		owned.WithSpec(appsv1ac.DeploymentSpec())
	}
	owned.Spec.WithReplicas(0)
	return owned, nil
}

// +kubebuilder:rbac:groups=app.ydzs.io,resources=myapps/finalizers,verbs=update

// setFinalizer adds or removes our finalizer. It is set while the policy is Drain; admission sets it at creation, this
// does when admission was left out or the policy changed later.
func (r *Reconciler) setFinalizer(ctx context.Context, p *pass, wanted bool) error {
	if controllerutil.ContainsFinalizer(p.app, v1beta1.Finalizer) == wanted {
		return nil
	}
	before := p.app.DeepCopy()
	if wanted {
		controllerutil.AddFinalizer(p.app, v1beta1.Finalizer)
	} else {
		controllerutil.RemoveFinalizer(p.app, v1beta1.Finalizer)
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.Client.Patch(ctx, p.app, patch)
	if apierrors.IsNotFound(err) {
		return errGone
	}
	if err != nil {
		return fmt.Errorf("set finalizers of MyApp: %w", err)
	}
	p.memory.wrote(v1beta1.Kind.Kind, p.app.ResourceVersion, r.now())
	return nil
}
