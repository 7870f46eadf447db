package desired

import (
	"cmp"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// +kubebuilder:rbac:groups=monitoring.coreos.com,resources=servicemonitors,verbs=get;list;watch;create;patch;delete

// ServiceMonitor builds the monitor of the metrics port; nil without one. The API's own types stand in for an apply
// configuration: they leave out what is empty, but for two structs that are applied empty.
func ServiceMonitor(in Input, _ *monitoringv1.ServiceMonitor) *monitoringv1.ServiceMonitor {
	app, own := in.App, in.App.Spec.Metrics
	if own == nil {
		return nil
	}
	port := app.Spec.TCPPort(own.Port)
	if port == nil {
		return nil
	}
	// By the pod's port: a single port of a Service may have no name.
	target := intstr.FromInt32(podPort(*port))
	m := &monitoringv1.ServiceMonitor{
		TypeMeta: metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.ServiceMonitorsKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: app.Name, Namespace: app.Namespace, Labels: in.labels(), Annotations: in.annotations(nil),
		},
		Spec: monitoringv1.ServiceMonitorSpec{
			JobLabel: v1beta1.LabelName,
			Selector: metav1.LabelSelector{MatchLabels: v1beta1.SelectorLabels(app.Name)},
			Endpoints: []monitoringv1.Endpoint{{
				TargetPort: &target, Path: cmp.Or(own.Path, "/metrics"), Interval: monitoringv1.Duration(own.Interval),
			}},
		},
	}
	if owner := in.owner(); owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*convert[metav1.OwnerReference](owner)}
	}
	return m
}
