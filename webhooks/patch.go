package webhooks

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// defaultingPatch returns the operations that give raw, which decodes to app, what SetDefaults gives app and, on create,
// the finalizer that its deletion policy needs. Each of them adds; none touches a value that raw already has, null apart.
func defaultingPatch(raw map[string]any, app *v1beta1.MyApp, create bool) ([]jsonpatch.JsonPatchOperation, error) {
	defaulted := app.DeepCopy()
	v1beta1.SetDefaults(defaulted)
	missing, err := addedFields(app, defaulted)
	if err != nil {
		return nil, err
	}
	patch := additions(raw, missing, "")
	if create && defaulted.Spec.DeletionPolicy == v1beta1.DeletionPolicyDrain &&
		!slices.Contains(app.Finalizers, v1beta1.Finalizer) {
		patch = append(patch, finalizerAddition(raw)...)
	}
	return patch, nil
}

// addedFields returns the fields that after has and before has not, as a sparse object.
func addedFields(before, after *v1beta1.MyApp) (map[string]any, error) {
	b, a := &v1beta1.MyApp{}, &v1beta1.MyApp{}
	b.Spec, a.Spec = differing(before.Spec, after.Spec)
	old, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		return nil, fmt.Errorf("encode MyApp: %w", err)
	}
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		return nil, fmt.Errorf("encode MyApp: %w", err)
	}
	return difference(old, value), nil
}

// differing empties the fields that are equal in both: encoding the lists of a large MyApp, which no default touches,
// would take most of the time of an answer.
func differing(before, after v1beta1.MyAppSpec) (b, a v1beta1.MyAppSpec) {
	from, to := reflect.ValueOf(&before).Elem(), reflect.ValueOf(&after).Elem()
	for i := range from.NumField() {
		if reflect.DeepEqual(from.Field(i).Interface(), to.Field(i).Interface()) {
			from.Field(i).SetZero()
			to.Field(i).SetZero()
		}
	}
	return before, after
}

func difference(before, after map[string]any) map[string]any {
	diff := map[string]any{}
	for key, value := range after {
		old := before[key]
		if reflect.DeepEqual(old, value) {
			continue
		}
		if object, ok := value.(map[string]any); ok {
			oldObject, _ := old.(map[string]any)
			value = difference(oldObject, object)
		}
		diff[key] = value
	}
	return diff
}

// additions lays the sparse object over raw. Where raw has no object to add to (a missing or null spec), the whole part
// is added as one: an operation below a path that does not exist would make the API server refuse the request. A value
// that raw has is left, be it one that the types take for missing, like an empty string: the schema has to judge what was
// sent, whether this webhook answers or not.
func additions(raw, sparse map[string]any, path string) []jsonpatch.JsonPatchOperation {
	var patch []jsonpatch.JsonPatchOperation
	for _, key := range slices.Sorted(maps.Keys(sparse)) {
		at := path + "/" + pointerEscape.Replace(key)
		object, isObject := sparse[key].(map[string]any)
		rawObject, hasObject := raw[key].(map[string]any)
		switch {
		case isObject && hasObject:
			patch = append(patch, additions(rawObject, object, at)...)
		case raw[key] == nil:
			patch = append(patch, jsonpatch.NewOperation("add", at, sparse[key]))
		}
	}
	return patch
}

// pointerEscape writes a key as an element of a JSON pointer (RFC 6901).
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// finalizerAddition appends to the finalizers that are there, whatever they are, or starts the list.
func finalizerAddition(raw map[string]any) []jsonpatch.JsonPatchOperation {
	metadata, _ := raw["metadata"].(map[string]any)
	if _, ok := metadata["finalizers"].([]any); ok {
		return []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/metadata/finalizers/-", v1beta1.Finalizer)}
	}
	list := map[string]any{"finalizers": []any{v1beta1.Finalizer}}
	return additions(raw, map[string]any{"metadata": list}, "")
}
