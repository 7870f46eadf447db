package desired

import (
	"cmp"
	"maps"

	networkingv1 "k8s.io/api/networking/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=get;list;watch;create;patch;delete

// Ingress builds the Ingress; nil without one, or without a port that it could lead to.
func Ingress(in Input, live *networkingv1.Ingress) *networkingv1ac.IngressApplyConfiguration {
	app, own := in.App, in.App.Spec.Ingress
	if own == nil {
		return nil
	}
	port := app.Spec.TCPPort(own.Port)
	if port == nil {
		return nil
	}
	backend := networkingv1ac.IngressServiceBackend().
		WithName(app.Name).
		WithPort(networkingv1ac.ServiceBackendPort().WithNumber(port.Port))
	path := networkingv1ac.HTTPIngressPath().
		WithPath(cmp.Or(own.Path, "/")).
		WithPathType(networkingv1.PathType(cmp.Or(own.PathType, string(networkingv1.PathTypePrefix)))).
		WithBackend(networkingv1ac.IngressBackend().WithService(backend))
	spec := networkingv1ac.IngressSpec().WithRules(networkingv1ac.IngressRule().
		WithHost(own.Host).
		WithHTTP(networkingv1ac.HTTPIngressRuleValue().WithPaths(path)))
	if own.TLS != nil {
		spec.WithTLS(networkingv1ac.IngressTLS().WithHosts(own.Host).WithSecretName(tlsSecret(app)))
	}
	spec.IngressClassName = ptrTo(className(own, live))
	i := networkingv1ac.Ingress(app.Name, app.Namespace).
		WithLabels(in.labels()).
		WithAnnotations(in.annotations(in.ingressAnnotations())).
		WithSpec(spec)
	if owner := in.owner(); owner != nil {
		i.WithOwnerReferences(owner)
	}
	return i
}

// className is the class to ask for; empty leaves it to the cluster. The API server gives a class only to a new Ingress,
// so one that the MyApp no longer names is kept: without it the host would be served by nobody.
func className(own *v1beta1.IngressSpec, live *networkingv1.Ingress) string {
	if own.ClassName != "" || live == nil {
		return own.ClassName
	}
	applied, err := networkingv1ac.ExtractIngress(live, v1beta1.OperatorName)
	if err != nil || applied.Spec == nil || applied.Spec.IngressClassName == nil {
		return ""
	}
	return *applied.Spec.IngressClassName
}

// tlsSecret is the Secret that the Ingress takes its certificate from.
func tlsSecret(app *v1beta1.MyApp) string {
	return cmp.Or(app.Spec.Ingress.TLS.SecretName, app.Name+"-tls")
}

// ingressAnnotations are those of the MyApp's annotations that the operator allows. Ingress controllers take orders from
// them, so the list holds without admission too.
func (in Input) ingressAnnotations() map[string]string {
	kept := maps.Clone(in.App.Spec.Ingress.Annotations)
	maps.DeleteFunc(kept, func(key, value string) bool {
		return v1beta1.RefuseIngressAnnotation(key, value, in.IngressAnnotationPrefixes) != ""
	})
	return kept
}
