package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmetav1 "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// created is what a MyApp with Deployment, Service and, since it has several pods, a disruption budget may cost.
var created = bound{writes: 4 + 1}

// step is one event in the life of a MyApp, and what the operator may ask of the API server for it.
type step struct {
	row     string
	bound   bound
	rollout bool
	act     func(ctx context.Context, app *v1beta1.MyApp) error
	// arrived tells whether the event has reached the children and the status.
	arrived func(ctx context.Context, app *v1beta1.MyApp) bool
	// quiet is how long the MyApp is watched after that.
	quiet time.Duration
}

// do runs one step and notes its span.
func (r *budgetRun) do(ctx context.Context, app *v1beta1.MyApp, s step) error {
	from := time.Now()
	if err := s.act(ctx, app); err != nil {
		return fmt.Errorf("%s: %w", s.row, err)
	}
	what := fmt.Sprintf("%s/%s: %s", app.Namespace, app.Name, s.row)
	if err := until(ctx, what, func(ctx context.Context) bool { return s.arrived(ctx, app) }); err != nil {
		return err
	}
	if err := pause(ctx, s.quiet); err != nil {
		return err
	}
	r.ledger.add(span{
		row: s.row, app: client.ObjectKeyFromObject(app), bound: s.bound, rollout: s.rollout, from: from, to: time.Now(),
	})
	return nil
}

// changing takes MyApps with instant pods through everything that may happen to them.
func (r *budgetRun) changing(ctx context.Context) error {
	steps := []step{
		{row: "created, instant pods", act: r.create, bound: created, rollout: true},
		{row: "image changed", act: r.patch(`{"spec":{"image":"registry.example.com/team/web:2.0"}}`), bound: bound{writes: 3}, rollout: true},
		{row: "size changed", act: r.patch(`{"spec":{"size":3}}`), bound: bound{writes: 3}, rollout: true},
		{row: "port changed", act: r.patch(`{"spec":{"ports":[{"port":8080}]}}`), bound: bound{writes: 3}, rollout: true},
		{row: "metadata changed", act: r.patch(`{"metadata":{"labels":{"team":"web"}}}`)},
		// The value is the one that was in force without it.
		{row: "spec changed, no child concerned", act: r.patch(`{"spec":{"imagePullPolicy":"IfNotPresent"}}`), bound: bound{writes: 1}},
		{row: "Deployment deleted", act: r.remove(&appsv1.Deployment{}), arrived: r.back(&appsv1.Deployment{}), bound: bound{3, 1}, rollout: true},
		{row: "Service deleted", act: r.remove(&corev1.Service{}), arrived: r.back(&corev1.Service{}), bound: bound{3, 1}},
		{row: "deleted, policy Delete", act: r.delete, arrived: r.gone},
	}
	return paced(ctx, budgetApps, func(i int) error {
		app := wrappers.MakeMyApp(fmt.Sprintf("app-%d", i), "instant").Size(2).Port(80).Obj()
		for _, s := range steps {
			s.quiet = quiet
			if s.arrived == nil {
				s.arrived = r.ready
			}
			if err := r.do(ctx, app, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// resting brings up MyApps with slow pods and ones with every field set, and leaves each of them alone for a minute.
func (r *budgetRun) resting(ctx context.Context) error {
	rest := step{row: "steady state", act: nothing, arrived: r.ready, quiet: steady}
	both := func(app *v1beta1.MyApp, create step) error {
		create.quiet, create.rollout = lateQuiet, true
		if err := r.do(ctx, app, create); err != nil {
			return err
		}
		return r.do(ctx, app, rest)
	}
	return together(
		func() error {
			return paced(ctx, budgetApps, func(i int) error {
				// Three pods, ready one after the other.
				app := wrappers.MakeMyApp(fmt.Sprintf("app-%d", i), "slow").Size(3).Port(80).
					PodAnnotation(cluster.ReadyAfter, "1s").PodAnnotation(cluster.ReadyWithin, "8s").Obj()
				return both(app, step{row: "created, slow pods", act: r.create, arrived: r.ready, bound: created})
			})
		},
		func() error {
			return paced(ctx, fullestApps, func(i int) error {
				app := wrappers.FullestHere("app", fullest(i)).Obj()
				if err := both(app, step{
					// Each child beyond Deployment and Service costs one write. The ConfigMap that restarts the pods is read once.
					row: "created, every field set", act: r.createAndServe, arrived: r.ready, bound: bound{writes: 4 + 5, reads: 1},
				}); err != nil {
					return err
				}
				return r.do(ctx, app, step{
					// There are no metrics here.
					row: "Z05 autoscaler without metrics", act: nothing, arrived: r.degraded(v1beta1.ReasonScalingInactive), quiet: quiet,
					bound: bound{writes: 2}, // the status and its event
				})
			})
		})
}

func nothing(context.Context, *v1beta1.MyApp) error { return nil }

func (r *budgetRun) create(ctx context.Context, app *v1beta1.MyApp) error {
	return r.site.admin.Create(ctx, app)
}

// createAndServe creates a MyApp and does what an ingress controller and cert-manager would.
func (r *budgetRun) createAndServe(ctx context.Context, app *v1beta1.MyApp) error {
	if err := r.site.admin.Create(ctx, app); err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(app)
	ingress, cert := &networkingv1.Ingress{}, &certmanagerv1.Certificate{}
	err := until(ctx, "the Ingress and its certificate", func(ctx context.Context) bool {
		return r.site.admin.Get(ctx, key, ingress) == nil && r.site.admin.Get(ctx, key, cert) == nil
	})
	if err != nil {
		return err
	}
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	cert.Status.Conditions = []certmanagerv1.CertificateCondition{{
		Type: certmanagerv1.CertificateConditionReady, Status: certmetav1.ConditionTrue, ObservedGeneration: cert.Generation,
	}}
	return errors.Join(r.site.admin.Status().Update(ctx, ingress), r.site.admin.Status().Update(ctx, cert))
}

// degraded tells whether the MyApp says that it is, for this reason.
func (r *budgetRun) degraded(reason string) func(context.Context, *v1beta1.MyApp) bool {
	return func(ctx context.Context, app *v1beta1.MyApp) bool {
		live := &v1beta1.MyApp{}
		if err := r.site.admin.Get(ctx, client.ObjectKeyFromObject(app), live); err != nil {
			return false
		}
		c := meta.FindStatusCondition(live.Status.Conditions, v1beta1.ConditionDegraded)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason
	}
}

func (r *budgetRun) delete(ctx context.Context, app *v1beta1.MyApp) error {
	return r.site.admin.Delete(ctx, app)
}

func (r *budgetRun) patch(patch string) func(context.Context, *v1beta1.MyApp) error {
	return func(ctx context.Context, app *v1beta1.MyApp) error {
		return r.site.admin.Patch(ctx, app, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
}

// remove deletes a child of this kind at once.
func (r *budgetRun) remove(kind client.Object) func(context.Context, *v1beta1.MyApp) error {
	return func(ctx context.Context, app *v1beta1.MyApp) error {
		child := kind.DeepCopyObject().(client.Object)
		child.SetName(app.Name)
		child.SetNamespace(app.Namespace)
		return r.site.admin.Delete(ctx, child, client.PropagationPolicy("Background"))
	}
}

// back tells whether a child of this kind is there again and the MyApp is ready with it.
func (r *budgetRun) back(kind client.Object) func(context.Context, *v1beta1.MyApp) bool {
	return func(ctx context.Context, app *v1beta1.MyApp) bool {
		live := kind.DeepCopyObject().(client.Object)
		return r.site.admin.Get(ctx, client.ObjectKeyFromObject(app), live) == nil && r.ready(ctx, app)
	}
}

// ready tells whether the status speaks of the current spec and says Ready.
func (r *budgetRun) ready(ctx context.Context, app *v1beta1.MyApp) bool {
	live := &v1beta1.MyApp{}
	if err := r.site.admin.Get(ctx, client.ObjectKeyFromObject(app), live); err != nil {
		return false
	}
	return live.Status.ObservedGeneration == live.Generation &&
		meta.IsStatusConditionTrue(live.Status.Conditions, v1beta1.ConditionReady)
}

// gone tells whether the MyApp and its children are gone.
func (r *budgetRun) gone(ctx context.Context, app *v1beta1.MyApp) bool {
	for _, o := range []client.Object{&v1beta1.MyApp{}, &appsv1.Deployment{}, &corev1.Service{}} {
		if err := r.site.admin.Get(ctx, client.ObjectKeyFromObject(app), o); !apierrors.IsNotFound(err) {
			return false
		}
	}
	return true
}
