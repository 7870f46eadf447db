package v1beta1

import (
	"fmt"
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

// ServiceType is the type of the Service; NodePort when the spec says nothing.
func (s *MyAppSpec) ServiceType() corev1.ServiceType {
	if s.Service != nil && s.Service.Type != "" {
		return s.Service.Type
	}
	return corev1.ServiceTypeNodePort
}
