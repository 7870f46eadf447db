package webhooks

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateAffinity(path *field.Path, a *corev1.Affinity) field.ErrorList {
	if a == nil {
		return nil
	}
	var errs field.ErrorList
	if n := a.NodeAffinity; n != nil {
		errs = append(errs, nodeAffinity(path.Child("nodeAffinity"), n)...)
	}
	if p := a.PodAffinity; p != nil {
		errs = append(errs, podTerms(path.Child("podAffinity"),
			p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	if p := a.PodAntiAffinity; p != nil {
		errs = append(errs, podTerms(path.Child("podAntiAffinity"),
			p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	return errs
}

const requiredTerms, preferredTerms = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"

func nodeAffinity(path *field.Path, n *corev1.NodeAffinity) field.ErrorList {
	var errs field.ErrorList
	if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		at := path.Child(requiredTerms, "nodeSelectorTerms")
		if len(r.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(at, "give at least one term, or remove the block"))
		}
		for i, term := range r.NodeSelectorTerms {
			errs = append(errs, nodeTerm(at.Index(i), term, true)...)
		}
	}
	for i, p := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		at := path.Child(preferredTerms).Index(i)
		errs = slices.Concat(errs, weight(at.Child("weight"), p.Weight), nodeTerm(at.Child("preference"), p.Preference, false))
	}
	return errs
}

func weight(path *field.Path, value int32) field.ErrorList {
	if value >= 1 && value <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must be from 1 to 100")}
}

// nodeTerm is strict where nodes are demanded. A wish for a label's value that no node can have is let through, as the
// API server does.
func nodeTerm(path *field.Path, term corev1.NodeSelectorTerm, strict bool) field.ErrorList {
	var errs field.ErrorList
	for i, r := range term.MatchExpressions {
		at := path.Child("matchExpressions").Index(i)
		errs = slices.Concat(errs, all(at.Child("key"), r.Key, content.IsLabelKey(r.Key)), nodeValues(at, r))
		for j, value := range r.Values {
			if strict {
				errs = append(errs, all(at.Child("values").Index(j), value, content.IsLabelValue(value))...)
			}
		}
	}
	for i, r := range term.MatchFields {
		errs = append(errs, nodeField(path.Child("matchFields").Index(i), r)...)
	}
	return errs
}

const (
	someValues = "give at least one value for the operators In and NotIn"
	noValues   = "must be empty for the operators Exists and DoesNotExist; remove them or choose In or NotIn"
	oneNumber  = "must be one whole number for the operators Gt and Lt, in quotes"
)

func nodeValues(path *field.Path, r corev1.NodeSelectorRequirement) field.ErrorList {
	at := path.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			return field.ErrorList{field.Required(at, someValues)}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return field.ErrorList{field.Forbidden(at, noValues)}
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if !isOneNumber(r.Values) {
			return field.ErrorList{field.Invalid(at, r.Values, oneNumber)}
		}
	default:
		return oneOf(path.Child("operator"), r.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)
	}
	return nil
}

// isOneNumber is stricter than the API server, which lets any single value through that the scheduler then cannot read.
func isOneNumber(values []string) bool {
	if len(values) != 1 {
		return false
	}
	_, err := strconv.ParseInt(values[0], 10, 64)
	return err == nil
}

func nodeField(path *field.Path, r corev1.NodeSelectorRequirement) field.ErrorList {
	errs := slices.Concat(
		oneOf(path.Child("key"), r.Key, metav1.ObjectNameField),
		oneOf(path.Child("operator"), r.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn))
	if len(r.Values) != 1 {
		return append(errs, field.Required(path.Child("values"), "give the name of exactly one node; use several entries for several nodes"))
	}
	return append(errs, objectName(path.Child("values").Index(0), r.Values[0])...)
}

func podTerms(path *field.Path, demanded []corev1.PodAffinityTerm, wished []corev1.WeightedPodAffinityTerm) field.ErrorList {
	var errs field.ErrorList
	for i, term := range demanded {
		errs = append(errs, podTerm(path.Child(requiredTerms).Index(i), term)...)
	}
	for i, w := range wished {
		at := path.Child(preferredTerms).Index(i)
		errs = slices.Concat(errs, weight(at.Child("weight"), w.Weight), podTerm(at.Child("podAffinityTerm"), w.PodAffinityTerm))
	}
	return errs
}

// otherNamespaces: by an anti-affinity the pods of one namespace keep those of another one from running.
const otherNamespaces = "a MyApp refers to nothing outside its own namespace; remove it"

func podTerm(path *field.Path, term corev1.PodAffinityTerm) field.ErrorList {
	errs := slices.Concat(
		labelSelector(path.Child("labelSelector"), term.LabelSelector),
		topologyKey(path.Child("topologyKey"), term.TopologyKey),
		matchLabelKeys(path.Child("matchLabelKeys"), term.MatchLabelKeys, term.LabelSelector),
		matchLabelKeys(path.Child("mismatchLabelKeys"), term.MismatchLabelKeys, withoutKeys(term.LabelSelector)))
	for i, key := range term.MatchLabelKeys {
		if slices.Contains(term.MismatchLabelKeys, key) {
			errs = append(errs, field.Invalid(path.Child("matchLabelKeys").Index(i), key, "is in mismatchLabelKeys too; remove it from one of the two"))
		}
	}
	if term.Namespaces != nil {
		errs = append(errs, field.Forbidden(path.Child("namespaces"), otherNamespaces))
	}
	if term.NamespaceSelector != nil {
		errs = append(errs, field.Forbidden(path.Child("namespaceSelector"), otherNamespaces))
	}
	return errs
}

// withoutKeys is a selector that names no labels: those of other pods may be narrowed down by the same key.
func withoutKeys(s *metav1.LabelSelector) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	return &metav1.LabelSelector{}
}

// matchLabelKeys judges keys whose values a pod takes from its own labels and adds to the selector. The API server finds
// a key that the selector has already only when it makes the pod.
func matchLabelKeys(path *field.Path, keys []string, selector *metav1.LabelSelector) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if selector == nil {
		return field.ErrorList{field.Forbidden(path, "needs a labelSelector beside it; add one or remove it")}
	}
	taken := slices.Collect(maps.Keys(selector.MatchLabels))
	for _, r := range selector.MatchExpressions {
		taken = append(taken, r.Key)
	}
	var errs field.ErrorList
	for i, key := range keys {
		at := path.Index(i)
		if slices.Contains(taken, key) {
			errs = append(errs, field.Invalid(at, key, "is selected by already, here or in the labelSelector; remove it from one of the two"))
		}
		errs = append(errs, all(at, key, content.IsLabelKey(key))...)
		taken = append(taken, key)
	}
	return errs
}

func topologyKey(path *field.Path, key string) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "give the node label that tells the places apart, as kubernetes.io/hostname or topology.kubernetes.io/zone")}
	}
	return all(path, key, content.IsLabelKey(key))
}

func labelSelector(path *field.Path, s *metav1.LabelSelector) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := labelPairs(path.Child("matchLabels"), s.MatchLabels)
	for i, r := range s.MatchExpressions {
		errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(r, metav1validation.LabelSelectorValidationOptions{}, path.Child("matchExpressions").Index(i))...)
	}
	return errs
}
