package webhooks

import (
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validateIngress(path *field.Path, spec *v1beta1.MyAppSpec, prefixes []string) field.ErrorList {
	own := spec.Ingress
	if own == nil {
		return nil
	}
	errs := slices.Concat(
		ingressHost(path.Child("host"), own.Host),
		ingressPath(path.Child("path"), own),
		oneOf(path.Child("pathType"), networkingv1.PathType(own.PathType),
			"", networkingv1.PathTypePrefix, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific),
		tcpEntry(path, spec, own.Port),
		validateIngressAnnotations(path.Child("annotations"), own, prefixes),
		validateIngressTLS(path.Child("tls"), own.TLS))
	if own.ClassName != "" {
		errs = append(errs, objectName(path.Child("className"), own.ClassName)...)
	}
	return errs
}

func ingressHost(path *field.Path, host string) field.ErrorList {
	isName := validation.IsDNS1123Subdomain
	if strings.Contains(host, "*") {
		isName = validation.IsWildcardDNS1123Subdomain
	}
	var problem string
	switch {
	case host == "":
		return field.ErrorList{field.Required(path, "give the DNS name that the traffic asks for")}
	case netutils.ParseIPSloppy(host) != nil:
		problem = "must be a DNS name, not an IP address; an Ingress tells requests apart by name"
	case len(isName(host)) > 0:
		problem = "must be a DNS name as shop.example.com, or *.example.com for all names one level below: lower case letters, digits, '-' and '.', without a port"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, host, problem)}
}

// unsafeInPath are characters by which a path could break out of the configuration that an ingress controller generates.
const unsafeInPath = " \t\r\n\v\f\"'{};\\$"

// escapes are parts of a path that mean another path once it is normalized. Where the ingress controller alone gives the
// path its meaning it may be a pattern, which can hold them.
var escapes = []string{"//", "/./", "/../", "%2f", "%2F"}

func ingressPath(path *field.Path, own *v1beta1.IngressSpec) field.ErrorList {
	value, literal := own.Path, own.PathType != string(networkingv1.PathTypeImplementationSpecific)
	var problem string
	switch {
	case value == "":
		return nil
	case !strings.HasPrefix(value, "/"):
		problem = "must be absolute; begin it with '/'"
	case strings.ContainsAny(value, unsafeInPath):
		problem = "must not hold white space, quotes, braces, semicolons, backslashes or '$', which can break out of the ingress controller's configuration; encode or remove them"
	case literal && slices.ContainsFunc(escapes, func(part string) bool { return strings.Contains(value, part) }),
		literal && (strings.HasSuffix(value, "/.") || strings.HasSuffix(value, "/..")):
		problem = "must not hold '//', '/./', '/../' or an encoded slash, nor end with '/.' or '/..'; write the plain path"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, problem)}
}

// validateIngressAnnotations shows the value, so that a stored annotation that is no longer allowed cannot get another one.
func validateIngressAnnotations(path *field.Path, own *v1beta1.IngressSpec, prefixes []string) field.ErrorList {
	issued := own.TLS != nil && own.TLS.IssuerRef != nil
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(own.Annotations)) {
		at, value := path.Key(key), own.Annotations[key]
		detail := answeredByField(key, issued)
		if detail == "" {
			detail = v1beta1.RefuseIngressAnnotation(key, value, prefixes)
		}
		if detail != "" {
			errs = append(errs, field.Invalid(at, value, detail))
			continue
		}
		errs = append(errs, annotationKey(at, key)...)
	}
	return append(errs, annotationsSize(path, own.Annotations)...)
}

const (
	ingressClassAnnotation = "kubernetes.io/ingress.class"
	// tlsACMEAnnotation makes cert-manager issue a certificate as its own annotations do.
	tlsACMEAnnotation  = "kubernetes.io/tls-acme"
	certManagerPrefix  = "cert-manager.io/"
	certManagerHandles = "would make cert-manager keep a second certificate in the same Secret; remove it, since tls.issuerRef makes the certificate"
)

// answeredByField refuses annotations, allowed or not, that say what a field of the MyApp says; empty for others.
func answeredByField(key string, issued bool) string {
	switch {
	case key == ingressClassAnnotation:
		return "is the old form of the class; remove it and use spec.ingress.className"
	case issued && (strings.HasPrefix(key, certManagerPrefix) || key == tlsACMEAnnotation):
		return certManagerHandles
	default:
		return ""
	}
}

func validateIngressTLS(path *field.Path, tls *v1beta1.IngressTLS) field.ErrorList {
	if tls == nil {
		return nil
	}
	var errs field.ErrorList
	if tls.SecretName == "" && tls.IssuerRef == nil {
		errs = append(errs, field.Required(path, "give secretName for a certificate that is there, or issuerRef to have one issued"))
	}
	if tls.SecretName != "" {
		errs = append(errs, objectName(path.Child("secretName"), tls.SecretName)...)
	}
	if r := tls.IssuerRef; r != nil {
		at := path.Child("issuerRef")
		errs = slices.Concat(errs, objectName(at.Child("name"), r.Name), oneOf(at.Child("kind"), r.Kind, "", "Issuer", "ClusterIssuer"))
	}
	return errs
}
