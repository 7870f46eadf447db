package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Check names what the children cannot carry and the API server would not refuse either, each with the path of the
// MyApp's field. Admission refuses all of it; this is for what was stored without admission.
func Check(in Input) []string {
	return slices.Concat(checkChildren(in), checkService(in), checkIngress(in), checkMetrics(in.App.Spec), checkProbes(in.App.Spec))
}

// checkChildren finds what the operator was told not to make.
func checkChildren(in Input) []string {
	var all []string
	for _, c := range v1beta1.OptionalChildren {
		if in.disabled(c.Kind) && c.Asked(&in.App.Spec) {
			all = append(all, fmt.Sprintf("%s: this operator makes no %s", c.Field, c.Kind))
		}
	}
	return all
}

func checkService(in Input) []string {
	spec := in.App.Spec
	var all []string
	if spec.ServiceType() == corev1.ServiceTypeClusterIP {
		for i, p := range spec.Ports {
			if p.NodePort != 0 {
				all = append(all, fmt.Sprintf("spec.ports[%d].nodePort: a Service of type ClusterIP has no node ports", i))
			}
		}
	}
	if spec.Service != nil {
		for _, key := range slices.Sorted(maps.Keys(spec.Service.Annotations)) {
			if !in.allowed(key) {
				all = append(all, fmt.Sprintf("spec.service.annotations[%s]: the operator does not allow this key", key))
			}
		}
	}
	return all
}

func checkIngress(in Input) []string {
	own := in.App.Spec.Ingress
	if own == nil {
		return nil
	}
	var all []string
	if in.App.Spec.TCPPort(own.Port) == nil {
		all = append(all, "spec.ingress.port: no TCP entry of spec.ports has this number")
	}
	for _, key := range slices.Sorted(maps.Keys(own.Annotations)) {
		if why := v1beta1.RefuseIngressAnnotation(key, own.Annotations[key], in.IngressAnnotationPrefixes); why != "" {
			all = append(all, fmt.Sprintf("spec.ingress.annotations[%s]: %s", key, why))
		}
	}
	return all
}

func checkMetrics(spec v1beta1.MyAppSpec) []string {
	if spec.Metrics == nil || spec.TCPPort(spec.Metrics.Port) != nil {
		return nil
	}
	return []string{"spec.metrics.port: no TCP entry of spec.ports has this number"}
}

func checkProbes(spec v1beta1.MyAppSpec) []string {
	if spec.Probes == nil {
		return nil
	}
	var all []string
	for _, p := range []struct {
		name  string
		probe *corev1.Probe
	}{{"liveness", spec.Probes.Liveness}, {"readiness", spec.Probes.Readiness}, {"startup", spec.Probes.Startup}} {
		for handler, port := range probePorts(p.probe) {
			if port = numericPort(port, spec.Ports); port.Type == intstr.String {
				all = append(all, fmt.Sprintf("spec.probes.%s.%s.port: no entry of spec.ports is called %q", p.name, handler, port.StrVal))
			}
		}
	}
	return all
}

func probePorts(p *corev1.Probe) map[string]intstr.IntOrString {
	switch {
	case p == nil:
		return nil
	case p.HTTPGet != nil:
		return map[string]intstr.IntOrString{"httpGet": p.HTTPGet.Port}
	case p.TCPSocket != nil:
		return map[string]intstr.IntOrString{"tcpSocket": p.TCPSocket.Port}
	default:
		return nil
	}
}

// allowed tells whether a MyApp may put an annotation of this key on its Service.
func (in Input) allowed(key string) bool {
	return slices.ContainsFunc(in.ServiceAnnotationPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// serviceAnnotations are those of the MyApp's annotations that the operator allows. Other controllers take orders from a
// Service's annotations, so the list holds without admission too.
func (in Input) serviceAnnotations() map[string]string {
	if in.App.Spec.Service == nil {
		return nil
	}
	kept := maps.Clone(in.App.Spec.Service.Annotations)
	maps.DeleteFunc(kept, func(key, _ string) bool { return !in.allowed(key) })
	return kept
}
