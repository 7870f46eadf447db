package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// observed is everything we know of a MyApp's children, read from the cache.
type observed struct {
	// children holds the cached object of every kind that has one, whoever it belongs to.
	children map[string]client.Object
	// pods are the MyApp's pods, in no order, those that are ending included.
	pods []corev1.Pod
}

// mine returns the child of this type if there is one and it belongs to the MyApp, else nil.
func mine[P client.Object](o observed, app *v1beta1.MyApp) P {
	for _, c := range o.children {
		if object, ok := c.(P); ok && owns(app, object) {
			return object
		}
	}
	var none P
	return none
}

// podsByApp is the name of the cache index of pods by the MyApp they belong to.
const podsByApp = "app"

// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch

// gather reads the children. It asks the cache only.
func (r *Reconciler) gather(ctx context.Context, app *v1beta1.MyApp) (observed, error) {
	o := observed{children: map[string]client.Object{}}
	for _, k := range r.kinds() {
		if r.unavailable(k) != nil {
			continue
		}
		object := k.empty()
		err := r.Client.Get(ctx, client.ObjectKeyFromObject(app), object)
		switch {
		case err == nil:
			o.children[k.name] = object
		case !apierrors.IsNotFound(err):
			return o, fmt.Errorf("read %s from the cache: %w", k.name, err)
		}
	}
	var pods corev1.PodList
	err := r.Client.List(ctx, &pods, client.InNamespace(app.Namespace), client.MatchingFields{podsByApp: app.Name})
	if err != nil {
		return o, fmt.Errorf("list pods from the cache: %w", err)
	}
	o.pods = pods.Items
	return o, nil
}

// CacheOptions limits what the manager keeps in memory to what the reconciler reads: our own children, by label, with our
// own managedFields entry, and pods cut down to what tells their state. Memory grows with our MyApps, not with the cluster.
func CacheOptions() cache.Options {
	name := cache.ByObject{Label: labels.Everything(), Transform: keepVersion}
	return cache.Options{
		// Every child, also of a kind that the cluster has yet to know: a table by kind may name none of those.
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{v1beta1.LabelManagedBy: v1beta1.OperatorName}),
		DefaultTransform:     keepOurFields,
		ByObject: map[client.Object]cache.ByObject{
			&v1beta1.MyApp{}:                      {Label: labels.Everything(), Transform: cache.TransformStripManagedFields()},
			&corev1.Pod{}:                         {Transform: trimPod},
			crdMetadata():                         name,
			configMetadata(desired.KindConfigMap): name,
			configMetadata(desired.KindSecret):    name,
		},
		ReaderFailOnMissingInformer: true,
	}
}

// keepVersion keeps an object's name and version.
func keepVersion(object any) (any, error) {
	m, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: m.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
	}}, nil
}

// keepOurFields drops the managedFields entries of others, which are most of a child's size, but for those that tell of an
// autoscaler or of an earlier operator.
func keepOurFields(object any) (any, error) {
	if m, ok := object.(metav1.Object); ok {
		var kept []metav1.ManagedFieldsEntry
		for _, e := range m.GetManagedFields() {
			if isOurs(e) || isScale(e) || isFormer(e) {
				kept = append(kept, e)
			}
		}
		m.SetManagedFields(kept)
	}
	return object, nil
}

// trimPod keeps what tells a pod's state.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	status := pod.Status
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			DeletionTimestamp: pod.DeletionTimestamp,
			Labels: map[string]string{
				v1beta1.LabelName:      pod.Labels[v1beta1.LabelName],
				v1beta1.LabelManagedBy: pod.Labels[v1beta1.LabelManagedBy],
			},
		},
		Status: corev1.PodStatus{
			Phase:                 status.Phase,
			Conditions:            trimConditions(status.Conditions),
			InitContainerStatuses: trimContainers(status.InitContainerStatuses),
			ContainerStatuses:     trimContainers(status.ContainerStatuses),
		},
	}, nil
}

func trimConditions(all []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range all {
		if c.Type == corev1.PodScheduled || c.Type == corev1.PodReady {
			kept = append(kept, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
		}
	}
	return kept
}

func trimContainers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, c := range all {
		kept = append(kept, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: c.Ready, RestartCount: c.RestartCount,
			State: c.State, LastTerminationState: c.LastTerminationState,
		})
	}
	return kept
}

// IndexPods adds the index that the reconciler finds a MyApp's pods by.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	return indexer.IndexField(ctx, &corev1.Pod{}, podsByApp, podApp)
}

func podApp(pod client.Object) []string { return []string{pod.GetLabels()[v1beta1.LabelName]} }
