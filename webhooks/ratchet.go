package webhooks

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// validateUpdate splits the problems of app into those that the change introduced and those that old had too. Without
// this a rule that a later release adds would freeze every stored MyApp that breaks it.
func validateUpdate(old, app *v1beta1.MyApp, opts Options) (introduced, kept field.ErrorList) {
	before := map[string]int{}
	for _, e := range validate(old, opts) {
		before[identity(e)]++
	}
	for _, e := range validate(app, opts) {
		if id := identity(e); before[id] > 0 {
			before[id]--
			kept = append(kept, e)
			continue
		}
		introduced = append(introduced, e)
	}
	return append(introduced, validateServiceChange(field.NewPath("spec", "service"), &old.Spec, &app.Spec)...), kept
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

// identity is what makes two problems the same: the field, the kind, the value and the detail. An index does not count,
// so a problem stays old when entries are reordered, inserted or removed; its count does, so one more of it is new.
func identity(e *field.Error) string {
	return listIndex.ReplaceAllString(e.Field, "[]") + ": " + e.ErrorBody()
}
