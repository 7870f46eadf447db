package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get;list;watch

// config tells what the data is that restarts the pods. The watch shows versions only; an object is read when its version
// is not the one recorded on the Deployment, and only then, so a pass over what is known sends no request.
func (r *Reconciler) config(ctx context.Context, p *pass) (desired.ConfigVersions, error) {
	refs := p.input.ConfigRefs()
	if len(refs) == 0 {
		return nil, nil
	}
	var recorded desired.ConfigVersions
	if d := mine[*appsv1.Deployment](p.observed, p.app); d != nil {
		recorded = desired.RecordedConfig(d.Annotations)
	}
	all := desired.ConfigVersions{}
	var failures []error
	for _, ref := range refs {
		last, known := recorded[ref.ID()]
		if known && last.Scope == ref.Scope() && !r.configChanged(ctx, p.app.Namespace, ref, last) {
			all[ref.ID()] = last
			continue
		}
		next, err := r.readConfig(ctx, p.app.Namespace, ref, last)
		if err != nil {
			failures = append(failures, err)
			if next = last; !known {
				continue
			}
		}
		all[ref.ID()] = next
	}
	return all, errors.Join(failures...)
}

// configChanged tells whether the watch shows another version than the recorded one. It starts the watch when this is the
// first MyApp to ask. A missing object is no change: pods that run keep what they have.
func (r *Reconciler) configChanged(ctx context.Context, namespace string, ref desired.ConfigRef, last desired.ConfigVersion) bool {
	r.watchConfig(ctx, ref.Kind)
	if !r.watches.synced(ref.Kind) {
		return false
	}
	seen := configMetadata(ref.Kind)
	if err := r.Cache.Get(ctx, types.NamespacedName{Namespace: namespace, Name: ref.Name}, seen); err != nil {
		return false
	}
	return seen.ResourceVersion != last.Version && !older(seen.ResourceVersion, last.Version)
}

// readConfig reads the object. One that is missing, as a whole or in a key, leaves the fingerprint as it was.
func (r *Reconciler) readConfig(
	ctx context.Context, namespace string, ref desired.ConfigRef, last desired.ConfigVersion,
) (desired.ConfigVersion, error) {
	r.watchConfig(ctx, ref.Kind)
	object := configObject(ref.Kind)
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: ref.Name}, object)
	if client.IgnoreNotFound(err) != nil {
		return last, fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
	}
	data := desired.DataOf(object)
	next := desired.ConfigVersion{Version: object.GetResourceVersion(), Scope: ref.Scope(), Hash: ref.Hash(data)}
	lacks := func(key string) bool { _, ok := data[key]; return !ok }
	if last.Scope == next.Scope && last.Hash != "" && (apierrors.IsNotFound(err) || slices.ContainsFunc(ref.Keys, lacks)) {
		next.Hash = last.Hash
	}
	return next, nil
}

// appsByConfig is the name of the cache index of MyApps by the objects whose data restarts their pods.
const appsByConfig = "config"

func (r *Reconciler) configOf(object client.Object) []string {
	var all []string
	for _, ref := range (desired.Input{Options: r.Options, App: object.(*v1beta1.MyApp)}).ConfigRefs() {
		all = append(all, ref.ID())
	}
	return all
}

// watchConfig watches the versions of ConfigMaps or Secrets from the first MyApp on that asks.
func (r *Reconciler) watchConfig(ctx context.Context, kind string) {
	wake := func(ctx context.Context, object client.Object) []reconcile.Request {
		var apps v1beta1.MyAppList
		id := desired.ConfigRef{Kind: kind, Name: object.GetName()}.ID()
		// A cache that does not answer has yet to show the MyApps, and each of them is looked at then.
		_ = r.Client.List(ctx, &apps, client.InNamespace(object.GetNamespace()), client.MatchingFields{appsByConfig: id})
		var all []reconcile.Request
		for i := range apps.Items {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&apps.Items[i])})
		}
		return all
	}
	r.startWatch(ctx, kind, configMetadata(kind), handler.EnqueueRequestsFromMapFunc(wake))
}

func configObject(kind string) client.Object {
	if kind == desired.KindSecret {
		return &corev1.Secret{}
	}
	return &corev1.ConfigMap{}
}

// configMetadata is such an object without its data.
func configMetadata(kind string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return object
}
