package webhooks

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validatePodLabels(path *field.Path, labels map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := path.Key(key)
		if v1beta1.IsReservedLabel(key) {
			errs = append(errs, field.Forbidden(at, "is set by the operator alone, since Deployment and Service select by it; remove it"))
			continue
		}
		errs = append(errs, labelPair(at, key, labels[key])...)
	}
	return errs
}

func labelPairs(path *field.Path, labels map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, labelPair(path.Key(key), key, labels[key])...)
	}
	return errs
}

func labelPair(path *field.Path, key, value string) field.ErrorList {
	return slices.Concat(all(path, key, content.IsLabelKey(key)), all(path, value, content.IsLabelValue(value)))
}

const (
	ownAnnotationPrefix = "app.ydzs.io/"
	// restartedAt belongs to `kubectl rollout restart`, which writes it on the Deployment; ours would undo it.
	restartedAt = "kubectl.kubernetes.io/restartedAt"
)

// seccompAnnotationPrefixes are annotations that Kubernetes stopped reading; whoever sets one believes in a protection
// that is not there.
var seccompAnnotationPrefixes = []string{"seccomp.security.alpha.kubernetes.io/", "container.seccomp.security.alpha.kubernetes.io/"}

func validatePodAnnotations(path *field.Path, annotations map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		at := path.Key(key)
		if detail := refusedAnnotation(key, annotations[key]); detail != "" {
			errs = append(errs, field.Forbidden(at, detail))
			continue
		}
		errs = append(errs, annotationKey(at, key)...)
	}
	return append(errs, annotationsSize(path, annotations)...)
}

// refusedAnnotation says why the operator does not put an annotation on pods; empty when it does.
func refusedAnnotation(key, value string) string {
	hasKeyPrefix := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	switch {
	case hasKeyPrefix(ownAnnotationPrefix):
		return "keys under " + ownAnnotationPrefix + " are the operator's own; remove it"
	case key == restartedAt:
		return "is written by kubectl rollout restart; remove it, and use that command or change another annotation to restart the pods"
	case slices.ContainsFunc(seccompAnnotationPrefixes, hasKeyPrefix):
		return "is no longer read by Kubernetes; remove it and use spec.securityContext.seccompProfile"
	case hasKeyPrefix(corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix) && !confinedAppArmor(value):
		return "takes AppArmor's protection away; remove it, or use spec.securityContext.appArmorProfile with RuntimeDefault or Localhost"
	default:
		return ""
	}
}

func confinedAppArmor(profile string) bool {
	return profile == "" || profile == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault ||
		strings.HasPrefix(profile, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
}

// annotationKey: a label key, but for capital letters before the slash.
func annotationKey(path *field.Path, key string) field.ErrorList {
	return all(path, key, content.IsLabelKey(strings.ToLower(key)))
}

func annotationsSize(path *field.Path, annotations map[string]string) field.ErrorList {
	if apivalidation.ValidateAnnotationsSize(annotations) == nil {
		return nil
	}
	return field.ErrorList{field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB)}
}

func validateServiceAccount(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return objectName(path, name)
}

func validatePullSecrets(path *field.Path, secrets []corev1.LocalObjectReference) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, s := range secrets {
		at := path.Index(i).Child("name")
		if seen[s.Name] {
			errs = append(errs, duplicate(at, s.Name, "names the same Secret twice; remove one entry"))
			continue
		}
		seen[s.Name] = true
		errs = append(errs, objectName(at, s.Name)...)
	}
	return errs
}
