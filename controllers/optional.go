package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// A cluster may lack the API of a kind, and get or lose it at any time. The operator watches the names of all
// CustomResourceDefinitions and starts and stops the watches of such kinds with them; where it may not, it looks once, at
// its start. A pass that needs a kind that is not there sends no request.

// watches are those that begin while the operator runs, by the kind they watch.
type watches struct {
	mu     sync.Mutex
	byKind map[string]*watch
	// handle, set once the controller runs, hands the events of a watch to it.
	handle func(client.Object, handler.EventHandler) error
}

type watch struct {
	informer cache.Informer
	stop     context.CancelFunc
}

// synced tells whether the cache holds all objects of the kind.
func (w *watches) synced(kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.byKind[kind]
	return known != nil && known.informer != nil && known.informer.HasSynced()
}

func (w *watches) has(kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byKind[kind] != nil
}

// Watches tells whether the cache holds all objects of a kind whose watch begins while the operator runs.
func (r *Reconciler) Watches(kind string) bool { return r.watches.synced(kind) }

// startWatch begins to watch a kind unless that is so already. The API server needs a moment before it serves a new kind.
func (r *Reconciler) startWatch(ctx context.Context, kind string, object client.Object, h handler.EventHandler) {
	w := &r.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKind[kind] != nil || r.Cache == nil {
		return
	}
	if w.byKind == nil {
		w.byKind = map[string]*watch{}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	started := &watch{stop: stop}
	w.byKind[kind] = started
	go func() {
		_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
			return r.inform(ctx, started, object, h), nil
		})
	}()
}

// inform gets the informer of a watch and hands its events on; false when the API server does not serve the kind yet.
func (r *Reconciler) inform(ctx context.Context, started *watch, object client.Object, h handler.EventHandler) bool {
	informer, err := r.Cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return false
	}
	w := &r.watches
	w.mu.Lock()
	started.informer = informer
	handle := w.handle
	w.mu.Unlock()
	if handle == nil {
		return true
	}
	if err := handle(object, h); err != nil {
		logf.FromContext(ctx).Error(err, "cannot watch", "kind", fmt.Sprintf("%T", object))
	}
	return true
}

func (r *Reconciler) stopWatch(ctx context.Context, kind string, object client.Object) {
	w := &r.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.byKind[kind]; known != nil {
		known.stop()
		delete(w.byKind, kind)
		// It fails for unknown types only.
		_ = r.Cache.RemoveInformer(ctx, object)
	}
}

// unavailable says why children of a kind cannot be kept now; nil when they can.
func (r *Reconciler) unavailable(k kind) error {
	switch {
	case k.crd == "" || r.watches.synced(k.name):
		return nil
	case r.watches.has(k.name):
		return errStarting
	default:
		return &absentError{k}
	}
}

// absentError: the cluster does not have this kind.
type absentError struct{ kind kind }

func (e *absentError) Error() string {
	for _, c := range v1beta1.OptionalChildren {
		if c.Kind == e.kind.name {
			return fmt.Sprintf("the cluster has no %s, which %s asks for: its CustomResourceDefinition %s is not installed; install it or remove the field",
				c.Kind, c.Field, e.kind.crd)
		}
	}
	return fmt.Sprintf("the cluster has no %s: its CustomResourceDefinition %s is not installed", e.kind.name, e.kind.crd)
}

// FindOptionalKinds looks once which of the kinds that a cluster may lack are there, and watches those.
func (r *Reconciler) FindOptionalKinds(ctx context.Context) error {
	for _, k := range r.kinds() {
		gvk, err := apiutil.GVKForObject(k.empty(), r.Client.Scheme())
		if err != nil {
			return err
		}
		if _, err := r.Client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version); k.crd != "" && err == nil {
			r.startWatch(ctx, k.name, k.empty(), r.childHandler(k))
		}
	}
	return nil
}

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch

// crdMetadata is a CustomResourceDefinition without its schema.
func crdMetadata() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return object
}

// mayWatchCRDs asks the API server whether it lets us.
func (r *Reconciler) mayWatchCRDs(ctx context.Context) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	err := r.APIReader.List(ctx, list, client.Limit(1))
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	return err == nil, err
}

// crdHandler starts and stops watches as CustomResourceDefinitions come and go, and wakes the MyApps that ask for their kinds.
type crdHandler struct{ r *Reconciler }

// Create starts the watch of the kind.
func (h *crdHandler) Create(ctx context.Context, e event.CreateEvent, q queue) {
	h.each(ctx, e.Object, q, func(k kind) { h.r.startWatch(ctx, k.name, k.empty(), h.r.childHandler(k)) })
}

// Update does nothing: what counts is that the definition is there.
func (h *crdHandler) Update(context.Context, event.UpdateEvent, queue) {}

// Delete stops the watch of the kind.
func (h *crdHandler) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	h.each(ctx, e.Object, q, func(k kind) { h.r.stopWatch(ctx, k.name, k.empty()) })
}

// Generic is never called.
func (h *crdHandler) Generic(context.Context, event.GenericEvent, queue) {}

func (h *crdHandler) each(ctx context.Context, crd client.Object, q queue, act func(kind)) {
	for _, k := range h.r.kinds() {
		if k.crd == crd.GetName() {
			act(k)
			h.wake(ctx, q, k)
		}
	}
}

// wake wakes the MyApps that ask for a kind.
func (h *crdHandler) wake(ctx context.Context, q queue, k kind) {
	var apps v1beta1.MyAppList
	// A cache that does not answer has yet to show the MyApps, and each of them is looked at then.
	_ = h.r.Client.List(ctx, &apps)
	for i := range apps.Items {
		for _, c := range v1beta1.OptionalChildren {
			if c.Kind == k.name && c.Asked(&apps.Items[i].Spec) {
				q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&apps.Items[i])})
			}
		}
	}
}
