package v1beta1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// AutoscalingSpec lets a HorizontalPodAutoscaler choose the number of pods. spec.size then only says how many to begin
// with, except for 0, which stops the application and the autoscaler with it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",message="must not be above maxReplicas",fieldPath=".minReplicas"
type AutoscalingSpec struct {
	// minReplicas is the fewest pods, from 1 to 5000. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the most pods, from 1 to 5000 and not below minReplicas.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilizationPercentage is the average CPU use to aim at, in percent of resources.requests.cpu, from 1 to
	// 1000. Default: 80 when no memory target is given, else none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// targetMemoryUtilizationPercentage is the average memory use to aim at, in percent of resources.requests.memory, from
	// 1 to 1000. Default: none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	TargetMemoryUtilizationPercentage *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`

	// behavior tunes how fast the number of pods goes up and down. Default: that of Kubernetes, up at once, down after 5
	// minutes.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// PodDisruptionBudgetSpec bounds how many pods a drained node or another voluntary disruption may take away at once.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minAvailable) || !has(self.maxUnavailable)",message="cannot stand beside minAvailable",fieldPath=".maxUnavailable",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.disabled) || !self.disabled || (!has(self.minAvailable) && !has(self.maxUnavailable))",message="cannot stand beside minAvailable or maxUnavailable",fieldPath=".disabled",reason=FieldValueForbidden
type PodDisruptionBudgetSpec struct {
	// minAvailable is how many pods must stay, as a number or a percentage. Default: none, maxUnavailable counts.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// maxUnavailable is how many pods may be away, as a number or a percentage. Default: 1 when at least 2 pods are
	// guaranteed (spec.size, or autoscaling.minReplicas); below that there is no budget, since it would block every drain.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// disabled leaves the budget out. Default: false.
	// +optional
	Disabled bool `json:"disabled,omitempty"`
}
