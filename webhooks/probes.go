package webhooks

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validateProbes(path *field.Path, probes *v1beta1.Probes, ports []corev1.ServicePort) field.ErrorList {
	if probes == nil {
		return nil
	}
	return slices.Concat(
		validateProbe(path.Child("liveness"), probes.Liveness, ports),
		succeedsOnce(path.Child("liveness"), probes.Liveness),
		validateProbe(path.Child("readiness"), probes.Readiness, ports),
		killsNothing(path.Child("readiness"), probes.Readiness),
		validateProbe(path.Child("startup"), probes.Startup, ports),
		succeedsOnce(path.Child("startup"), probes.Startup))
}

// succeedsOnce: only a readiness probe can be asked to succeed several times.
func succeedsOnce(path *field.Path, p *corev1.Probe) field.ErrorList {
	if p == nil || p.SuccessThreshold <= 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("successThreshold"), p.SuccessThreshold, "must be 1 for this probe; remove it")}
}

// killsNothing: a failing readiness probe ends no container, so it has no grace period.
func killsNothing(path *field.Path, p *corev1.Probe) field.ErrorList {
	if p == nil || p.TerminationGracePeriodSeconds == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("terminationGracePeriodSeconds"), "a readiness probe ends no container; remove it")}
}

func validateProbe(path *field.Path, p *corev1.Probe, ports []corev1.ServicePort) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := slices.Concat(
		validateHandler(path, p.ProbeHandler, ports),
		notNegative(path.Child("initialDelaySeconds"), p.InitialDelaySeconds),
		notNegative(path.Child("timeoutSeconds"), p.TimeoutSeconds),
		notNegative(path.Child("periodSeconds"), p.PeriodSeconds),
		notNegative(path.Child("successThreshold"), p.SuccessThreshold),
		notNegative(path.Child("failureThreshold"), p.FailureThreshold))
	if grace := p.TerminationGracePeriodSeconds; grace != nil && *grace <= 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *grace, "must be above 0"))
	}
	return errs
}

func notNegative(path *field.Path, value int32) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must not be negative")}
}

const oneHandler = "give exactly one of httpGet, tcpSocket, exec and grpc"

func validateHandler(path *field.Path, h corev1.ProbeHandler, ports []corev1.ServicePort) field.ErrorList {
	var errs field.ErrorList
	switch count(h.HTTPGet != nil, h.TCPSocket != nil, h.Exec != nil, h.GRPC != nil) {
	case 1:
	case 0:
		errs = append(errs, field.Required(path, oneHandler))
	default:
		errs = append(errs, field.Forbidden(path, oneHandler))
	}
	if h.Exec != nil && len(h.Exec.Command) == 0 {
		errs = append(errs, field.Required(path.Child("exec", "command"), "give the command to run"))
	}
	if t := h.TCPSocket; t != nil {
		errs = append(errs, probePort(path.Child("tcpSocket", "port"), t.Port, ports)...)
		errs = append(errs, noHost(path.Child("tcpSocket", "host"), t.Host)...)
	}
	return slices.Concat(errs,
		validateHTTPGet(path.Child("httpGet"), h.HTTPGet, ports),
		validateGRPC(path.Child("grpc"), h.GRPC))
}

// alphaField is said of fields that an API server without the feature gate drops silently: what was applied would then
// never equal what is stored, and the operator would apply it for ever.
const alphaField = "is an alpha feature that API servers drop unless told otherwise; remove it"

func validateHTTPGet(path *field.Path, get *corev1.HTTPGetAction, ports []corev1.ServicePort) field.ErrorList {
	if get == nil {
		return nil
	}
	errs := slices.Concat(
		probePort(path.Child("port"), get.Port, ports),
		noHost(path.Child("host"), get.Host),
		oneOf(path.Child("scheme"), get.Scheme, "", corev1.URISchemeHTTP, corev1.URISchemeHTTPS))
	for i, h := range get.HTTPHeaders {
		if len(validation.IsHTTPHeaderName(h.Name)) > 0 {
			errs = append(errs, field.Invalid(path.Child("httpHeaders").Index(i).Child("name"), h.Name, "is no header's name; use letters, digits and '-'"))
		}
	}
	if get.Protocol != nil {
		errs = append(errs, field.Forbidden(path.Child("protocol"), alphaField))
	}
	return errs
}

func validateGRPC(path *field.Path, g *corev1.GRPCAction) field.ErrorList {
	if g == nil {
		return nil
	}
	errs := portNumber(path.Child("port"), g.Port)
	if g.Mode != nil {
		errs = append(errs, field.Forbidden(path.Child("mode"), alphaField))
	}
	return errs
}

// noHost refuses a way for whoever may write a MyApp to make nodes call any address they can reach. Pod Security's
// "baseline" refuses it too.
func noHost(path *field.Path, host string) field.ErrorList {
	if host == "" {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "would make the node call another host than the pod; remove it, and use httpHeaders for a Host header")}
}

// probePort takes a number or the name of an entry of spec.ports, which stands for the pod port behind it.
func probePort(path *field.Path, port intstr.IntOrString, ports []corev1.ServicePort) field.ErrorList {
	if port.Type == intstr.Int {
		return portNumber(path, port.IntVal)
	}
	serves := func(p corev1.ServicePort) bool {
		return p.Name != "" && p.Name == port.StrVal && keyOf(p).protocol == corev1.ProtocolTCP
	}
	switch {
	case slices.ContainsFunc(ports, serves):
		return nil
	case isQuotedNumber(port):
		return field.ErrorList{field.Invalid(path, port.StrVal, "is a number in quotes, which makes it a name; drop the quotes")}
	default:
		return field.ErrorList{field.Invalid(path, port.StrVal, "must be a number or the name of a TCP entry of spec.ports")}
	}
}
