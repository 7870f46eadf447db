package webhooks

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validateScheduling(path *field.Path, s *v1beta1.SchedulingSpec) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := slices.Concat(
		labelPairs(path.Child("nodeSelector"), s.NodeSelector),
		validateTolerations(path.Child("tolerations"), s.Tolerations),
		validateAffinity(path.Child("affinity"), s.Affinity),
		validateSpread(path.Child("topologySpreadConstraints"), s.TopologySpreadConstraints))
	if s.PriorityClassName != "" {
		errs = append(errs, objectName(path.Child("priorityClassName"), s.PriorityClassName)...)
	}
	return errs
}

func validateTolerations(path *field.Path, tolerations []corev1.Toleration) field.ErrorList {
	var errs field.ErrorList
	for i, t := range tolerations {
		at := path.Index(i)
		errs = slices.Concat(errs, validateToleration(at, t), tolerationOperator(at, t),
			oneOf(at.Child("effect"), t.Effect, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute))
	}
	return errs
}

func validateToleration(path *field.Path, t corev1.Toleration) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = append(errs, all(path.Child("key"), t.Key, content.IsLabelKey(t.Key))...)
	}
	if t.Operator != corev1.TolerationOpExists {
		errs = append(errs, all(path.Child("value"), t.Value, content.IsLabelValue(t.Value))...)
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Forbidden(path.Child("tolerationSeconds"), "goes with the effect NoExecute only; remove it or set that effect"))
	}
	return errs
}

func tolerationOperator(path *field.Path, t corev1.Toleration) field.ErrorList {
	at := path.Child("operator")
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			return field.ErrorList{field.Forbidden(path.Child("value"), "has no meaning beside the operator Exists; remove it or use Equal")}
		}
		return nil
	case corev1.TolerationOpLt, corev1.TolerationOpGt:
		return field.ErrorList{field.Forbidden(at, alphaField)}
	case "", corev1.TolerationOpEqual:
		if t.Key == "" {
			return field.ErrorList{field.Invalid(at, string(t.Operator), "must be Exists where there is no key, which tolerates every taint; set it or give a key")}
		}
		return nil
	default:
		return oneOf(at, t.Operator, corev1.TolerationOpExists, corev1.TolerationOpEqual)
	}
}

func validateSpread(path *field.Path, constraints []corev1.TopologySpreadConstraint) field.ErrorList {
	var errs field.ErrorList
	seen := map[[2]string]bool{}
	for i, c := range constraints {
		at, pair := path.Index(i), [2]string{c.TopologyKey, string(c.WhenUnsatisfiable)}
		errs = append(errs, validateConstraint(at, c)...)
		if seen[pair] {
			errs = append(errs, duplicate(at, fmt.Sprintf("{%s, %s}", pair[0], pair[1]), "each pair of topologyKey and whenUnsatisfiable may appear once; remove one entry"))
		}
		seen[pair] = true
	}
	return errs
}

func validateConstraint(path *field.Path, c corev1.TopologySpreadConstraint) field.ErrorList {
	errs := slices.Concat(
		positive(path.Child("maxSkew"), c.MaxSkew),
		topologyKey(path.Child("topologyKey"), c.TopologyKey),
		oneOf(path.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		oneOfIfSet(path.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore),
		oneOfIfSet(path.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore),
		labelSelector(path.Child("labelSelector"), c.LabelSelector))
	if n := c.MinDomains; n != nil {
		errs = append(errs, positive(path.Child("minDomains"), *n)...)
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			errs = append(errs, field.Forbidden(path.Child("minDomains"), "goes with whenUnsatisfiable DoNotSchedule only; remove it or choose that"))
		}
	}
	selector := c.LabelSelector
	if selector == nil {
		// A missing selector stands for the MyApp's own pods.
		selector = &metav1.LabelSelector{MatchLabels: v1beta1.SelectorLabels("")}
	}
	return append(errs, matchLabelKeys(path.Child("matchLabelKeys"), c.MatchLabelKeys, selector)...)
}
