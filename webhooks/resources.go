package webhooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateResources(path *field.Path, r corev1.ResourceRequirements) field.ErrorList {
	var errs field.ErrorList
	if len(r.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "needs resource claims of the pod, which a MyApp cannot declare; remove it"))
	}
	return slices.Concat(errs,
		validateQuantities(path.Child("limits"), r.Limits),
		validateQuantities(path.Child("requests"), r.Requests),
		validateRequests(path, r),
		validateHugePages(path, r))
}

func validateQuantities(path *field.Path, list corev1.ResourceList) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		errs = append(errs, validateQuantity(path.Key(string(name)), name, list[name])...)
	}
	return errs
}

func validateQuantity(path *field.Path, name corev1.ResourceName, q resource.Quantity) field.ErrorList {
	var problem string
	switch {
	case !isResource(name):
		return field.ErrorList{field.Invalid(path, string(name), "is no resource of a container; use cpu, memory, ephemeral-storage, hugepages-SIZE or an extended resource like example.com/gpu")}
	case q.Sign() < 0:
		problem = "must not be negative"
	case countsBytes(name) && !isWhole(q):
		// 512m is valid and means half a byte; no pod starts with it.
		problem = "must be whole bytes: the suffix m means thousandths of a byte; write Mi for mebibytes"
	case isExtended(name) && !isWhole(q):
		problem = "must be a whole number: extended resources are not divided"
	case isHugePages(name) && !isMultiple(q, name):
		problem = "must be a multiple of the page size in the resource's name"
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(path, q.String(), problem)}
}

// validateRequests compares by value, so that 1.5 and 1500m are equal and 256Mi is above 256M.
func validateRequests(path *field.Path, r corev1.ResourceRequirements) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		at, fixed := path.Child("requests").Key(string(name)), isHugePages(name) || isExtended(name)
		switch {
		case !limited && fixed:
			errs = append(errs, field.Required(path.Child("limits").Key(string(name)), fmt.Sprintf("%s needs a limit equal to its request; add it", name)))
		case !limited:
		case fixed && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("must equal the limit of %s: %s is not shared; make them equal", limit.String(), name)))
		case request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(at, request.String(), fmt.Sprintf("is above the limit of %s (%s > %s); lower the request or raise the limit", limit.String(), plain(request), plain(limit))))
		}
	}
	return errs
}

func validateHugePages(path *field.Path, r corev1.ResourceRequirements) field.ErrorList {
	names := slices.Concat(slices.Collect(maps.Keys(r.Limits)), slices.Collect(maps.Keys(r.Requests)))
	if !slices.ContainsFunc(names, isHugePages) ||
		slices.Contains(names, corev1.ResourceCPU) || slices.Contains(names, corev1.ResourceMemory) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "huge pages cannot stand alone; add a cpu or memory request or limit")}
}

func isResource(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	default:
		return isExtended(name) || isHugePages(name) && pageSize(name) > 0 && len(content.IsLabelKey(string(name))) == 0
	}
}

// isExtended tells whether the name is that of an extended resource: one under a domain other than Kubernetes' own, and
// short enough to be counted in a quota.
func isExtended(name corev1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") && !strings.Contains(s, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix) &&
		len(content.IsLabelKey(corev1.DefaultResourceRequestsPrefix+s)) == 0
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func countsBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(name)
}

// pageSize is the size in bytes that the name of a hugepages resource holds; 0 when it holds none.
func pageSize(name corev1.ResourceName) int64 {
	size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
	if err != nil || !isWhole(size) {
		return 0
	}
	return size.Value()
}

func isMultiple(q resource.Quantity, name corev1.ResourceName) bool {
	return q.Value()%pageSize(name) == 0
}

// isWhole tells whether rounding to a whole number loses nothing.
func isWhole(q resource.Quantity) bool {
	q = q.DeepCopy()
	return q.RoundUp(0)
}

// plain writes a quantity without suffix, so that two of them can be compared by eye.
func plain(q resource.Quantity) string {
	q = q.DeepCopy()
	return q.AsDec().String()
}
