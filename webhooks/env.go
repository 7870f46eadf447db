package webhooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateEnvs(path *field.Path, envs []corev1.EnvVar) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, e := range envs {
		at := path.Index(i)
		switch {
		case e.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "give the variable a name"))
		case seen[e.Name]:
			errs = append(errs, duplicate(at.Child("name"), e.Name, "only the last variable of a name would count; remove the others"))
		default:
			errs = append(errs, envName(at.Child("name"), e.Name)...)
		}
		seen[e.Name] = true
		errs = append(errs, validateEnvSource(at, e)...)
	}
	return errs
}

// envName takes every name that some supported API server takes: names with dots, dashes and leading digits are for the
// cluster to judge, and an older one's refusal is reported in the status.
func envName(path *field.Path, name string) field.ErrorList {
	if len(validation.IsRelaxedEnvVarName(name)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "must be printable ASCII characters without '='; rename it")}
}

const (
	oneSource  = "give exactly one of configMapKeyRef, secretKeyRef, fieldRef and resourceFieldRef"
	noSiblings = "cannot stand beside valueFrom; remove one of the two"
)

func validateEnvSource(path *field.Path, e corev1.EnvVar) field.ErrorList {
	from, at := e.ValueFrom, path.Child("valueFrom")
	if from == nil {
		return nil
	}
	var errs field.ErrorList
	if e.Value != "" {
		errs = append(errs, field.Forbidden(path.Child("value"), noSiblings))
	}
	switch sources(from) {
	case 1:
	case 0:
		errs = append(errs, field.Required(at, oneSource))
	default:
		errs = append(errs, field.Forbidden(at, oneSource))
	}
	if from.FileKeyRef != nil {
		errs = append(errs, field.Forbidden(at.Child("fileKeyRef"), "needs a volume that a MyApp cannot declare; use configMapKeyRef or secretKeyRef"))
	}
	if r := from.ConfigMapKeyRef; r != nil {
		errs = append(errs, keyRef(at.Child("configMapKeyRef"), r.Name, r.Key)...)
	}
	if r := from.SecretKeyRef; r != nil {
		errs = append(errs, keyRef(at.Child("secretKeyRef"), r.Name, r.Key)...)
	}
	return slices.Concat(errs,
		validateFieldRef(at.Child("fieldRef"), from.FieldRef),
		validateResourceFieldRef(at.Child("resourceFieldRef"), from.ResourceFieldRef))
}

func sources(from *corev1.EnvVarSource) int {
	return count(from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil, from.FieldRef != nil,
		from.ResourceFieldRef != nil, from.FileKeyRef != nil)
}

func count(set ...bool) int {
	n := 0
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}

func keyRef(path *field.Path, name, key string) field.ErrorList {
	return append(objectName(path.Child("name"), name), dataKey(path.Child("key"), key)...)
}

var (
	podFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	podMapField = regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)
)

func validateFieldRef(path *field.Path, ref *corev1.ObjectFieldSelector) field.ErrorList {
	if ref == nil {
		return nil
	}
	errs := oneOf(path.Child("apiVersion"), ref.APIVersion, "", "v1")
	if slices.Contains(podFields, ref.FieldPath) || namesMapField(ref.FieldPath) {
		return errs
	}
	known := append(slices.Clone(podFields), "metadata.labels['KEY']", "metadata.annotations['KEY']")
	return append(errs, field.NotSupported(path.Child("fieldPath"), ref.FieldPath, known))
}

func namesMapField(fieldPath string) bool {
	m := podMapField.FindStringSubmatch(fieldPath)
	if m == nil {
		return false
	}
	key := m[2]
	if m[1] == "annotations" {
		key = strings.ToLower(key)
	}
	return len(content.IsLabelKey(key)) == 0
}

// resourceField is a resource of a container as the downward API names it.
var resourceField = regexp.MustCompile(`^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$`)

var (
	cpuDivisors  = []string{"0", "1m", "1"}
	byteDivisors = []string{"0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

func validateResourceFieldRef(path *field.Path, ref *corev1.ResourceFieldSelector) field.ErrorList {
	if ref == nil {
		return nil
	}
	var errs field.ErrorList
	if ref.ContainerName != "" {
		errs = append(errs, field.Forbidden(path.Child("containerName"), "a MyApp has one container; leave the name out"))
	}
	m := resourceField.FindStringSubmatch(ref.Resource)
	if m == nil {
		return append(errs, field.Invalid(path.Child("resource"), ref.Resource, "must be limits. or requests. and then cpu, memory, ephemeral-storage or hugepages-SIZE"))
	}
	divisors := byteDivisors
	if m[2] == string(corev1.ResourceCPU) {
		divisors = cpuDivisors
	}
	if d := ref.Divisor.String(); !slices.Contains(divisors, d) {
		errs = append(errs, field.Invalid(path.Child("divisor"), d, fmt.Sprintf("must be one of %s for %s", strings.Join(divisors[1:], ", "), m[2])))
	}
	return errs
}

func validateEnvFrom(path *field.Path, list []corev1.EnvFromSource) field.ErrorList {
	var errs field.ErrorList
	for i, from := range list {
		at := path.Index(i)
		if from.Prefix != "" {
			errs = append(errs, envName(at.Child("prefix"), from.Prefix)...)
		}
		switch count(from.ConfigMapRef != nil, from.SecretRef != nil) {
		case 1:
		case 0:
			errs = append(errs, field.Required(at, "give one of configMapRef and secretRef"))
		default:
			errs = append(errs, field.Forbidden(at, "give only one of configMapRef and secretRef; make two entries of it"))
		}
		if r := from.ConfigMapRef; r != nil {
			errs = append(errs, objectName(at.Child("configMapRef", "name"), r.Name)...)
		}
		if r := from.SecretRef; r != nil {
			errs = append(errs, objectName(at.Child("secretRef", "name"), r.Name)...)
		}
	}
	return errs
}
