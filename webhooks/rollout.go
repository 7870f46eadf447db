package webhooks

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// What a Deployment is given where the spec says nothing.
const defaultProgressDeadlineSeconds, defaultMinReadySeconds int32 = 600, 0

// mostSurge is the greatest percentage of pods beyond the wanted ones; Kubernetes knows none.
const mostSurge = 9999

func validateRollout(path *field.Path, r *v1beta1.RolloutSpec) field.ErrorList {
	if r == nil {
		return nil
	}
	return slices.Concat(
		oneOf(path.Child("type"), r.Type, "", v1beta1.RolloutRollingUpdate, v1beta1.RolloutRecreate),
		validateSteps(path, r),
		notNegative(path.Child("minReadySeconds"), ptr.Deref(r.MinReadySeconds, 0)),
		notNegative(path.Child("revisionHistoryLimit"), ptr.Deref(r.RevisionHistoryLimit, 0)),
		progressDeadline(path.Child("progressDeadlineSeconds"), r))
}

// validateSteps judges how many pods a rolling update may take away or add.
func validateSteps(path *field.Path, r *v1beta1.RolloutSpec) field.ErrorList {
	unavailable, surge := path.Child("maxUnavailable"), path.Child("maxSurge")
	if r.Type == v1beta1.RolloutRecreate {
		return slices.Concat(forRollingUpdates(unavailable, r.MaxUnavailable), forRollingUpdates(surge, r.MaxSurge))
	}
	errs := slices.Concat(podShare(unavailable, r.MaxUnavailable, 100), podShare(surge, r.MaxSurge, mostSurge))
	if isNone(r.MaxUnavailable) && isNone(r.MaxSurge) {
		errs = append(errs, field.Invalid(unavailable, r.MaxUnavailable.String(), "cannot be 0 beside maxSurge 0, since no pod could ever be replaced; remove it or raise one of the two"))
	}
	return errs
}

func forRollingUpdates(path *field.Path, value *intstr.IntOrString) field.ErrorList {
	if value == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "has no meaning for the type Recreate, which ends all pods first; remove it or choose RollingUpdate")}
}

// isNone tells whether a number or percentage is there and 0.
func isNone(v *intstr.IntOrString) bool {
	if v == nil {
		return false
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, 100, true)
	return err == nil && n == 0
}

func progressDeadline(path *field.Path, r *v1beta1.RolloutSpec) field.ErrorList {
	deadline := ptr.Deref(r.ProgressDeadlineSeconds, defaultProgressDeadlineSeconds)
	if deadline > ptr.Deref(r.MinReadySeconds, defaultMinReadySeconds) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, deadline, "must be above minReadySeconds, or every rollout would count as failed; raise it (600 where it is missing) or lower minReadySeconds")}
}
