package wrappers_test

import (
	"reflect"
	"testing"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// excluded are fields that cannot stand beside another one.
var excluded = map[string]bool{"PodDisruptionBudgetSpec.MinAvailable": true, "PodDisruptionBudgetSpec.Disabled": true}

// A field that is added to the API and not to fullest.yaml would be left out of every test of the fullest MyApp. Of the
// elements of a list each field has to be set in one.
func TestFullestSetsEveryField(t *testing.T) {
	isSet := map[string]bool{}
	visit(reflect.ValueOf(wrappers.Fullest("web", "default").Obj().Spec), isSet)
	if len(isSet) < 60 {
		t.Fatalf("only %d fields are looked at", len(isSet))
	}
	for field, set := range isSet {
		if !set && !excluded[field] {
			t.Errorf("fullest.yaml does not set %s", field)
		}
	}
}

// visit notes for each field of the API's own types whether it is set; those of Kubernetes have fields that a MyApp may
// not set.
func visit(v reflect.Value, isSet map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), isSet)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), isSet)
		}
	case reflect.Struct:
		if v.Type().PkgPath() != reflect.TypeFor[v1beta1.MyApp]().PkgPath() {
			return
		}
		for i := range v.NumField() {
			field := v.Type().Name() + "." + v.Type().Field(i).Name
			isSet[field] = isSet[field] || !v.Field(i).IsZero()
			visit(v.Field(i), isSet)
		}
	}
}
