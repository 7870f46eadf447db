package v1beta1

import (
	"slices"
	"strings"
)

// OptionalChild is a kind of child that exists only where a spec asks for it by a field of its own.
// +kubebuilder:object:generate=false
type OptionalChild struct {
	// Kind is the Kubernetes kind, as in "Ingress".
	Kind string
	// Field is the path of the field that asks for it.
	Field string
	// Asked tells whether a spec does.
	Asked func(*MyAppSpec) bool
}

// OptionalChildren are all of them. --disable-children takes their kinds in lower case. A PodDisruptionBudget counts as
// asked for when the spec has its block; where it follows from the size alone nobody misses it.
var OptionalChildren = []OptionalChild{
	{"Ingress", "spec.ingress", func(s *MyAppSpec) bool { return s.Ingress != nil }},
	{"Certificate", "spec.ingress.tls.issuerRef", func(s *MyAppSpec) bool {
		return s.Ingress != nil && s.Ingress.TLS != nil && s.Ingress.TLS.IssuerRef != nil
	}},
	{"HorizontalPodAutoscaler", "spec.autoscaling", func(s *MyAppSpec) bool { return s.Autoscaling != nil }},
	{"PodDisruptionBudget", "spec.podDisruptionBudget", func(s *MyAppSpec) bool {
		return s.PodDisruptionBudget != nil && !s.PodDisruptionBudget.Disabled
	}},
	{"ServiceMonitor", "spec.metrics", func(s *MyAppSpec) bool { return s.Metrics != nil }},
}

// IsOptional tells whether a kind of child exists only where a spec asks for it.
func IsOptional(kind string) bool {
	return slices.ContainsFunc(OptionalChildren, func(c OptionalChild) bool { return strings.EqualFold(c.Kind, kind) })
}

// IsDisabled tells whether a kind of child is among those of --disable-children.
func IsDisabled(kind string, disabled []string) bool {
	return slices.ContainsFunc(disabled, func(d string) bool { return strings.EqualFold(d, kind) })
}
