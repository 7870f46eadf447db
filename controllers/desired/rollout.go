package desired

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

const (
	progressDeadlineSeconds int32 = 600
	revisionHistoryLimit    int32 = 5
)

// rollOut writes how a change reaches the pods.
func rollOut(own *v1beta1.RolloutSpec, spec *appsv1ac.DeploymentSpecApplyConfiguration) {
	if own == nil {
		own = &v1beta1.RolloutSpec{}
	}
	spec.WithStrategy(strategy(own)).
		WithProgressDeadlineSeconds(orElse(own.ProgressDeadlineSeconds, progressDeadlineSeconds)).
		WithRevisionHistoryLimit(orElse(own.RevisionHistoryLimit, revisionHistoryLimit))
	if own.MinReadySeconds != nil && *own.MinReadySeconds > 0 {
		spec.WithMinReadySeconds(*own.MinReadySeconds)
	}
}

// strategy never lets both bounds be 0, which would stop every rollout: without room for a new pod an old one must go.
func strategy(own *v1beta1.RolloutSpec) *appsv1ac.DeploymentStrategyApplyConfiguration {
	if own.Type == v1beta1.RolloutRecreate {
		return appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	surge := orElse(own.MaxSurge, intstr.FromString("25%"))
	unavailable := intstr.FromInt32(0)
	if isZero(surge) {
		unavailable = intstr.FromInt32(1)
	}
	return appsv1ac.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
			WithMaxUnavailable(orElse(own.MaxUnavailable, unavailable)).
			WithMaxSurge(surge))
}

func isZero(v intstr.IntOrString) bool {
	return v.IntValue() == 0 && (v.Type == intstr.Int || v.StrVal == "0%")
}

// orElse is the value, or another one when there is none.
func orElse[T any](v *T, other T) T {
	if v == nil {
		return other
	}
	return *v
}
