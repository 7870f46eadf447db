package desired

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// +kubebuilder:rbac:groups=core,resources=services,verbs=get;list;watch;create;patch;delete

// Service builds the Service of the MyApp's ports; nil when there are none.
func Service(in Input, live *corev1.Service) *corev1ac.ServiceApplyConfiguration {
	app := in.App
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	spec := corev1ac.ServiceSpec().
		WithType(app.Spec.ServiceType()).
		WithSelector(v1beta1.SelectorLabels(app.Name)).
		WithPorts(servicePorts(app, live)...)
	settings := app.Spec.Service
	if settings == nil {
		settings = &v1beta1.ServiceSpec{}
	}
	applyServiceSettings(spec, settings)
	svc := corev1ac.Service(app.Name, app.Namespace).
		WithLabels(in.labels()).
		WithAnnotations(in.annotations(in.serviceAnnotations())).
		WithSpec(spec)
	if owner := in.owner(); owner != nil {
		svc.WithOwnerReferences(owner)
	}
	return svc
}

// applyServiceSettings writes the settings that fit the type: the API server refuses the others.
func applyServiceSettings(spec *corev1ac.ServiceSpecApplyConfiguration, settings *v1beta1.ServiceSpec) {
	spec.InternalTrafficPolicy = ptrTo(settings.InternalTrafficPolicy)
	spec.SessionAffinity = ptrTo(settings.SessionAffinity)
	if *spec.Type != corev1.ServiceTypeClusterIP {
		spec.ExternalTrafficPolicy = ptrTo(settings.ExternalTrafficPolicy)
	}
	if *spec.Type == corev1.ServiceTypeLoadBalancer {
		spec.LoadBalancerClass = ptrTo(settings.LoadBalancerClass)
	}
}

func servicePorts(app *v1beta1.MyApp, live *corev1.Service) []*corev1ac.ServicePortApplyConfiguration {
	var ports []*corev1ac.ServicePortApplyConfiguration
	for _, p := range app.Spec.Ports {
		port := corev1ac.ServicePort().
			WithPort(p.Port).
			WithProtocol(v1beta1.PortProtocol(p)).
			WithTargetPort(intstr.FromInt32(podPort(p)))
		port.Name = ptrTo(portName(app.Spec.Ports, p))
		port.AppProtocol = p.AppProtocol
		if app.Spec.ServiceType() != corev1.ServiceTypeClusterIP {
			port.NodePort = ptrTo(nodePort(p, ptrDeref(port.Name), live))
		}
		ports = append(ports, port)
	}
	return ports
}

// nodePort is the node port to ask for: the pinned one, else 0, which leaves the choice to the API server.
//
// An allocated node port survives all changes without our help: one that we never applied is not ours to drop, and one
// that was pinned before is kept by the API server, which looks it up by the port's name. Only a port that is renamed and
// un-pinned in the same step would lose it, so there the live value is asked for once more.
func nodePort(p corev1.ServicePort, name string, live *corev1.Service) int32 {
	if p.NodePort != 0 || live == nil {
		return p.NodePort
	}
	for _, l := range live.Spec.Ports {
		if l.Port == p.Port && v1beta1.PortProtocol(l) == v1beta1.PortProtocol(p) && l.Name != name && pinned(live, l) {
			return l.NodePort
		}
	}
	return 0
}

// pinned tells whether the live node port is one that we applied.
func pinned(live *corev1.Service, port corev1.ServicePort) bool {
	applied, err := corev1ac.ExtractService(live, v1beta1.OperatorName)
	if err != nil || applied.Spec == nil {
		return false
	}
	return slices.ContainsFunc(applied.Spec.Ports, func(a corev1ac.ServicePortApplyConfiguration) bool {
		return a.NodePort != nil && *a.NodePort == port.NodePort
	})
}

func ptrDeref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
