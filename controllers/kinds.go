package controllers

import (
	"reflect"
	"slices"

	certmanagerv1ac "github.com/cert-manager/cert-manager/pkg/client/applyconfigurations/certmanager/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// kinds are all kinds of children, in the order in which they are made. Everything else (informers, watches, creation,
// repair, adoption, pruning) follows from this table: a new kind is a builder in package desired and a line here.
var kinds = []kind{
	childKind(desired.Deployment, appsv1ac.ExtractDeployment),
	childKind(desired.Service, corev1ac.ExtractService),
	childKind(desired.Ingress, networkingv1ac.ExtractIngress),
	childKind(desired.Certificate, certmanagerv1ac.ExtractCertificate).servedBy("certificates.cert-manager.io"),
	childKind(desired.HorizontalPodAutoscaler, autoscalingv2ac.ExtractHorizontalPodAutoscaler),
	childKind(desired.PodDisruptionBudget, policyv1ac.ExtractPodDisruptionBudget),
	childKind(desired.ServiceMonitor, extractServiceMonitor).servedBy("servicemonitors.monitoring.coreos.com"),
}

// kinds are those that this operator makes.
func (r *Reconciler) kinds() []kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return v1beta1.IsDisabled(k.name, r.Options.DisabledChildren) })
}

// deploymentKind is the kind that the conditions are read from.
const deploymentKind = "Deployment"

// kind is one kind of child, with its Go types erased.
type kind struct {
	// name is the Kubernetes kind, as in "Deployment".
	name string
	// crd is the CustomResourceDefinition that a cluster may lack; empty for kinds that every cluster serves.
	crd string
	// empty returns a new, empty object.
	empty func() client.Object
	// render returns the intent as an apply configuration; nil means that the child must not exist. live may be nil.
	render func(in desired.Input, live client.Object) any
	// extract returns what we own of the live object, as an apply configuration.
	extract func(live client.Object) (any, error)
}

// childKind makes a table entry from a builder and the function that client-go generates beside the apply configuration.
func childKind[T any, P interface {
	*T
	client.Object
}, A any](build func(desired.Input, P) *A, extract func(P, string) (*A, error)) kind {
	return kind{
		name:  reflect.TypeFor[T]().Name(),
		empty: func() client.Object { return P(new(T)) },
		render: func(in desired.Input, live client.Object) any {
			object, _ := live.(P)
			if intent := build(in, object); intent != nil {
				return intent
			}
			return nil
		},
		extract: func(live client.Object) (any, error) { return extract(live.(P), v1beta1.OperatorName) },
	}
}

// servedBy marks a kind that a cluster has only with this CustomResourceDefinition.
func (k kind) servedBy(crd string) kind {
	k.crd = crd
	return k
}
