package webhooks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// validateChildren refuses to promise what this operator never makes.
func validateChildren(spec *v1beta1.MyAppSpec, disabled []string) field.ErrorList {
	var errs field.ErrorList
	for _, c := range v1beta1.OptionalChildren {
		if c.Asked(spec) && v1beta1.IsDisabled(c.Kind, disabled) {
			errs = append(errs, field.Forbidden(field.NewPath(c.Field), fmt.Sprintf("this operator makes no %s (--disable-children); remove the field", c.Kind)))
		}
	}
	return errs
}
