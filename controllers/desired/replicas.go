package desired

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// This file decides who chooses the number of pods, and what the operator writes of it:
//
//	size is 0                        0, whoever else wants what: an autoscaler never touches a target at 0
//	nobody scales                    size
//	an autoscaler, no Deployment yet size, within the autoscaler's bounds, to begin with
//	an autoscaler, live value is ours  the live value: a field dropped by its only owner falls back to 1
//	an autoscaler, it has taken over nothing

// defaultMinReplicas is the fewest pods of an autoscaler that names none; Kubernetes' own default.
const defaultMinReplicas int32 = 1

// Size is the number of pods that the MyApp asks for.
func Size(app *v1beta1.MyApp) int32 {
	if app.Spec.Size == nil {
		return v1beta1.DefaultSize
	}
	return *app.Spec.Size
}

// Autoscaled tells whether the MyApp's own autoscaler chooses the number of pods.
func (in Input) Autoscaled() bool {
	return in.App.Spec.Autoscaling != nil && Size(in.App) > 0 && !in.disabled("HorizontalPodAutoscaler")
}

// Scaled tells whether an autoscaler, the MyApp's own or another one, chooses the number of pods.
func (in Input) Scaled() bool { return in.Autoscaled() || (in.ExternallyScaled && Size(in.App) > 0) }

// Replicas is the number of pods that there should be by now: what an autoscaler has chosen, else size.
func (in Input) Replicas(live *appsv1.Deployment) int32 {
	if in.Scaled() && live != nil && live.Spec.Replicas != nil {
		return *live.Spec.Replicas
	}
	return Size(in.App)
}

// HoldsReplicas tells whether the intent repeats a live number of pods that an autoscaler may change at any moment. Such
// an intent must be applied to exactly the version that it was made from.
func (in Input) HoldsReplicas(live *appsv1.Deployment) bool {
	return in.Scaled() && live != nil && ownsReplicas(live)
}

// replicas is what the operator writes; nil for nothing.
func (in Input) replicas(live *appsv1.Deployment) *int32 {
	begin := Size(in.App)
	if !in.Scaled() {
		return &begin
	}
	if in.Autoscaled() {
		begin = min(max(begin, in.minReplicas()), in.App.Spec.Autoscaling.MaxReplicas)
	}
	if live == nil || live.Spec.Replicas == nil {
		return &begin
	}
	owned := ownsReplicas(live)
	switch {
	case *live.Spec.Replicas == 0 && (owned || in.Autoscaled()):
		return &begin
	case owned:
		return live.Spec.Replicas
	default:
		return nil
	}
}

// ownsReplicas tells whether the number of pods is as we applied it last; an autoscaler takes the field over when it
// writes its first number.
func ownsReplicas(live *appsv1.Deployment) bool {
	applied, err := appsv1ac.ExtractDeployment(live, v1beta1.OperatorName)
	return err == nil && applied.Spec != nil && applied.Spec.Replicas != nil
}

func (in Input) minReplicas() int32 {
	if least := in.App.Spec.Autoscaling.MinReplicas; least != nil {
		return *least
	}
	return defaultMinReplicas
}

// guaranteed is the number of pods that there are at least.
func (in Input) guaranteed() int32 {
	if in.Autoscaled() {
		return in.minReplicas()
	}
	return Size(in.App)
}

// MinAvailable is how many of so many pods must be available for the application to count as available: what its
// disruption budget keeps of the guaranteed ones, and at least one unless it is to be stopped. Pods that an autoscaler adds
// do not raise it, and it does not mirror the Deployment's own Available condition, which flips whenever one pod is unready.
func (in Input) MinAvailable(replicas int32) int32 {
	kept, guaranteed := int32(1), in.guaranteed()
	if lowest, highest := in.budget(); lowest != nil {
		kept = max(kept, scaledUp(*lowest, guaranteed))
	} else if highest != nil {
		kept = max(kept, guaranteed-scaledUp(*highest, guaranteed))
	}
	return min(kept, replicas)
}

// scaledUp is a number, or a percentage of the pods, rounded up as the disruption controller does.
func scaledUp(v intstr.IntOrString, replicas int32) int32 {
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, int(replicas), true)
	if err != nil {
		return 0
	}
	return int32(n) //nolint:gosec // at most a percentage of a number of pods, or a number that the schema bounds
}
