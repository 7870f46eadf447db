package webhooks

import (
	"fmt"
	gopath "path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func validateMounts(path *field.Path, mounts []v1beta1.Mount) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, m := range mounts {
		at, place := path.Index(i), gopath.Clean(m.Path)
		errs = append(errs, validateMount(at, m)...)
		if m.Path != "" && seen[place] {
			errs = append(errs, duplicate(at.Child("path"), place, "another mount appears there; choose a different path or remove one of them"))
		}
		seen[place] = true
	}
	return errs
}

const oneVolume = "give exactly one of configMap, secret, emptyDir and persistentVolumeClaim"

func validateMount(path *field.Path, m v1beta1.Mount) field.ErrorList {
	errs := mountPath(path.Child("path"), m.Path)
	if m.SubPath != "" {
		errs = append(errs, pathWithin(path.Child("subPath"), m.SubPath)...)
	}
	switch count(m.ConfigMap != nil, m.Secret != nil, m.EmptyDir != nil, m.PersistentVolumeClaim != nil) {
	case 1:
	case 0:
		errs = append(errs, field.Required(path, oneVolume))
	default:
		errs = append(errs, field.Forbidden(path, oneVolume))
	}
	if c := m.PersistentVolumeClaim; c != nil {
		errs = append(errs, objectName(path.Child("persistentVolumeClaim", "claimName"), c.ClaimName)...)
	}
	return slices.Concat(errs,
		validateFiles(path.Child("configMap"), m.ConfigMap),
		validateFiles(path.Child("secret"), m.Secret),
		validateEmptyDir(path.Child("emptyDir"), m.EmptyDir))
}

// mountPath refuses more than the API server, which lets a pod be made that no container runtime can start or whose
// files lie somewhere else than they seem to.
func mountPath(path *field.Path, value string) field.ErrorList {
	var problem string
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "give the path in the container, as /etc/web")}
	case !strings.HasPrefix(value, "/"):
		problem = "must be absolute; begin it with '/'"
	case strings.Contains(value, ":"):
		problem = "must not hold ':', which container runtimes take for a separator; choose another path"
	case hasBackstep(value):
		problem = "must not hold '..'; write the path that is meant"
	case gopath.Clean(value) == "/":
		problem = "must not be '/', which would hide the whole image; choose a directory below it"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, problem)}
}

// pathWithin judges a path that must not lead out of a volume.
func pathWithin(path *field.Path, value string) field.ErrorList {
	switch {
	case strings.HasPrefix(value, "/"):
		return field.ErrorList{field.Invalid(path, value, "must be relative; remove the leading '/'")}
	case hasBackstep(value):
		return field.ErrorList{field.Invalid(path, value, "must not hold '..'; write the path that is meant")}
	default:
		return nil
	}
}

func hasBackstep(value string) bool { return slices.Contains(strings.Split(value, "/"), "..") }

func validateFiles(path *field.Path, s *v1beta1.FileSource) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := slices.Concat(
		objectName(path.Child("name"), s.Name),
		fileMode(path.Child("defaultMode"), s.DefaultMode))
	seen := map[string]bool{}
	for i, item := range s.Items {
		at, file := path.Child("items").Index(i), gopath.Clean(item.Path)
		errs = append(errs, validateItem(at, item)...)
		if item.Path != "" && seen[file] {
			errs = append(errs, duplicate(at.Child("path"), file, "another item has this file name; choose a different one or remove one of them"))
		}
		seen[file] = true
	}
	return errs
}

func validateItem(path *field.Path, item corev1.KeyToPath) field.ErrorList {
	errs := slices.Concat(dataKey(path.Child("key"), item.Key), fileMode(path.Child("mode"), item.Mode))
	switch at := path.Child("path"); {
	case item.Path == "":
		errs = append(errs, field.Required(at, "give the name of the file"))
	case strings.HasPrefix(item.Path, "..") && !hasBackstep(item.Path):
		errs = append(errs, field.Invalid(at, item.Path, "must not begin with '..', which the node uses itself; choose another name"))
	default:
		errs = append(errs, pathWithin(at, item.Path)...)
	}
	if item.User != nil {
		errs = append(errs, field.Forbidden(path.Child("user"), alphaField))
	}
	return errs
}

// dataKey judges the key of an entry of a ConfigMap or Secret.
func dataKey(path *field.Path, key string) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "give the key inside it")}
	}
	if len(validation.IsConfigMapKey(key)) > 0 {
		return field.ErrorList{field.Invalid(path, key, "is no key: use at most 253 letters, digits, '-', '_' and '.', not '.' alone and not '..' at the start")}
	}
	return nil
}

func fileMode(path *field.Path, mode *int32) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *mode, "must be a file permission from 0 to 0777, which is 511 in decimal")}
}

func validateEmptyDir(path *field.Path, s *v1beta1.EmptyDirSource) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := oneOf(path.Child("medium"), s.Medium, corev1.StorageMediumDefault, corev1.StorageMediumMemory)
	if s.SizeLimit != nil && s.SizeLimit.Sign() < 0 {
		errs = append(errs, field.Invalid(path.Child("sizeLimit"), s.SizeLimit.String(), "must not be negative; remove it for no limit"))
	}
	return errs
}

// claimWarnings name the claims that a rolling update may wait for without end. Which access mode a claim has is not
// known here.
func claimWarnings(spec *v1beta1.MyAppSpec) []string {
	if spec.Rollout != nil && spec.Rollout.Type == v1beta1.RolloutRecreate {
		return nil
	}
	var all []string
	for i, m := range spec.Mounts {
		if m.PersistentVolumeClaim != nil && !m.ReadOnly {
			all = append(all, fmt.Sprintf("spec.mounts[%d].persistentVolumeClaim: if its access mode is ReadWriteOnce, a new pod on another node waits for ever for the volume that the old pod holds; set spec.rollout.type to Recreate then", i))
		}
	}
	return all
}
