package webhooks

import (
	"fmt"
	"slices"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// The node ports that an API server hands out unless it was started with another range.
const firstNodePort, lastNodePort int32 = 30000, 32767

// warnings names what is legal but risky. They are few, since every apply prints them: each must be worth acting on.
func warnings(app *v1beta1.MyApp) []string {
	var all []string
	if !hasRequests(app.Spec.Resources) {
		all = append(all, "spec.resources.requests: neither cpu nor memory is requested, so the pods are placed blindly and are the first to be evicted; set both")
	}
	if mutableTag(app.Spec.Image) {
		all = append(all, "spec.image: no tag or the tag latest may mean another image at any time, so pods of one MyApp can differ and a rollback brings nothing back; name a version or a digest")
	}
	if unprobed(&app.Spec) {
		all = append(all, "spec.probes.readiness: without it a pod gets traffic before the application answers, so every rollout loses requests; add a readiness probe")
	}
	all = slices.Concat(all, idleSettings(&app.Spec), claimWarnings(&app.Spec), scalingWarnings(&app.Spec), budgetWarnings(&app.Spec))
	for i, p := range app.Spec.Ports {
		if p.NodePort != 0 && (p.NodePort < firstNodePort || p.NodePort > lastNodePort) {
			all = append(all, fmt.Sprintf("spec.ports[%d].nodePort: %d is outside the default range %d-%d, and most clusters refuse it; choose one inside or leave it out",
				i, p.NodePort, firstNodePort, lastNodePort))
		}
	}
	return all
}

func hasRequests(r corev1.ResourceRequirements) bool {
	return isRequested(r, corev1.ResourceCPU) || isRequested(r, corev1.ResourceMemory)
}

// isRequested tells whether a resource is asked for; a limit is a request too where no request stands beside it.
func isRequested(r corev1.ResourceRequirements, name corev1.ResourceName) bool {
	_, requested := r.Requests[name]
	_, limited := r.Limits[name]
	return requested || limited
}

func mutableTag(image string) bool {
	ref, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}
	if _, ok := ref.(reference.Digested); ok {
		return false
	}
	tagged, ok := ref.(reference.Tagged)
	return !ok || tagged.Tag() == "latest"
}

// unprobed tells whether a rollout would send traffic to pods that may not be ready while others could still serve.
func unprobed(spec *v1beta1.MyAppSpec) bool {
	several := spec.Size != nil && *spec.Size > 1 || spec.Autoscaling != nil && spec.Autoscaling.MaxReplicas > 1
	return several && len(spec.Ports) > 0 && (spec.Probes == nil || spec.Probes.Readiness == nil)
}

// keptWarnings names the problems that an update left as they were.
func keptWarnings(kept field.ErrorList) []string {
	var all []string
	for _, e := range kept {
		all = append(all, e.Error()+" (not new, so this change is let through; please mend it)")
	}
	return all
}
