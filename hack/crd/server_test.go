package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

const checkedIn = "../../config/crd/bases/app.ydzs.io_myapps.yaml"

func readCRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash(checkedIn))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func rootSchema(t testing.TB) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema
}

// server does with a custom resource what the API server does, in the same order and by the same code.
type server struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

func newServer(t testing.TB) *server {
	t.Helper()
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(rootSchema(t), internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		t.Fatal(err)
	}
	return &server{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// read parses a request's body, drops what the schema does not know and sets the defaults.
func (s *server) read(t testing.TB, body []byte) map[string]any {
	t.Helper()
	object, err := s.parse(body)
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return object
}

func (s *server) parse(body []byte) (map[string]any, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	pruning.Prune(u.Object, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s.structural)
	defaulting.Default(u.Object, s.structural)
	return u.Object, nil
}

// bySchema judges an object by the schema alone.
func (s *server) bySchema(object map[string]any) field.ErrorList {
	return append(validation.ValidateCustomResource(nil, object, s.validator),
		listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
}

// judge judges an object by schema and rules; old is nil for a new one.
func (s *server) judge(object, old map[string]any) field.ErrorList {
	errs := s.bySchema(object)
	if len(errs) > 0 {
		return errs
	}
	var before any
	if old != nil {
		before = old
	}
	errs, _ = s.rules.Validate(context.Background(), nil, s.structural, object, before, celconfig.RuntimeCELCostBudget)
	return errs
}

// create reads and judges a new MyApp named web with this spec, in YAML.
func (s *server) create(t testing.TB, spec string) (map[string]any, field.ErrorList) {
	t.Helper()
	object := s.read(t, bodyOf(t, "web", spec))
	return object, s.judge(object, nil)
}

func bodyOf(t testing.TB, name, spec string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(spec))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "app.ydzs.io/v1beta1", "kind": "MyApp",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     json.RawMessage(raw),
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// paths returns the distinct fields that errors speak of. The API server adds errors without a field to some.
func paths(errs field.ErrorList) []string {
	var all []string
	for _, e := range errs {
		known := false
		for _, p := range all {
			known = known || p == e.Field
		}
		if !known && e.Field != "" && !strings.HasPrefix(e.Field, "<nil>") {
			all = append(all, e.Field)
		}
	}
	return all
}
