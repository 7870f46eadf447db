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
	spec := in.App.Spec
	var all []string
	if in.App.Spec.ServiceType() == corev1.ServiceTypeClusterIP {
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
	return append(all, checkProbes(spec)...)
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
