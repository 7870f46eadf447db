package v1beta1

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// What admission and the builders must agree on about ports. None of it is ever stored.

// PortProtocol is the protocol of a port; TCP when it says nothing.
func PortProtocol(p corev1.ServicePort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}

// MadeUpPortName is the name of a port that has none, in a Service of several. It depends on the port's own key alone, so
// that reordering or inserting ports changes no other port.
func MadeUpPortName(p corev1.ServicePort) string {
	return fmt.Sprintf("%s-%d", strings.ToLower(string(PortProtocol(p))), p.Port)
}

// ServiceType is the type of the Service. When the spec says nothing it is ClusterIP behind an Ingress, unless a port pins
// its node port, and else NodePort.
func (s *MyAppSpec) ServiceType() corev1.ServiceType {
	pinned := func(p corev1.ServicePort) bool { return p.NodePort != 0 }
	switch {
	case s.Service != nil && s.Service.Type != "":
		return s.Service.Type
	case s.Ingress != nil && !slices.ContainsFunc(s.Ports, pinned):
		return corev1.ServiceTypeClusterIP
	default:
		return corev1.ServiceTypeNodePort
	}
}

// TCPPort is the entry of spec.ports that an Ingress or a monitor uses: the one with this number, or the first one when
// no number is given; nil when there is none. Only TCP ports count.
func (s *MyAppSpec) TCPPort(number *int32) *corev1.ServicePort {
	for i, p := range s.Ports {
		if PortProtocol(p) == corev1.ProtocolTCP && (number == nil || *number == p.Port) {
			return &s.Ports[i]
		}
	}
	return nil
}
