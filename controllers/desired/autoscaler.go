package desired

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"
)

// defaultCPUUtilization is the target, in percent, of an autoscaler that names none; Kubernetes' own default.
const defaultCPUUtilization int32 = 80

// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete

// HorizontalPodAutoscaler builds the autoscaler of the Deployment; nil without one and while the size is 0.
func HorizontalPodAutoscaler(
	in Input, _ *autoscalingv2.HorizontalPodAutoscaler,
) *autoscalingv2ac.HorizontalPodAutoscalerApplyConfiguration {
	if !in.Autoscaled() {
		return nil
	}
	app, own := in.App, in.App.Spec.Autoscaling
	spec := autoscalingv2ac.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(autoscalingv2ac.CrossVersionObjectReference().
			WithAPIVersion(appsv1.SchemeGroupVersion.String()).WithKind("Deployment").WithName(app.Name)).
		WithMinReplicas(in.minReplicas()).
		WithMaxReplicas(own.MaxReplicas)
	cpu, memory := own.TargetCPUUtilizationPercentage, own.TargetMemoryUtilizationPercentage
	if cpu == nil && memory == nil {
		cpu = ptrTo(defaultCPUUtilization)
	}
	if cpu != nil {
		spec.WithMetrics(utilization(corev1.ResourceCPU, *cpu))
	}
	if memory != nil {
		spec.WithMetrics(utilization(corev1.ResourceMemory, *memory))
	}
	spec.Behavior = behavior(own.Behavior)
	h := autoscalingv2ac.HorizontalPodAutoscaler(app.Name, app.Namespace).
		WithLabels(in.labels()).
		WithAnnotations(in.annotations(nil)).
		WithSpec(spec)
	if owner := in.owner(); owner != nil {
		h.WithOwnerReferences(owner)
	}
	return h
}

func utilization(resource corev1.ResourceName, percent int32) *autoscalingv2ac.MetricSpecApplyConfiguration {
	return autoscalingv2ac.MetricSpec().
		WithType(autoscalingv2.ResourceMetricSourceType).
		WithResource(autoscalingv2ac.ResourceMetricSource().WithName(resource).WithTarget(
			autoscalingv2ac.MetricTarget().WithType(autoscalingv2.UtilizationMetricType).WithAverageUtilization(percent)))
}

// behavior leaves out directions that say nothing.
func behavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior) *autoscalingv2ac.HorizontalPodAutoscalerBehaviorApplyConfiguration {
	if b == nil {
		return nil
	}
	all := autoscalingv2ac.HorizontalPodAutoscalerBehavior()
	all.ScaleUp, all.ScaleDown = scalingRules(b.ScaleUp), scalingRules(b.ScaleDown)
	if all.ScaleUp == nil && all.ScaleDown == nil {
		return nil
	}
	return all
}

func scalingRules(r *autoscalingv2.HPAScalingRules) *autoscalingv2ac.HPAScalingRulesApplyConfiguration {
	if r == nil || (r.StabilizationWindowSeconds == nil && r.SelectPolicy == nil && len(r.Policies) == 0 && r.Tolerance == nil) {
		return nil
	}
	return convert[autoscalingv2ac.HPAScalingRulesApplyConfiguration](r)
}
