package webhooks

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func newMutator(t testing.TB) *mutator {
	t.Helper()
	return &mutator{decoder: admission.NewDecoder(testScheme(t))}
}

func (m *mutator) send(t testing.TB, op admissionv1.Operation, raw []byte) admission.Response {
	t.Helper()
	return m.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: op, Object: runtime.RawExtension{Raw: raw},
	}})
}

const (
	addSize      = `add /spec/size 1`
	addDeletion  = `add /spec/deletionPolicy "Delete"`
	addGrace     = `add /spec/terminationGracePeriodSeconds 30`
	addFinalizer = `add /metadata/finalizers/- "app.ydzs.io/teardown"`
	newFinalizer = `add /metadata/finalizers ["app.ydzs.io/teardown"]`
)

// rawCases are MyApps as somebody may send them, and the exact patch. They are the seeds of the fuzz test too.
var rawCases = []struct {
	name, raw string
	op        admissionv1.Operation
	want      []string
}{
	{name: "a plain one", raw: `{metadata: {name: a}, spec: {image: a}}`, want: []string{addDeletion, addSize, addGrace}},
	{name: "with its kind", raw: `{apiVersion: app.ydzs.io/v1beta1, kind: MyApp, metadata: {name: a}, spec: {image: a}}`, want: []string{addDeletion, addSize, addGrace}},
	{name: "nothing to add", raw: `{metadata: {name: a}, spec: {image: a, size: 2, deletionPolicy: Delete, terminationGracePeriodSeconds: 5}}`},
	{name: "Z01 size 0", raw: `{metadata: {name: a}, spec: {image: a, size: 0}}`, want: []string{addDeletion, addGrace}},
	{name: "Z01 a negative size is for the schema", raw: `{metadata: {name: a}, spec: {image: a, size: -1}}`, want: []string{addDeletion, addGrace}},
	{name: "nulls inside", raw: `{metadata: {name: a}, spec: {image: a, size: null, ports: null, service: {type: null}, envs: [null]}}`, want: []string{addDeletion, addSize, addGrace}},
	{name: "no spec", raw: `{metadata: {name: a}}`, want: []string{`add /spec {"deletionPolicy":"Delete","size":1,"terminationGracePeriodSeconds":30}`}},
	{name: "a null spec", raw: `{metadata: {name: a}, spec: null}`, want: []string{`add /spec {"deletionPolicy":"Delete","size":1,"terminationGracePeriodSeconds":30}`}},
	{name: "an empty spec", raw: `{metadata: {name: a}, spec: {}}`, want: []string{addDeletion, addSize, addGrace}},
	{name: "nothing at all", raw: `{}`, want: []string{`add /spec {"deletionPolicy":"Delete","size":1,"terminationGracePeriodSeconds":30}`}},
	{
		name: "W03 fields of a later version",
		raw:  `{metadata: {name: a, futureMeta: 1}, spec: {image: a, futureField: {a: 1}, ports: [{port: 80, future: [1]}]}, future: {b: 2}}`,
		want: []string{addDeletion, addSize, addGrace},
	},
	{name: "W03 another case is another field", raw: `{metadata: {name: a}, spec: {image: a, Size: 3}}`, want: []string{addDeletion, addSize, addGrace}},
	{name: "Q06 a bare fraction is not respelled", raw: `{metadata: {name: a}, spec: {image: a, resources: {requests: {cpu: 0.5}}}}`, want: []string{addDeletion, addSize, addGrace}},
	{name: "an empty string is for the schema", raw: `{metadata: {name: a}, spec: {image: a, deletionPolicy: ""}}`, want: []string{addSize, addGrace}},
	{name: "E08 a bare number as value", raw: `{metadata: {name: a}, spec: {image: a, envs: [{name: PORT, value: 8080}]}}`},
	{name: "E08 a bare boolean as value", raw: `{metadata: {name: a}, spec: {image: a, envs: [{name: DEBUG, value: true}]}}`},
	{name: "a wrong type", raw: `{metadata: {name: a}, spec: {image: [a]}}`},
	{name: "a wrong type of spec", raw: `{metadata: {name: a}, spec: []}`},
	{name: "a wrong type of metadata", raw: `{metadata: a, spec: {}}`},
	{name: "a wrong type of finalizers", raw: `{metadata: {finalizers: a}, spec: {deletionPolicy: Drain}}`},
	{name: "another kind", raw: `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`},
	{name: "null", raw: `null`},
	{name: "a list", raw: `[]`},
	{name: "a string", raw: `a`},
	{name: "a date that no JSON has", raw: `{metadata: {creationTimestamp: x}, spec: {}}`},
	{name: "Drain", raw: `{metadata: {name: a}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace, newFinalizer}},
	{name: "Drain with null finalizers", raw: `{metadata: {finalizers: null}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace, newFinalizer}},
	{name: "Drain with no finalizers", raw: `{metadata: {finalizers: []}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace, addFinalizer}},
	{name: "Drain with another finalizer", raw: `{metadata: {finalizers: [a.b/c]}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace, addFinalizer}},
	{name: "Drain with a null finalizer", raw: `{metadata: {finalizers: [null]}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace, addFinalizer}},
	{name: "Drain with ours", raw: `{metadata: {finalizers: [app.ydzs.io/teardown]}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace}},
	{
		name: "Drain without metadata", raw: `{spec: {image: a, deletionPolicy: Drain}}`,
		want: []string{addSize, addGrace, `add /metadata {"finalizers":["app.ydzs.io/teardown"]}`},
	},
	{name: "Drain on update", op: admissionv1.Update, raw: `{metadata: {name: a}, spec: {image: a, deletionPolicy: Drain}}`, want: []string{addSize, addGrace}},
	{name: "F01 a deleting one", op: admissionv1.Update, raw: `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {image: a}}`},
	{name: "a deletion", op: admissionv1.Delete, raw: `{metadata: {name: a}, spec: {image: a}}`},
}

func TestMutate(t *testing.T) {
	for _, c := range rawCases {
		t.Run(c.name, func(t *testing.T) {
			op, raw := c.op, toJSON(t, c.raw)
			if op == "" {
				op = admissionv1.Create
			}
			response := newMutator(t).send(t, op, raw)
			var got []string
			for _, p := range response.Patches {
				got = append(got, fmt.Sprintf("%s %s %s", p.Operation, p.Path, encode(t, p.Value)))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			checkPatch(t, newMutator(t), op, raw)
		})
	}
}

// checkPatch states what holds for every patch, whatever was sent: it applies to the bytes as sent; it only adds; the
// result means what was sent, with the defaults and the finalizer; and a second look finds nothing more to do.
func checkPatch(t *testing.T, m *mutator, op admissionv1.Operation, raw []byte) {
	t.Helper()
	response := m.send(t, op, raw)
	if !response.Allowed {
		t.Fatalf("%s is refused: %v", raw, response.Result)
	}
	patched := apply(t, response, raw)
	checkNothingLost(t, raw, patched)
	if again := m.send(t, op, patched); len(again.Patches) > 0 {
		t.Errorf("%s is patched a second time: %v", patched, again.Patches)
	}
	want, ok := decodeMyApp(t, m, raw)
	if !ok || string(raw) == "null" || !want.DeletionTimestamp.IsZero() || (op != admissionv1.Create && op != admissionv1.Update) {
		if len(response.Patches) > 0 {
			t.Errorf("%s is patched: %v", raw, response.Patches)
		}
		return
	}
	v1beta1.SetDefaults(want)
	if hasEmptyPolicy(t, raw) {
		want.Spec.DeletionPolicy = ""
	}
	if op == admissionv1.Create && want.Spec.DeletionPolicy == v1beta1.DeletionPolicyDrain && !slices.Contains(want.Finalizers, v1beta1.Finalizer) {
		want.Finalizers = append(want.Finalizers, v1beta1.Finalizer)
	}
	got, ok := decodeMyApp(t, m, patched)
	if !ok || !reflect.DeepEqual(want, got) {
		t.Errorf("%s becomes %s\n(-want +got):\n%s", raw, patched, cmp.Diff(want, got))
	}
}

func decodeMyApp(t *testing.T, m *mutator, raw []byte) (*v1beta1.MyApp, bool) {
	t.Helper()
	app := &v1beta1.MyApp{}
	return app, m.decoder.DecodeRaw(runtime.RawExtension{Raw: raw}, app) == nil
}

func hasEmptyPolicy(t *testing.T, raw []byte) bool {
	t.Helper()
	var sent map[string]any
	if err := json.Unmarshal(raw, &sent); err != nil {
		t.Fatal(err)
	}
	spec, _ := sent["spec"].(map[string]any)
	return spec["deletionPolicy"] == ""
}

// apply does what the API server does with a response.
func apply(t *testing.T, response admission.Response, raw []byte) []byte {
	t.Helper()
	if len(response.Patches) == 0 {
		return raw
	}
	patch, err := jsonpatch.DecodePatch(encode(t, response.Patches))
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply(raw)
	if err != nil {
		t.Fatalf("the patch %v does not apply to %s: %v", response.Patches, raw, err)
	}
	return patched
}

func checkNothingLost(t *testing.T, raw, patched []byte) {
	t.Helper()
	var before, after any
	if err := json.Unmarshal(raw, &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(patched, &after); err != nil {
		t.Fatal(err)
	}
	for _, path := range lost(before, after, "") {
		t.Errorf("%s is lost: %s becomes %s", path, raw, patched)
	}
}

// lost lists the values of before, null apart, that after has not.
func lost(before, after any, path string) []string {
	var paths []string
	switch b := before.(type) {
	case nil:
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			return []string{path}
		}
		for key := range b {
			paths = append(paths, lost(b[key], a[key], path+"/"+key)...)
		}
	case []any:
		a, ok := after.([]any)
		if !ok || len(a) < len(b) {
			return []string{path}
		}
		for i := range b {
			paths = append(paths, lost(b[i], a[i], fmt.Sprintf("%s/%d", path, i))...)
		}
	default:
		if !reflect.DeepEqual(before, after) {
			return []string{path}
		}
	}
	return paths
}

func TestPointersAreEscaped(t *testing.T) {
	got := additions(map[string]any{"a": map[string]any{}}, map[string]any{"a": map[string]any{"b/c~d": 1}}, "")
	if len(got) != 1 || got[0].Path != "/a/b~1c~0d" {
		t.Errorf("got %v, want one operation at /a/b~1c~0d", got)
	}
}

// The messages that the two webhooks' markers produce name these paths.
func TestPathsAreThoseOfTheKind(t *testing.T) {
	suffix := strings.ReplaceAll(v1beta1.GroupVersion.Group, ".", "-") + "-" + v1beta1.GroupVersion.Version + "-" + strings.ToLower(v1beta1.Kind.Kind)
	if mutatePath != "/mutate-"+suffix || validatePath != "/validate-"+suffix {
		t.Errorf("%s and %s do not end in %s", mutatePath, validatePath, suffix)
	}
}
