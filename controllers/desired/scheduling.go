package desired

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// schedule writes where the pods may run.
func schedule(in Input, pod *corev1ac.PodSpecApplyConfiguration) {
	own := in.App.Spec.Scheduling
	if own == nil {
		own = &v1beta1.SchedulingSpec{}
	}
	pod.WithTopologySpreadConstraints(spread(in.App.Name, own)...)
	if len(own.NodeSelector) > 0 {
		pod.WithNodeSelector(own.NodeSelector)
	}
	for _, t := range own.Tolerations {
		pod.WithTolerations(convert[corev1ac.TolerationApplyConfiguration](t))
	}
	if own.Affinity != nil {
		pod.Affinity = affinity(own.Affinity)
	}
	pod.PriorityClassName = ptrTo(own.PriorityClassName)
}

// spread is the MyApp's own constraints, else one over zones and one over nodes that never keep a pod from running. Each
// version of the pods is spread for itself: counted with the old ones, the new ones would end up where those were not.
func spread(name string, own *v1beta1.SchedulingSpec) []*corev1ac.TopologySpreadConstraintApplyConfiguration {
	constraints := own.TopologySpreadConstraints
	if len(constraints) == 0 {
		constraints = []corev1.TopologySpreadConstraint{
			{TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway},
			{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway},
		}
	}
	var all []*corev1ac.TopologySpreadConstraintApplyConfiguration
	for _, i := range firsts(constraints, spreadKey) {
		c := *constraints[i].DeepCopy()
		if c.MaxSkew == 0 {
			c.MaxSkew = 1
		}
		if c.LabelSelector == nil {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: v1beta1.SelectorLabels(name)}
			if c.MatchLabelKeys == nil {
				c.MatchLabelKeys = []string{appsv1.DefaultDeploymentUniqueLabelKey}
			}
		}
		all = append(all, convert[corev1ac.TopologySpreadConstraintApplyConfiguration](c))
	}
	return all
}

func spreadKey(c corev1.TopologySpreadConstraint) [2]string {
	return [2]string{c.TopologyKey, string(c.WhenUnsatisfiable)}
}

// affinity leaves out parts that say nothing.
func affinity(a *corev1.Affinity) *corev1ac.AffinityApplyConfiguration {
	a = a.DeepCopy()
	if n := a.NodeAffinity; n != nil && n.RequiredDuringSchedulingIgnoredDuringExecution == nil && len(n.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		a.NodeAffinity = nil
	}
	if p := a.PodAffinity; p != nil && len(p.RequiredDuringSchedulingIgnoredDuringExecution)+len(p.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		a.PodAffinity = nil
	}
	if p := a.PodAntiAffinity; p != nil && len(p.RequiredDuringSchedulingIgnoredDuringExecution)+len(p.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		a.PodAntiAffinity = nil
	}
	if *a == (corev1.Affinity{}) {
		return nil
	}
	return convert[corev1ac.AffinityApplyConfiguration](a)
}
