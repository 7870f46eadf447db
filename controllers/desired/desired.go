// Package desired builds what a MyApp's children should be. Every builder is a pure function from a MyApp (and, where a
// rule needs it, the live child) to an apply configuration that holds exactly the fields the operator owns; nil means that
// the child must not exist. Nothing here talks to a cluster, reads a clock or remembers anything.
//
// What a builder returns is compared with what the API server says we own, so an intent follows three rules: no empty
// list, map or string (the server drops it and the two would never agree); inside a struct or list that is applied as one
// (atomic) every field that the server would default is written; no key of a keyed list appears twice.
//
// A new kind of child is one file here with its builder and one line in the table of package controllers.
package desired

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Options are the operator's own settings that builders depend on.
type Options struct {
	// DefaultSecurityProfile is the profile of MyApps that name none. Empty means Baseline.
	DefaultSecurityProfile v1beta1.SecurityProfile
	// ServiceAnnotationPrefixes are the prefixes of the annotations that a MyApp may put on its Service. Empty means none.
	ServiceAnnotationPrefixes []string
	// IngressAnnotationPrefixes are the prefixes of the annotations that a MyApp may put on its Ingress; see
	// v1beta1.RefuseIngressAnnotation. Empty means none.
	IngressAnnotationPrefixes []string
	// DisabledChildren are the kinds, in any case, that the operator neither makes nor watches.
	DisabledChildren []string
	// RestartOnSecretChange lets data of Secrets count for rollout.restartOnConfigChange, not only that of ConfigMaps.
	RestartOnSecretChange bool
}

// Input is what every builder works from. App has its constant defaults.
type Input struct {
	Options
	App *v1beta1.MyApp
	// ExternallyScaled is set while an autoscaler that is not the MyApp's own chooses the number of pods.
	ExternallyScaled bool
	// Config is what was last read of the objects that ConfigRefs names.
	Config ConfigVersions
}

func (in Input) disabled(kind string) bool { return v1beta1.IsDisabled(kind, in.DisabledChildren) }

// labels returns the labels of every child.
func (in Input) labels() map[string]string {
	l := v1beta1.SelectorLabels(in.App.Name)
	l[v1beta1.LabelInstance] = in.App.Name
	return l
}

// annotations returns a child's annotations: the given ones, and under Orphan the identity that takes the place of the
// owner reference. Nil when there are none.
func (in Input) annotations(own map[string]string) map[string]string {
	if !in.orphan() {
		return own
	}
	all := map[string]string{v1beta1.AnnotationOwnerUID: string(in.App.UID)}
	maps.Copy(all, own)
	all[v1beta1.AnnotationOwnerUID] = string(in.App.UID)
	return all
}

// owner returns the controller reference of every child; nil under Orphan, where the garbage collector must find none.
func (in Input) owner() *metav1ac.OwnerReferenceApplyConfiguration {
	if in.orphan() {
		return nil
	}
	return metav1ac.OwnerReference().
		WithAPIVersion(v1beta1.GroupVersion.String()).
		WithKind(v1beta1.Kind.Kind).
		WithName(in.App.Name).
		WithUID(in.App.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

func (in Input) orphan() bool { return in.App.Spec.DeletionPolicy == v1beta1.DeletionPolicyOrphan }

// convert turns a value of the core API into its apply configuration, or copies one. Both have the same JSON, and the
// core types leave out what is empty.
func convert[T any](from any) *T {
	raw, err := json.Marshal(from)
	if err != nil {
		// The value came out of a decoded MyApp; it cannot hold what JSON cannot.
		panic(fmt.Sprintf("encode %T: %v", from, err))
	}
	to := new(T)
	if err := json.Unmarshal(raw, to); err != nil {
		panic(fmt.Sprintf("decode %T into %T: %v", from, to, err))
	}
	return to
}

// ptrTo returns a pointer to the value unless it is the zero value.
func ptrTo[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
