package v1beta1

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetDefaults(t *testing.T) {
	cases := []struct{ name, spec, want string }{
		{"Z01 unset", `{}`, `{"image":"","size":1,"deletionPolicy":"Delete","terminationGracePeriodSeconds":30}`},
		{"Z01 zero is kept", `{"size":0,"terminationGracePeriodSeconds":0}`,
			`{"image":"","size":0,"deletionPolicy":"Delete","terminationGracePeriodSeconds":0}`},
		{"given values are kept", `{"size":3,"deletionPolicy":"Drain","terminationGracePeriodSeconds":5}`,
			`{"image":"","size":3,"deletionPolicy":"Drain","terminationGracePeriodSeconds":5}`},
		{"what depends on another field is not stored", `{"image":"web","ports":[{"port":80}],"service":{},"probes":{}}`,
			`{"image":"web","size":1,"deletionPolicy":"Delete","terminationGracePeriodSeconds":30,
			  "ports":[{"port":80,"targetPort":0}],"service":{},"probes":{}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := &MyApp{}
			if err := json.Unmarshal([]byte(c.spec), &app.Spec); err != nil {
				t.Fatal(err)
			}
			SetDefaults(app)
			if diff := cmp.Diff(parsed(t, []byte(c.want)), parsed(t, encode(t, app.Spec))); diff != "" {
				t.Errorf("`kubectl get -o yaml` shows another spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetDefaultsIsIdempotent(t *testing.T) {
	for name, app := range map[string]*MyApp{"empty": {}, "every field empty but there": filled(t)} {
		SetDefaults(app)
		once := app.DeepCopy()
		SetDefaults(app)
		if diff := cmp.Diff(once, app); diff != "" {
			t.Errorf("%s: every update of a MyApp would change it (-once +twice):\n%s", name, diff)
		}
	}
}

// O01: lists of a custom resource are atomic in a merge patch, so that a default inside an element makes every second
// `kubectl apply` a write.
func TestO01SetDefaultsTouchesNoListElement(t *testing.T) {
	app := filled(t)
	before := elements("spec", reflect.ValueOf(app.Spec))
	SetDefaults(app)
	if diff := cmp.Diff(before, elements("spec", reflect.ValueOf(app.Spec))); diff != "" {
		t.Errorf("`kubectl apply` of the same manifest would never be unchanged (-before +after):\n%s", diff)
	}
	for _, list := range []string{"spec.Ports[0]", "spec.Envs[0]", "spec.EnvFrom[0]", "spec.ImagePullSecrets[0]", "spec.SecurityContext.Capabilities.Add[0]"} {
		if _, ok := before[list]; !ok {
			t.Errorf("the walk does not come to %s", list)
		}
	}
}

// filled is a MyApp with every pointer set, every list and map of one zero element, down to a depth that holds all of ours.
func filled(t *testing.T) *MyApp {
	t.Helper()
	app := &MyApp{}
	fill(reflect.ValueOf(&app.Spec).Elem(), 6)
	return app
}

func fill(v reflect.Value, depth int) {
	if depth == 0 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, depth-1)
		}
	}
}

// elements are all list elements below a value, as JSON by path.
func elements(path string, v reflect.Value) map[string]string {
	all := map[string]string{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				raw, err := json.Marshal(v.Index(i).Interface())
				if err != nil {
					raw = []byte(err.Error())
				}
				all[path+"["+string(rune('0'+i))+"]"] = string(raw)
				walk(path+"[0]", v.Index(i))
			}
		case reflect.Struct:
			for field, value := range v.Fields() {
				if field.IsExported() {
					walk(strings.TrimSuffix(path+"."+field.Name, "."), value)
				}
			}
		}
	}
	walk(path, v)
	return all
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func parsed(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
