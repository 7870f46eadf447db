package desired

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete

// PodDisruptionBudget builds the budget; nil when there is to be none.
func PodDisruptionBudget(in Input, _ *policyv1.PodDisruptionBudget) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	lowest, highest := in.budget()
	if lowest == nil && highest == nil {
		return nil
	}
	app := in.App
	spec := policyv1ac.PodDisruptionBudgetSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(v1beta1.SelectorLabels(app.Name))).
		// A pod that does not work must not block the drain of its node.
		WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow)
	spec.MinAvailable, spec.MaxUnavailable = lowest, highest
	b := policyv1ac.PodDisruptionBudget(app.Name, app.Namespace).
		WithLabels(in.labels()).
		WithAnnotations(in.annotations(nil)).
		WithSpec(spec)
	if owner := in.owner(); owner != nil {
		b.WithOwnerReferences(owner)
	}
	return b
}

// budget is the least number of available pods or the greatest of unavailable ones; both nil for no budget. One pod alone
// gets none: it would block every drain of its node.
func (in Input) budget() (minAvailable, maxUnavailable *intstr.IntOrString) {
	own := in.App.Spec.PodDisruptionBudget
	switch {
	case own != nil && own.Disabled, in.disabled("PodDisruptionBudget"):
		return nil, nil
	case own != nil && (own.MinAvailable != nil || own.MaxUnavailable != nil):
		return own.MinAvailable, own.MaxUnavailable
	case in.guaranteed() >= 2:
		return nil, ptrTo(intstr.FromInt32(1))
	default:
		return nil, nil
	}
}
