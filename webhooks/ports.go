package webhooks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// portKey is what makes a port of a Service one of its own: DNS serves 53/TCP and 53/UDP side by side.
type portKey struct {
	port     int32
	protocol corev1.Protocol
}

func keyOf(p corev1.ServicePort) portKey { return portKey{p.Port, v1beta1.PortProtocol(p)} }

func (k portKey) String() string { return fmt.Sprintf("%d/%s", k.port, k.protocol) }

func validatePorts(path *field.Path, ports []corev1.ServicePort, service corev1.ServiceType) field.ErrorList {
	var errs field.ErrorList
	for i, p := range ports {
		errs = append(errs, validatePort(path.Index(i), p)...)
	}
	return slices.Concat(errs,
		duplicatePorts(path, ports),
		duplicatePortNames(path, ports),
		validateNodePorts(path, ports, service))
}

func validatePort(path *field.Path, p corev1.ServicePort) field.ErrorList {
	errs := slices.Concat(
		portNumber(path.Child("port"), p.Port),
		oneOf(path.Child("protocol"), p.Protocol, "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
		validateTargetPort(path.Child("targetPort"), p.TargetPort))
	if p.Name != "" && len(content.IsDNS1123Label(p.Name)) > 0 {
		errs = append(errs, field.Invalid(path.Child("name"), p.Name, "must be at most 63 lower case letters, digits and '-', with a letter or digit at each end"))
	}
	if a := p.AppProtocol; a != nil && len(content.IsLabelKey(*a)) > 0 {
		errs = append(errs, field.Invalid(path.Child("appProtocol"), *a, "must be a name like http, or one with a domain like example.com/protocol"))
	}
	return errs
}

// validateTargetPort refuses names. A name would have to be declared on the container, and two Service ports could declare
// one name for two numbers; a number cannot dangle.
func validateTargetPort(path *field.Path, target intstr.IntOrString) field.ErrorList {
	if target.Type == intstr.Int {
		if target.IntVal == 0 {
			return nil
		}
		return portNumber(path, target.IntVal)
	}
	if isQuotedNumber(target) {
		return field.ErrorList{field.Invalid(path, target.StrVal, "is a number in quotes, which makes it a name; drop the quotes")}
	}
	return field.ErrorList{field.Invalid(path, target.StrVal, "must not be a name; use the number that the application listens on")}
}

func isQuotedNumber(port intstr.IntOrString) bool {
	_, err := strconv.Atoi(strings.TrimSpace(port.StrVal))
	return port.Type == intstr.String && err == nil
}

func duplicatePorts(path *field.Path, ports []corev1.ServicePort) field.ErrorList {
	var errs field.ErrorList
	seen := map[portKey]bool{}
	for i, p := range ports {
		key := keyOf(p)
		if seen[key] {
			errs = append(errs, duplicate(path.Index(i), key.String(), "each pair of port and protocol may appear once, and no protocol means TCP; remove one entry or change its port"))
		}
		seen[key] = true
	}
	return errs
}

// duplicatePortNames also finds a given name that is the one made up for another entry.
func duplicatePortNames(path *field.Path, ports []corev1.ServicePort) field.ErrorList {
	madeUp := map[string]portKey{}
	for _, p := range ports {
		if p.Name == "" && len(ports) > 1 {
			madeUp[v1beta1.MadeUpPortName(p)] = keyOf(p)
		}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, p := range ports {
		unnamed, taken := madeUp[p.Name]
		switch {
		case p.Name == "":
		case seen[p.Name]:
			errs = append(errs, duplicate(path.Index(i).Child("name"), p.Name, "another port has this name; choose a different one"))
		case taken && unnamed != keyOf(p):
			errs = append(errs, duplicate(path.Index(i).Child("name"), p.Name, fmt.Sprintf("this is the name made up for %s, which has none; choose a different one or name both", unnamed)))
		}
		seen[p.Name] = true
	}
	return errs
}

func validateNodePorts(path *field.Path, ports []corev1.ServicePort, service corev1.ServiceType) field.ErrorList {
	var errs field.ErrorList
	seen := map[portKey]bool{}
	for i, p := range ports {
		if p.NodePort == 0 {
			continue
		}
		at, key := path.Index(i).Child("nodePort"), portKey{p.NodePort, keyOf(p).protocol}
		switch {
		case service == corev1.ServiceTypeClusterIP:
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("nodePort %d cannot be had while spec.service.type is ClusterIP; remove nodePort or choose the type NodePort", p.NodePort)))
		case seen[key]:
			errs = append(errs, duplicate(at, key.String(), "another port asks for this node port; choose a different one"))
		default:
			errs = append(errs, portNumber(at, p.NodePort)...)
		}
		seen[key] = true
	}
	return errs
}

// tcpEntry judges the port of a block that uses an entry of spec.ports; number is nil for the first one.
func tcpEntry(path *field.Path, spec *v1beta1.MyAppSpec, number *int32) field.ErrorList {
	switch {
	case spec.TCPPort(nil) == nil:
		return field.ErrorList{field.Forbidden(path, "needs a TCP entry in spec.ports; add one or remove this block")}
	case spec.TCPPort(number) == nil:
		return field.ErrorList{field.Invalid(path.Child("port"), *number, "must be the port (not the targetPort or nodePort) of a TCP entry of spec.ports; choose one of those or leave it out for the first")}
	default:
		return nil
	}
}
