package webhooks

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// validate returns every problem of the spec. app has its constant defaults.
func validate(app *v1beta1.MyApp, opts Options) field.ErrorList {
	spec, path := &app.Spec, field.NewPath("spec")
	restricted := isRestricted(spec, opts)
	return slices.Concat(
		validateImage(path.Child("image"), spec.Image),
		validatePullSecrets(path.Child("imagePullSecrets"), spec.ImagePullSecrets),
		validateEnvs(path.Child("envs"), spec.Envs),
		validateEnvFrom(path.Child("envFrom"), spec.EnvFrom),
		validatePorts(path.Child("ports"), spec.Ports, spec.ServiceType()),
		validateService(path.Child("service"), spec, opts.ServiceAnnotationPrefixes),
		validateResources(path.Child("resources"), spec.Resources),
		validateProbes(path.Child("probes"), spec.Probes, spec.Ports),
		validateMounts(path.Child("mounts"), spec.Mounts),
		validateIngress(path.Child("ingress"), spec, opts.IngressAnnotationPrefixes),
		validateAutoscaling(path.Child("autoscaling"), spec.Autoscaling),
		validateBudget(path.Child("podDisruptionBudget"), spec.PodDisruptionBudget),
		validateScheduling(path.Child("scheduling"), spec.Scheduling),
		validateRollout(path.Child("rollout"), spec.Rollout),
		validateMetrics(path.Child("metrics"), spec),
		validateServiceAccount(path.Child("serviceAccountName"), spec.ServiceAccountName),
		validatePodSecurityContext(path.Child("podSecurityContext"), spec.PodSecurityContext, restricted),
		validateSecurityContext(path.Child("securityContext"), spec.SecurityContext, restricted),
		validatePodLabels(path.Child("podLabels"), spec.PodLabels),
		validatePodAnnotations(path.Child("podAnnotations"), spec.PodAnnotations),
		validateChildren(spec, opts.DisabledChildren),
	)
}

// validateName holds on create only: a name never changes, and a stored object with a bad one must stay editable. The
// Service of the same name sets the limits, which are narrower than those of a MyApp.
func validateName(path *field.Path, name string) field.ErrorList {
	if len(name) > validation.DNS1035LabelMaxLength {
		return field.ErrorList{field.Invalid(path, name, "must be at most 63 characters: the Service and a label carry this name; choose a shorter one")}
	}
	if len(validation.IsDNS1035Label(name)) > 0 {
		return field.ErrorList{field.Invalid(path, name, "must start with a lower case letter, go on with lower case letters, digits and '-' and not end with '-' (no dots): the Service carries this name")}
	}
	return nil
}
