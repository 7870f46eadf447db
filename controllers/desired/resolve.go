package desired

import (
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// This file holds every default that depends on something else. Such a default is worked out on each reconcile and never
// stored: a stored one would freeze when the other field changes.

// podPort is the one place that decides which port of the pod a Service port leads to. Container ports, Service, Ingress,
// probes and monitors all ask here.
func podPort(p corev1.ServicePort) int32 {
	if p.TargetPort.Type == intstr.Int && p.TargetPort.IntVal > 0 {
		return p.TargetPort.IntVal
	}
	return p.Port
}

// portName is the name of a Service port. A Service of several ports needs names.
func portName(ports []corev1.ServicePort, p corev1.ServicePort) string {
	if p.Name != "" || len(ports) < 2 {
		return p.Name
	}
	return v1beta1.MadeUpPortName(p)
}

// pullPolicy is Always for an image that may change under its name, as in Kubernetes itself.
func pullPolicy(spec v1beta1.MyAppSpec) corev1.PullPolicy {
	if spec.ImagePullPolicy != "" {
		return spec.ImagePullPolicy
	}
	ref, err := reference.ParseNormalizedNamed(spec.Image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	if _, ok := ref.(reference.Digested); ok {
		return corev1.PullIfNotPresent
	}
	if tagged, ok := ref.(reference.Tagged); ok && tagged.Tag() != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// defaultShutdownDelay is how long, in seconds, a pod with ports keeps serving after it was told to end: long enough for
// the endpoints to be forgotten on every node.
const defaultShutdownDelay int64 = 5

// shutdownDelay is the delay in seconds before a pod's stop signal.
func shutdownDelay(spec v1beta1.MyAppSpec) int64 {
	switch {
	case spec.ShutdownDelaySeconds != nil:
		return *spec.ShutdownDelaySeconds
	case len(spec.Ports) > 0:
		return defaultShutdownDelay
	default:
		return 0
	}
}

// GracePeriod is the time in seconds that a pod has to end: its delay and the container's own grace period.
func GracePeriod(app *v1beta1.MyApp) int64 {
	grace := v1beta1.DefaultTerminationGracePeriodSeconds
	if g := app.Spec.TerminationGracePeriodSeconds; g != nil {
		grace = *g
	}
	return shutdownDelay(app.Spec) + grace
}

// profile is the security profile that the pods follow.
func (in Input) profile() v1beta1.SecurityProfile {
	switch {
	case in.App.Spec.SecurityProfile != "":
		return in.App.Spec.SecurityProfile
	case in.DefaultSecurityProfile != "":
		return in.DefaultSecurityProfile
	default:
		return v1beta1.SecurityProfileBaseline
	}
}
