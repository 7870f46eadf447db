package webhooks

import (
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// The autoscaler's own limits, in seconds.
const mostStabilization, mostPeriod int32 = 3600, 1800

func validateAutoscaling(path *field.Path, a *v1beta1.AutoscalingSpec) field.ErrorList {
	if a == nil {
		return nil
	}
	errs := slices.Concat(
		positive(path.Child("minReplicas"), ptr.Deref(a.MinReplicas, 1)),
		positive(path.Child("maxReplicas"), a.MaxReplicas),
		positive(path.Child("targetCPUUtilizationPercentage"), ptr.Deref(a.TargetCPUUtilizationPercentage, 1)),
		positive(path.Child("targetMemoryUtilizationPercentage"), ptr.Deref(a.TargetMemoryUtilizationPercentage, 1)))
	if least := a.MinReplicas; least != nil && *least > a.MaxReplicas {
		errs = append(errs, field.Invalid(path.Child("minReplicas"), *least, "must not be above maxReplicas; lower it or raise maxReplicas"))
	}
	if b := a.Behavior; b != nil {
		at := path.Child("behavior")
		errs = slices.Concat(errs, scalingRules(at.Child("scaleUp"), b.ScaleUp), scalingRules(at.Child("scaleDown"), b.ScaleDown))
	}
	return errs
}

func positive(path *field.Path, value int32) field.ErrorList {
	if value >= 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "must be at least 1")}
}

func scalingRules(path *field.Path, r *autoscalingv2.HPAScalingRules) field.ErrorList {
	if r == nil {
		return nil
	}
	errs := slices.Concat(
		seconds(path.Child("stabilizationWindowSeconds"), ptr.Deref(r.StabilizationWindowSeconds, 0), 0, mostStabilization),
		oneOfIfSet(path.Child("selectPolicy"), r.SelectPolicy,
			autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect))
	if r.Policies != nil && len(r.Policies) == 0 {
		errs = append(errs, field.Required(path.Child("policies"), "give at least one policy, or leave the list out for those of Kubernetes"))
	}
	for i, p := range r.Policies {
		at := path.Child("policies").Index(i)
		errs = slices.Concat(errs,
			oneOf(at.Child("type"), p.Type, autoscalingv2.PodsScalingPolicy, autoscalingv2.PercentScalingPolicy),
			positive(at.Child("value"), p.Value),
			seconds(at.Child("periodSeconds"), p.PeriodSeconds, 1, mostPeriod))
	}
	if t := r.Tolerance; t != nil && t.Sign() < 0 {
		errs = append(errs, field.Invalid(path.Child("tolerance"), t.String(), "must not be negative"))
	}
	return errs
}

func seconds(path *field.Path, value, least, most int32) field.ErrorList {
	if value >= least && value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be from %d to %d seconds", least, most))}
}

// scalingWarnings name the requests without which the autoscaler has nothing to take a percentage of.
func scalingWarnings(spec *v1beta1.MyAppSpec) []string {
	a := spec.Autoscaling
	if a == nil {
		return nil
	}
	var all []string
	byCPU := a.TargetCPUUtilizationPercentage != nil || a.TargetMemoryUtilizationPercentage == nil
	if byCPU && !isRequested(spec.Resources, corev1.ResourceCPU) {
		all = append(all, missingRequest(corev1.ResourceCPU))
	}
	if a.TargetMemoryUtilizationPercentage != nil && !isRequested(spec.Resources, corev1.ResourceMemory) {
		all = append(all, missingRequest(corev1.ResourceMemory))
	}
	return all
}

func missingRequest(name corev1.ResourceName) string {
	return fmt.Sprintf("spec.resources.requests.%s: the autoscaler aims at a percentage of it, so without it the number of pods never changes; set it", name)
}
