package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

const (
	// firstRetry and lastRetry bound the growing delay after errors.
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
	// shortestWindow and longestWindow bound how long changes of children are gathered before they are reported.
	shortestWindow = time.Second
	longestWindow  = 30 * time.Second
)

// SetupWithManager registers the controller and its watches. A replica that is not the leader keeps its caches warm.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, concurrency int) error {
	if err := IndexPods(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	warm := true
	b := ctrl.NewControllerManagedBy(mgr).
		Named("myapp").
		For(&v1beta1.MyApp{}, builder.WithPredicates(specOrMetadata)).
		Watches(&corev1.Pod{}, &childHandler{r: r, key: podKey})
	for _, k := range r.kinds() {
		if k.crd == "" {
			b = b.Watches(k.empty(), r.childHandler(k))
		}
	}
	c, err := b.WithOptions(controller.Options{
		MaxConcurrentReconciles: concurrency,
		EnableWarmup:            &warm,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}).Build(r)
	if err != nil {
		return err
	}
	return r.setupOptional(mgr, c)
}

// setupOptional prepares the watches that begin later.
func (r *Reconciler) setupOptional(mgr ctrl.Manager, c controller.Controller) error {
	r.watches.handle = func(object client.Object, h handler.EventHandler) error {
		return c.Watch(source.Kind(mgr.GetCache(), object, h))
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1beta1.MyApp{}, appsByConfig, r.configOf); err != nil {
		return err
	}
	may, err := r.mayWatchCRDs(context.Background())
	if err != nil {
		return fmt.Errorf("find out which kinds the cluster has: %w", err)
	}
	if may {
		return c.Watch(source.Kind[client.Object](mgr.GetCache(), crdMetadata(), &crdHandler{r}))
	}
	return mgr.Add(manager.RunnableFunc(r.FindOptionalKinds))
}

func (r *Reconciler) childHandler(k kind) *childHandler {
	return &childHandler{r: r, key: client.ObjectKeyFromObject, kind: k.name}
}

// specOrMetadata passes every change of a MyApp but that of its status: metadata counts, since pausing, finalizers and
// deletion are metadata, and so does a resync.
var specOrMetadata = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld, e.ObjectNew
	return before.GetResourceVersion() == after.GetResourceVersion() ||
		before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!slices.Equal(before.GetFinalizers(), after.GetFinalizers()) ||
		!before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp())
}}

func podKey(pod client.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[v1beta1.LabelName]}
}

// childHandler wakes the MyApp of a child. A child has its MyApp's name, so no owner reference is needed, not even of a
// child that somebody stripped of it. What only moves counters is gathered for a while; a loss or a change by somebody is
// looked at within a second, a change of readiness at once.
type childHandler struct {
	r   *Reconciler
	key func(client.Object) types.NamespacedName
	// kind is empty for pods, which we do not write.
	kind string
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Create wakes the MyApp within a window; with low priority when it is one of the many that a start brings.
func (h *childHandler) Create(ctx context.Context, e event.CreateEvent, q queue) {
	priority := 0
	if e.IsInInitialList {
		priority = handler.LowPriority
	}
	h.wake(q, e.Object, h.window(ctx, e.Object), priority)
}

// Update wakes the MyApp at once when its readiness changed, soon when somebody changed what we own, else within a window.
func (h *childHandler) Update(ctx context.Context, e event.UpdateEvent, q queue) {
	switch {
	case e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion():
		h.wake(q, e.ObjectNew, shortestWindow, handler.LowPriority)
	case h.readinessChanged(ctx, e.ObjectOld, e.ObjectNew):
		h.wake(q, e.ObjectNew, 0, 0)
	case h.kind != "" && changedBySomebody(e.ObjectOld, e.ObjectNew):
		h.wake(q, e.ObjectNew, shortestWindow, 0)
	default:
		h.wake(q, e.ObjectNew, h.window(ctx, e.ObjectNew), 0)
	}
}

// Delete wakes the MyApp soon when a child is gone, and within a window when a pod is. Not at once: most children go because
// their MyApp went, which another watch tells, in no fixed order, and a moment's patience saves asking the API server.
func (h *childHandler) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	if h.kind == "" {
		h.wake(q, e.Object, h.window(ctx, e.Object), 0)
		return
	}
	h.r.memories.gone(h.key(e.Object), h.kind)
	h.wake(q, e.Object, shortestWindow, 0)
}

// Generic is never called.
func (h *childHandler) Generic(context.Context, event.GenericEvent, queue) {}

func (h *childHandler) wake(q queue, object client.Object, after time.Duration, priority int) {
	req := reconcile.Request{NamespacedName: h.key(object)}
	if pq, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		pq.AddWithOpts(priorityqueue.AddOpts{After: after, Priority: &priority}, req)
		return
	}
	q.AddAfter(req, after)
}

// window is how long changes are gathered: as long as the MyApp has been unready, from 1 s to 30 s. Early changes are told
// soon and late ones rarely.
func (h *childHandler) window(ctx context.Context, object client.Object) time.Duration {
	app := h.app(ctx, object)
	if app == nil {
		return shortestWindow
	}
	ready := conditionOf(app.Status, v1beta1.ConditionReady)
	if ready.Status != metav1.ConditionFalse || app.DeletionTimestamp != nil {
		return shortestWindow
	}
	return min(max(h.r.now().Sub(ready.LastTransitionTime.Time), shortestWindow), longestWindow)
}

// app returns the cached MyApp of a child; nil when there is none.
func (h *childHandler) app(ctx context.Context, object client.Object) *v1beta1.MyApp {
	app := &v1beta1.MyApp{}
	if err := h.r.Client.Get(ctx, h.key(object), app); err != nil {
		return nil
	}
	return app
}

func (h *childHandler) readinessChanged(ctx context.Context, before, after client.Object) bool {
	was, ok := before.(*appsv1.Deployment)
	if !ok || equality.Semantic.DeepEqual(was.Status, after.(*appsv1.Deployment).Status) {
		return false
	}
	app := h.app(ctx, after)
	// Whoever wrote the number of pods last may have been an autoscaler; the pass finds out.
	in := desired.Input{Options: h.r.Options, App: app, ExternallyScaled: slices.ContainsFunc(was.ManagedFields, isScale)}
	return app != nil && !servesAlike(in, was, after.(*appsv1.Deployment))
}

// changedBySomebody tells whether more than the status changed. Kinds without a generation are compared as a whole by the
// next pass.
func changedBySomebody(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() || after.GetGeneration() == 0 ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
}
