package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/utils/ptr"

	"ydzs.io/myapp-operator/test/cluster"
)

// controllerGen runs the pinned controller-gen over the API types and returns the directory it wrote to.
func controllerGen(t *testing.T) string {
	t.Helper()
	root, err := cluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := cluster.Tools("controller-gen")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(tools["controller-gen"], "crd:maxDescLen=100000", "paths=./api/...", "output:crd:dir="+dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("controller-gen: %v\n%s", err, out)
	}
	return dir
}

func TestCheckedInFileIsFresh(t *testing.T) {
	in, out := controllerGen(t), filepath.Join(t.TempDir(), "crd.yaml")
	for range 2 { // the second time shows that the output depends on the input alone
		if err := run(in, out); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(checkedIn)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatalf("%s is stale; run make manifests (-checked in +generated):\n%s", checkedIn, diff)
		}
	}
}

func TestNothingIsUnbounded(t *testing.T) {
	if faults := check(rootSchema(t)); len(faults) > 0 {
		t.Errorf("the schema lets values of any size through:\n%s", strings.Join(faults, "\n"))
	}
}

// TestCheckFindsFaults breaks a good schema in every way that check knows.
func TestCheckFindsFaults(t *testing.T) {
	breaks := map[string]func(spec map[string]schema){
		"spec.image: string without maxLength or enum": func(p map[string]schema) { p["image"] = schema{Type: "string"} },
		"spec.ports: list without maxItems": func(p map[string]schema) {
			p["ports"] = schema{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schema{Type: "boolean"}}}
		},
		"spec.ports: list without a schema of its elements": func(p map[string]schema) {
			p["ports"] = schema{Type: "array", MaxItems: ptr.To[int64](1)}
		},
		"spec.podLabels: map without maxProperties": func(p map[string]schema) {
			p["podLabels"] = schema{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &schema{Type: "boolean"}}}
		},
		"spec.podLabels: map without a schema of its values": func(p map[string]schema) {
			p["podLabels"] = schema{Type: "object", MaxProperties: ptr.To[int64](1), AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}}
		},
		"spec.size: number without minimum and maximum": func(p map[string]schema) {
			p["size"] = schema{Type: "integer", Minimum: ptr.To(0.0)}
		},
		"spec.any: number without minimum and maximum": func(p map[string]schema) {
			p["any"] = schema{XIntOrString: true, MaxLength: ptr.To[int64](1)}
		},
		"spec.any: string without maxLength or enum": func(p map[string]schema) {
			p["any"] = schema{XIntOrString: true, Minimum: ptr.To(0.0), Maximum: ptr.To(0.0)}
		},
		"spec.image: has a default": func(p map[string]schema) {
			p["image"] = schema{Type: "string", MaxLength: ptr.To[int64](1), Default: &apiextensionsv1.JSON{Raw: []byte(`"a"`)}}
		},
		"spec.flags[]: has a default inside a list element": func(p map[string]schema) {
			p["flags"] = schema{Type: "array", MaxItems: ptr.To[int64](1), Items: &apiextensionsv1.JSONSchemaPropsOrArray{
				Schema: &schema{Type: "boolean", Default: &apiextensionsv1.JSON{Raw: []byte(`true`)}}}}
		},
		"spec.any: keeps unknown fields": func(p map[string]schema) {
			p["any"] = schema{Type: "object", XPreserveUnknownFields: ptr.To(true)}
		},
		"spec.any: object without properties": func(p map[string]schema) { p["any"] = schema{Type: "object"} },
		`spec.any: unknown type ""`:           func(p map[string]schema) { p["any"] = schema{} },
	}
	for want, breakIt := range breaks {
		t.Run(want, func(t *testing.T) {
			root := rootSchema(t)
			breakIt(root.Properties["spec"].Properties)
			if faults := check(root); !strings.Contains(strings.Join(faults, "\n"), want) {
				t.Errorf("check does not find the fault; it says %q", faults)
			}
		})
	}
}

func TestTransformRefusesRowsThatMatchNothing(t *testing.T) {
	crd := readCRD(t)
	delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "securityContext")
	err := transform(crd)
	if err == nil || !strings.Contains(err.Error(), "securityContext.privileged") {
		t.Errorf("a row of the table for a field that is gone must be an error, got %v", err)
	}
}

func TestPathPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"ports[].port", "spec.ports[].port", true},
		{"ports[].port", "spec.reports[].port", false},
		{"probes.*", "spec.probes.liveness", true},
		{"probes.*", "spec.probes.liveness.exec", false},
		{"spec.resources", "resources", false},
		{"podLabels{}", "spec.podLabels{}", true},
	} {
		if got := matches(tc.pattern, tc.path); got != tc.want {
			t.Errorf("matches(%q, %q) = %v", tc.pattern, tc.path, got)
		}
	}
}

// A client-side apply stores the whole object in an annotation, of which there may be 256 KiB.
func TestO02Size(t *testing.T) {
	const limit = 200 << 10
	raw, err := json.Marshal(readCRD(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes as JSON", len(raw))
	if len(raw) >= limit {
		t.Errorf("the CRD has %d bytes as JSON, the limit is %d", len(raw), limit)
	}
}

func TestDescriptionsStay(t *testing.T) {
	walk(rootSchema(t), func(path string, s *schema) {
		for name, child := range s.Properties {
			if child.Description == "" && path != "" && path != "metadata" {
				t.Errorf("kubectl explain has nothing to say about %s", join(path, name))
			}
		}
	})
}

// TestAPIServerAcceptsCRD runs the API server's own checks, the cost budget of the rules included.
func TestAPIServerAcceptsCRD(t *testing.T) {
	crd := readCRD(t)
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	crd.Status.StoredVersions = []string{"v1beta1"}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil); err != nil {
		t.Fatal(err)
	}
	if errs := crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal); len(errs) > 0 {
		t.Errorf("the API server refuses the CRD: %v", errs.ToAggregate())
	}
}

func TestReadAndGenerateErrors(t *testing.T) {
	if _, err := read(t.TempDir()); err == nil {
		t.Error("an empty directory must be an error")
	}
	if _, err := generate([]byte("apiVersion: v1\nkind: ConfigMap\n")); err == nil {
		t.Error("another kind must be an error")
	}
	if _, err := generate(bytes.Repeat([]byte("x: {"), 2)); err == nil {
		t.Error("bad YAML must be an error")
	}
}
