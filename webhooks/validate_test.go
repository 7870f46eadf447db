package webhooks

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestValidateName(t *testing.T) {
	for _, c := range []struct {
		name, value, says string
	}{
		{"a plain name", "shop", ""},
		{"N01 52 letters", strings.Repeat("a", 52), ""},
		{"N01 57 letters", strings.Repeat("a", 57), ""},
		{"N01 63 letters", strings.Repeat("a", 63), ""},
		{"N01 64 letters", strings.Repeat("a", 64), "63"},
		{"N01 253 letters", strings.Repeat("a", 253), "63"},
		{"N02 a leading digit", "1st-shop", "start with a lower case letter"},
		{"N02 a dot", "shop.v2", "no dots"},
		{"a dash at the end", "shop-", "not end with '-'"},
		{"a capital letter", "Shop", "lower case"},
	} {
		t.Run(c.name, func(t *testing.T) {
			errs := validateName(field.NewPath("metadata", "name"), c.value)
			if c.says == "" {
				if len(errs) > 0 {
					t.Fatalf("refused: %v", errs)
				}
				return
			}
			if len(errs) != 1 || errs[0].Field != "metadata.name" || !strings.Contains(errs[0].Detail, c.says) {
				t.Fatalf("want one problem of metadata.name that says %q, got %v", c.says, errs)
			}
		})
	}
}

func TestTheFirstManifestHasNoProblem(t *testing.T) {
	runSpecCases(t, []specCase{{
		name: "nginx",
		spec: `{size: 2, image: "nginx:1.7.9", ports: [{port: 80, targetPort: 80, nodePort: 30002}]}`,
	}})
}

// Everything that a MyApp may leave out is left out, and everything that it may hold is there but empty.
func TestNothingPanicsOnEmptyValues(t *testing.T) {
	full := &v1beta1.MyApp{}
	allocate(reflect.ValueOf(&full.Spec).Elem())
	for name, app := range map[string]*v1beta1.MyApp{"the zero MyApp": {}, "all pointers set": full} {
		for _, profile := range []v1beta1.SecurityProfile{"", v1beta1.SecurityProfileRestricted} {
			t.Run(name+string(profile), func(t *testing.T) {
				opts := Options{DefaultSecurityProfile: profile}
				_ = validate(app, opts).ToAggregate()
				_ = warnings(app)
				if introduced, _ := validateUpdate(app, app, opts); len(introduced) > 0 {
					t.Errorf("an update that changes nothing brings in %v", introduced)
				}
			})
		}
	}
}

// allocate gives every pointer a zero value and every list and map one entry.
func allocate(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		allocate(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			allocate(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		allocate(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	}
}
