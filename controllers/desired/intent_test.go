package desired

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// An intent is compared with what the API server says we own. The rules that make the two agree are those of the package
// comment; here they are held against every sample.

func TestIntentsHoldNothingEmpty(t *testing.T) {
	forEach(t, func(t *testing.T, app *v1beta1.MyApp) {
		for kind, intent := range intents(t, app) {
			if found := empties(kind, intent); len(found) > 0 {
				t.Errorf("the API server would drop these, and the operator would apply the %s for ever: %v", kind, found)
			}
		}
	})
}

func TestIntentsHoldNoKeyTwice(t *testing.T) {
	forEach(t, func(t *testing.T, app *v1beta1.MyApp) {
		for kind, intent := range intents(t, app) {
			if found := duplicates(kind, intent); len(found) > 0 {
				t.Errorf("the API server would refuse the %s: %v", kind, found)
			}
		}
	})
}

func TestAtomicStructsAreWrittenInFull(t *testing.T) {
	forEach(t, func(t *testing.T, app *v1beta1.MyApp) {
		walk("", intents(t, app)["Deployment"], func(path string, v any) {
			object, _ := v.(map[string]any)
			switch {
			case strings.HasSuffix(path, ".fieldRef") && object["apiVersion"] != "v1":
				t.Errorf("%s: the API server defaults apiVersion, and the operator would apply for ever: %v", path, object)
			case strings.HasSuffix(path, ".resourceFieldRef") && object["divisor"] == nil:
				t.Errorf("%s: the API server defaults divisor, and the operator would apply for ever: %v", path, object)
			}
		})
	})
}

// The checks above must be able to fail.
func TestChecksOfIntentsFindFaults(t *testing.T) {
	var bad any
	err := json.Unmarshal([]byte(`{"a": [], "b": {}, "c": "", "d": {"emptyDir": {}}, "securityContext": {}, "annotations": {"k": ""},
		"args": [""], "httpHeaders": [{"name": "n", "value": ""}], "env": [{"name": "n", "value": ""}, {"name": "n"}],
		"ports": [{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}]}`), &bad)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"X.a", "X.b", "X.c", "X.env[0].value", "X.securityContext"}
	if diff := cmp.Diff(want, empties("X", bad)); diff != "" {
		t.Errorf("empty values (-want +got):\n%s", diff)
	}
	want = []string{"X.env: n", "X.ports: 1/TCP"}
	if diff := cmp.Diff(want, duplicates("X", bad)); diff != "" {
		t.Errorf("duplicate keys (-want +got):\n%s", diff)
	}
}

// intents are the rendered children, decoded from their JSON.
func intents(t testing.TB, app *v1beta1.MyApp) map[string]any {
	t.Helper()
	all := map[string]any{}
	add := func(kind string, raw []byte) {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		all[kind] = v
	}
	for _, c := range children(app) {
		add(c.kind, encode(t, c.intent))
	}
	return all
}

// walk visits every value of decoded JSON in a fixed order.
func walk(path string, v any, visit func(path string, v any)) {
	visit(path, v)
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			walk(path+"."+key, v[key], visit)
		}
	case []any:
		for i, element := range v {
			walk(fmt.Sprintf("%s[%d]", path, i), element, visit)
		}
	}
}

// keptEmpty are the places where the API server keeps an empty string: values that users own, and elements and fields of
// lists that are applied as one.
var keptEmpty = []string{".annotations.", ".labels.", ".args[", ".command[", ".httpHeaders["}

// keptObjects are the objects that mean something although they are empty.
var keptObjects = []string{".emptyDir", ".namespaceSelector"}

func empties(kind string, intent any) []string {
	var found []string
	walk(kind, intent, func(path string, v any) {
		kept := slices.ContainsFunc(keptEmpty, func(s string) bool { return strings.Contains(path, s) })
		switch v := v.(type) {
		case string:
			if v == "" && !kept {
				found = append(found, path)
			}
		case map[string]any:
			if len(v) == 0 && !slices.ContainsFunc(keptObjects, func(s string) bool { return strings.HasSuffix(path, s) }) {
				found = append(found, path)
			}
		case []any:
			if len(v) == 0 {
				found = append(found, path)
			}
		case nil:
			found = append(found, path)
		}
	})
	return found
}

// listKeys are the keys of keyed lists, by the name of the list; ports differ between a container and a Service.
var listKeys = map[string][]string{
	"env": {"name"}, "imagePullSecrets": {"name"}, "volumes": {"name"}, "volumeMounts": {"mountPath"}, "containers": {"name"},
	"ports": {"containerPort", "port", "protocol"}, "ownerReferences": {"uid"},
}

func duplicates(kind string, intent any) []string {
	var found []string
	walk(kind, intent, func(path string, v any) {
		list, ok := v.([]any)
		keys := listKeys[path[strings.LastIndexByte(path, '.')+1:]]
		if !ok || keys == nil {
			return
		}
		seen := map[string]bool{}
		for _, element := range list {
			var parts []string
			for _, key := range keys {
				if value, ok := element.(map[string]any)[key]; ok {
					parts = append(parts, fmt.Sprint(value))
				}
			}
			id := strings.Join(parts, "/")
			if seen[id] {
				found = append(found, path+": "+id)
			}
			seen[id] = true
		}
	})
	return found
}
