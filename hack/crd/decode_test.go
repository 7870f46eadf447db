package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// One stored object that Go cannot decode would make the typed list of all MyApps fail, and with it the operator. So
// whatever the schema admits has to decode; the rules, which come later, are left out here.

// decode reads a stored object as a typed client does.
func decode(object map[string]any) (*v1beta1.MyApp, error) {
	stored, err := (&unstructured.Unstructured{Object: object}).MarshalJSON()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	app := &v1beta1.MyApp{}
	_, _, err = serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode(stored, nil, app)
	return app, err
}

// jsonValues are put into every field.
var jsonValues = []string{
	`null`, `true`, `false`, `[]`, `{}`, `[null]`, `{"a":null}`, `[[]]`, `[1]`, `["a"]`,
	`0`, `1`, `-1`, `-0`, `1.0`, `1.5`, `1e2`, `1E+2`, `1e-2`, `80`, `300`, `65535`, `65536`,
	`2147483647`, `2147483648`, `-2147483648`, `-2147483649`, `4294967296`,
	`9007199254740991`, `9007199254740992`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`,
	`-9223372036854775808`, `-9223372036854775809`, `18446744073709551616`, `1e20`, `1e21`, `1e30`, `1e308`,
	`""`, `" "`, `"a"`, `"A"`, `"v1"`, `"Always"`, `"\u0000"`, `"ü"`, `"😀"`, `"true"`, `"null"`, `"0x1"`,
	`"0"`, `"1"`, `"+1"`, `"-1"`, `" 1"`, `"1 "`, `".5"`, `"1."`, `"."`, `"1.5"`, `"1..5"`, `"1,5"`, `"--1"`,
	`"1Ki"`, `"1ki"`, `"1Ei"`, `"1E"`, `"1E1"`, `"1e1"`, `"1e"`, `"1e+"`, `"1e-9"`, `"1e+99"`, `"1e99"`, `"1e100"`,
	`"1e1.5"`, `"1e.5"`, `"1e9999999999"`, `"1m"`, `"1n"`, `"1u"`, `"1k"`, `"1K"`, `"1i"`, `"1Eie"`, `"1.Ki"`, `".5Mi"`,
	`"/"`, `"/a"`, `"/a:b"`, `"0%"`, `"7%"`, `"100%"`, `"101%"`, `"00%"`, `"9999%"`, `"%"`, `"1.5%"`, `"30s"`, `"1h0m"`, `"0s"`, `"s"`,
	`"0.0000000001"`, `"99999999999999999999999999999999"`, `"-99999999999999999999Ei"`, `"NaN"`, `"Inf"`, `"1_000"`,
	`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.123456789Z"`, `"2026-01-02T03:04:05+23:59"`,
	`"2026-01-02T03:04:05+99:99"`, `"2026-01-02t03:04:05z"`, `"2026-01-02T03:04:05,5Z"`, `"2026-01-02T24:00:00Z"`,
	`"2026-01-02T03:04:60Z"`, `"2026-02-30T03:04:05Z"`, `"0000-01-01T00:00:00Z"`, `"2026-01-02"`, `"2026-01-02T03:04:05"`,
}

// nodes are all fields of spec and status, by path.
func nodes(root *schema) map[string]schema {
	all := map[string]schema{}
	walk(root, func(path string, s *schema) {
		if strings.HasPrefix(path, "spec") || strings.HasPrefix(path, "status") {
			all[path] = *s
		}
	})
	return all
}

// isLeaf tells whether a field holds no other fields.
func isLeaf(s schema) bool {
	return s.Properties == nil && s.Items == nil && s.AdditionalProperties == nil
}

// valuesFor are the values tried in a field.
func valuesFor(s schema) []string {
	values := jsonValues
	for _, v := range s.Enum {
		values = append(values, string(v.Raw))
	}
	return values
}

// objectWith is the smallest valid MyApp in which the field at path is the value.
func objectWith(root *schema, path, value string) []byte {
	path = strings.NewReplacer("[]", ".[]", "{}", ".{}").Replace(path)
	object := place(root, strings.Split(path, "."), json.RawMessage(value)).(map[string]any)
	object["apiVersion"], object["kind"] = v1beta1.GroupVersion.String(), v1beta1.Kind.Kind
	object["metadata"] = map[string]any{"name": "web", "namespace": "default"}
	body, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("%v: %s", err, value))
	}
	return body
}

func place(s *schema, segments []string, value any) any {
	if len(segments) == 0 {
		return value
	}
	switch head := segments[0]; head {
	case "[]":
		return []any{place(s.Items.Schema, segments[1:], value)}
	case "{}":
		return map[string]any{"cpu": place(s.AdditionalProperties.Schema, segments[1:], value)}
	default:
		object := smallest(s).(map[string]any)
		child := s.Properties[head]
		object[head] = place(&child, segments[1:], value)
		return object
	}
}

// smallest is the least that the schema admits.
func smallest(s *schema) any {
	switch {
	case s.XIntOrString:
		return 1
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	case strings.HasPrefix(s.Pattern, "^/"):
		return "/a"
	case s.Type == "string":
		return "a"
	case s.Type == "integer":
		return int64(*s.Minimum)
	case s.Type == "boolean":
		return true
	case s.Type == "array" && s.MinItems != nil:
		return []any{smallest(s.Items.Schema)}
	case s.Type == "array":
		return []any{}
	}
	object := map[string]any{}
	for _, name := range s.Required {
		if child := s.Properties[name]; name != "metadata" {
			object[name] = smallest(&child)
		}
	}
	return object
}

// admittedButUnreadable judges one body: whether the schema admits it, and if so the error of decoding it.
func (s *server) admittedButUnreadable(body []byte) (admitted bool, err error) {
	object, _ := s.parse(body) // what cannot be parsed is not admitted
	if object == nil || len(s.bySchema(object)) > 0 {
		return false, nil
	}
	_, err = decode(object)
	return true, err
}

func TestWhatTheSchemaAdmitsDecodes(t *testing.T) {
	s, root := newServer(t), rootSchema(t)
	for path, node := range nodes(root) {
		values, admitted := valuesFor(node), 0
		for _, value := range values {
			ok, err := s.admittedButUnreadable(objectWith(root, path, value))
			if err != nil {
				t.Errorf("%s: %s is admitted and then stops the list of all MyApps: %v", path, value, err)
			}
			if ok {
				admitted++
			}
		}
		if isLeaf(node) && (admitted == 0 || admitted == len(values)) {
			t.Errorf("%s: %d of %d values are admitted, so the test shows nothing", path, admitted, len(values))
		}
	}
	t.Logf("%d fields, %d values each", len(nodes(root)), len(jsonValues))
}

// TestDecodeTestSeesTheGeneratedPattern shows that the test above would find the fault it exists for.
func TestDecodeTestSeesTheGeneratedPattern(t *testing.T) {
	s, root := newServer(t), rootSchema(t)
	body := objectWith(root, "spec.resources.limits{}", `"1e1.5"`)
	if len(s.bySchema(s.read(t, body))) == 0 {
		t.Fatal("the schema admits 1e1.5")
	}
	if _, err := decode(s.read(t, body)); err == nil {
		t.Fatal("Go decodes 1e1.5 after all; the pattern may be relaxed")
	}
}

// FuzzSchemaDecode puts any JSON value into any field.
func FuzzSchemaDecode(f *testing.F) {
	s, root := newServer(f), rootSchema(f)
	fields := nodes(root)
	all := sortedKeys(fields)
	for i, value := range jsonValues {
		f.Add(uint(i*len(all)/len(jsonValues)), value)
	}
	for i, path := range all {
		if fields[path].XIntOrString {
			f.Add(uint(i), `"1e1.5"`)
			f.Add(uint(i), `1e2`)
		}
	}
	f.Fuzz(func(t *testing.T, field uint, value string) {
		if !json.Valid([]byte(value)) {
			t.Skip()
		}
		path := all[field%uint(len(all))]
		if _, err := s.admittedButUnreadable(objectWith(root, path, value)); err != nil {
			t.Errorf("%s: %s is admitted and then stops the list of all MyApps: %v", path, value, err)
		}
	})
}
