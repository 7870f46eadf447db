package webhooks

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validateBudget(path *field.Path, b *v1beta1.PodDisruptionBudgetSpec) field.ErrorList {
	if b == nil {
		return nil
	}
	var errs field.ErrorList
	if b.MinAvailable != nil && b.MaxUnavailable != nil {
		errs = append(errs, field.Forbidden(path.Child("maxUnavailable"), "cannot stand beside minAvailable; remove one of the two"))
	}
	if b.Disabled && (b.MinAvailable != nil || b.MaxUnavailable != nil) {
		errs = append(errs, field.Forbidden(path.Child("disabled"), "cannot stand beside minAvailable or maxUnavailable; remove one of the two"))
	}
	return slices.Concat(errs,
		podShare(path.Child("minAvailable"), b.MinAvailable, 100),
		podShare(path.Child("maxUnavailable"), b.MaxUnavailable, 100))
}

var percentage = regexp.MustCompile(`^(0|[1-9][0-9]{0,3})%$`)

// podShare judges a number of pods, or a percentage of them up to most.
func podShare(path *field.Path, v *intstr.IntOrString, most int) field.ErrorList {
	switch {
	case v == nil:
		return nil
	case v.Type == intstr.Int:
		return notNegative(path, v.IntVal)
	case isQuotedNumber(*v):
		return field.ErrorList{field.Invalid(path, v.StrVal, "is a number in quotes; drop the quotes, or add % for a percentage")}
	case !percentage.MatchString(v.StrVal):
		return field.ErrorList{field.Invalid(path, v.StrVal, "must be a number as 1 or a percentage as 25%")}
	}
	// The pattern leaves nothing that is no number.
	if percent, _ := strconv.Atoi(v.StrVal[:len(v.StrVal)-1]); percent > most {
		return field.ErrorList{field.Invalid(path, v.StrVal, fmt.Sprintf("must not be above %d%%", most))}
	}
	return nil
}

// guaranteed is the number of pods that there are at least: an autoscaler goes down to its minimum, and 0 stops all.
func guaranteed(spec *v1beta1.MyAppSpec) int32 {
	size := ptr.Deref(spec.Size, v1beta1.DefaultSize)
	if size == 0 || spec.Autoscaling == nil {
		return size
	}
	return ptr.Deref(spec.Autoscaling.MinReplicas, 1)
}

// budgetWarnings say what an explicit budget does with so few pods.
func budgetWarnings(spec *v1beta1.MyAppSpec) []string {
	b, pods := spec.PodDisruptionBudget, guaranteed(spec)
	if b == nil || b.MinAvailable == nil && b.MaxUnavailable == nil || pods == 0 {
		return nil
	}
	switch {
	case evictable(b, pods) <= 0:
		return []string{fmt.Sprintf("spec.podDisruptionBudget: lets none of the %d guaranteed pods go, which blocks every node drain; lower minAvailable, raise maxUnavailable or guarantee more pods", pods)}
	case pods == 1:
		return []string{"spec.podDisruptionBudget: protects nothing with one guaranteed pod, since a node drain still stops the application; guarantee at least 2 (spec.size, or spec.autoscaling.minReplicas) or remove it"}
	default:
		return nil
	}
}

// evictable is how many of so many healthy pods the budget lets go; a percentage is rounded up in both fields, as the
// disruption controller does.
func evictable(b *v1beta1.PodDisruptionBudgetSpec, pods int32) int {
	share := func(v *intstr.IntOrString) int {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, int(pods), true)
		if err != nil {
			return 0
		}
		return n
	}
	if b.MinAvailable != nil {
		return int(pods) - share(b.MinAvailable)
	}
	return share(b.MaxUnavailable)
}
