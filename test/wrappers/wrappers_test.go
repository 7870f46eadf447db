package wrappers_test

import (
	"reflect"
	"testing"

	"ydzs.io/myapp-operator/test/wrappers"
)

// A field that is added to the API and not to fullest.yaml would be left out of every test of the fullest MyApp.
func TestFullestSetsEveryField(t *testing.T) {
	spec := wrappers.Fullest("web", "default").Obj().Spec
	for _, part := range []any{spec, *spec.Service, *spec.Probes} {
		v := reflect.ValueOf(part)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("fullest.yaml does not set %s.%s", v.Type().Name(), v.Type().Field(i).Name)
			}
		}
	}
}
