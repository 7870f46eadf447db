package webhooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validateService(path *field.Path, spec *v1beta1.MyAppSpec, prefixes []string) field.ErrorList {
	s := spec.Service
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if len(spec.Ports) == 0 {
		errs = append(errs, field.Forbidden(path, "needs spec.ports: without ports there is no Service; add a port or remove spec.service"))
	}
	if class := s.LoadBalancerClass; class != "" && len(content.IsLabelKey(class)) > 0 {
		errs = append(errs, field.Invalid(path.Child("loadBalancerClass"), class, "must be a name like internal, or one with a domain like example.com/internal"))
	}
	return append(errs, validateServiceAnnotations(path.Child("annotations"), s.Annotations, prefixes)...)
}

// idleSettings names the settings that the type of the Service leaves without effect. They are legal, so that a switch of
// the type alone succeeds in every direction.
func idleSettings(spec *v1beta1.MyAppSpec) []string {
	s, serviceType := spec.Service, spec.ServiceType()
	if s == nil {
		return nil
	}
	var all []string
	if s.ExternalTrafficPolicy != "" && serviceType == corev1.ServiceTypeClusterIP {
		all = append(all, "spec.service.externalTrafficPolicy: has no effect for the type ClusterIP; remove it, or choose NodePort or LoadBalancer")
	}
	if s.LoadBalancerClass != "" && serviceType != corev1.ServiceTypeLoadBalancer {
		all = append(all, "spec.service.loadBalancerClass: has an effect for the type LoadBalancer only; remove it, or choose that type")
	}
	return all
}

func validateServiceAnnotations(path *field.Path, annotations map[string]string, prefixes []string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		at := path.Key(key)
		switch {
		case !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }):
			errs = append(errs, field.Invalid(at, annotations[key], allowedPrefixes(prefixes)))
		case strings.ContainsAny(annotations[key], "\r\n"):
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, "must be a single line; remove the line breaks"))
		default:
			errs = append(errs, annotationKey(at, key)...)
		}
	}
	return append(errs, annotationsSize(path, annotations)...)
}

func allowedPrefixes(prefixes []string) string {
	if len(prefixes) == 0 {
		return "this operator allows no annotations on Services; remove it, or ask the platform's administrators for a prefix in --service-annotation-prefixes"
	}
	return fmt.Sprintf("this operator allows only keys that begin with %s; remove it, or ask the platform's administrators for another prefix in --service-annotation-prefixes",
		strings.Join(prefixes, " or "))
}

// validateServiceChange finds changes that the API server never makes on a living Service.
func validateServiceChange(path *field.Path, old, spec *v1beta1.MyAppSpec) field.ErrorList {
	if !isLoadBalancer(old) || !isLoadBalancer(spec) || old.Service.LoadBalancerClass == spec.Service.LoadBalancerClass {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("loadBalancerClass"), spec.Service.LoadBalancerClass,
		fmt.Sprintf("cannot change while the type stays LoadBalancer; put %q back, or switch to another type first", old.Service.LoadBalancerClass))}
}

func isLoadBalancer(spec *v1beta1.MyAppSpec) bool {
	return len(spec.Ports) > 0 && spec.ServiceType() == corev1.ServiceTypeLoadBalancer
}
