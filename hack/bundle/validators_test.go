package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	"github.com/operator-framework/api/pkg/validation"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// validator is one of the validators of operator-framework/api, and a change that it notices.
type validator struct {
	name  string
	of    interfaces.Validator
	fault func(t *testing.T, f files)
}

// validators are all of them; a validator that finds nothing to look at reports nothing, which would pass for good.
var validators = []validator{
	{"package manifest", validation.PackageManifestValidator, replaced(noteFile, "channel.default.v1: stable-v0", "channel.default.v1: stable-v9")},
	{"ClusterServiceVersion", validation.ClusterServiceVersionValidator, replaced(csvFile, "minKubeVersion: 1.30.14", "minKubeVersion: \"1.30\"")},
	{"CustomResourceDefinition", validation.CustomResourceDefinitionValidator, replaced(crdFile, "plural: myapps", "plural: apps")},
	{"bundle", validation.BundleValidator, replaced(csvFile, "      kind: MyApp\n      name:", "      kind: Other\n      name:")},
	{"OperatorHub", validation.OperatorHubV2Validator, replaced(csvFile, "email: maintainers@ydzs.io", "email: nobody")},
	{"categories", validation.StandardCategoriesValidator, replaced(csvFile, "categories: Application Runtime", "categories: Applications")},
	{"capabilities", validation.StandardCapabilitiesValidator, replaced(csvFile, "capabilities: Seamless Upgrades", "capabilities: Seamless")},
	{"object", validation.ObjectValidator, replaced("bundle/manifests/myapp-operator_policy_v1_poddisruptionbudget.yaml", "maxUnavailable: 1", "maxUnavailable: 0")},
	{"OperatorGroup", validation.OperatorGroupValidator, nil},
	{"community", validation.CommunityOperatorValidator, replaced(crdFile, "apiVersion: apiextensions.k8s.io/v1", "apiVersion: apiextensions.k8s.io/v1beta1")},
	{"removed APIs", validation.AlphaDeprecatedAPIsValidator, replaced(csvFile, "- kind: Event\n", "- kind: Node\n")},
	{"good practices", validation.GoodPracticesValidator, replaced(noteFile, "channels.v1: stable-v0", "channels.v1: alpha")},
	{"architectures", validation.MultipleArchitecturesValidator, replaced(csvFile, "operatorframework.io/arch.arm64: supported\n", "operatorframework.io/arch.s390x: supported\n")},
}

// replaced is a change of text, which must be there.
func replaced(file, old, with string) func(t *testing.T, f files) {
	return func(t *testing.T, f files) {
		t.Helper()
		if !strings.Contains(string(f[file]), old) {
			t.Fatalf("%s has no %q", file, old)
		}
		f[file] = []byte(strings.Replace(string(f[file]), old, with, 1))
	}
}

// findings are a validator's errors and warnings, and how many results it gave.
func findings(v interfaces.Validator, objects []any) (found []string, results int) {
	for _, result := range v.Validate(objects...) {
		results++
		for _, e := range result.Errors {
			found = append(found, e.Error())
		}
		for _, w := range result.Warnings {
			found = append(found, w.Error())
		}
	}
	return found, results
}

// toValidate are the objects that the validators get: the bundle, and what a bundle does not hold, the OperatorGroup that
// an installation needs and the package in the older form.
func toValidate(t *testing.T, f files, group *operatorsv1.OperatorGroup) []any {
	t.Helper()
	bundle, err := manifests.GetBundleFromDir(filepath.Join(f.store(t), "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	old := &manifests.PackageManifest{
		PackageName: bundle.Package, DefaultChannelName: bundle.DefaultChannel,
		Channels: []manifests.PackageChannel{{Name: bundle.Channels[0], CurrentCSVName: bundle.CSV.Name}},
	}
	return append(bundle.ObjectsToValidate(), old, group,
		map[string]string{"k8s-version": bundle.CSV.Spec.MinKubeVersion, "container-tools": "docker"})
}

func operatorGroup() *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "myapp-operator", Namespace: "myapp-operator-system"}}
}

// docker puts a docker on the path that knows of one image: ours, for the architectures that "make build" makes.
func docker(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	script := `#!/bin/sh
case "$1 $2" in
"manifest inspect") echo '{"manifests":[{"platform":{"os":"linux","architecture":"amd64"}},{"platform":{"os":"linux","architecture":"arm64"}}]}' ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestValidators: no error and no warning from any, each has looked, and each notices its fault.
func TestValidators(t *testing.T) {
	if got, want := len(validators), len(validation.AllValidators); got != want {
		t.Fatalf("%d validators are listed, there are %d", got, want)
	}
	docker(t)
	good := generate(t, t.TempDir(), configuration(t), first())
	for _, v := range validators {
		t.Run(v.name, func(t *testing.T) {
			found, results := findings(v.of, toValidate(t, good, operatorGroup()))
			if results == 0 {
				t.Error("it looked at nothing")
			}
			for _, finding := range found {
				t.Error(finding)
			}
			broken, group := clone(good), operatorGroup()
			if v.fault != nil {
				v.fault(t, broken)
			} else {
				group.Annotations = map[string]string{"olm.providedapis": "MyApp.v1beta1.app.ydzs.io"}
			}
			if found, _ := findings(v.of, toValidate(t, broken, group)); len(found) == 0 {
				t.Error("it does not notice its fault")
			}
		})
	}
}

func clone(f files) files {
	return maps.Clone(f)
}

// TestScorecard holds the bundle against the six checks that its scorecard configuration names.
func TestScorecard(t *testing.T) {
	f := load(t, "../..")
	var config struct {
		Stages []struct {
			Tests []struct {
				Entrypoint []string `json:"entrypoint"`
			} `json:"tests"`
		} `json:"stages"`
	}
	if err := yaml.Unmarshal(f["bundle/tests/scorecard/config.yaml"], &config); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			name := test.Entrypoint[len(test.Entrypoint)-1]
			check, known := scorecardChecks[name]
			if !known {
				t.Errorf("nobody knows the check %q", name)
				continue
			}
			ran++
			for _, problem := range check(t, f) {
				t.Errorf("%s: %s", name, problem)
			}
			broken := clone(f)
			scorecardFaults[name](t, broken)
			if len(check(t, broken)) == 0 {
				t.Errorf("%s does not notice its fault", name)
			}
		}
	}
	if ran != 6 || len(scorecardChecks) != 6 {
		t.Errorf("%d checks ran", ran)
	}
}

// examples are the alm-examples.
func (f files) examples(t *testing.T) (all []map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(f.csv(t).Annotations["alm-examples"]), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// keys are the names under spec or status of every example.
func (f files) keys(t *testing.T, block string) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for _, example := range f.examples(t) {
		values, _ := example[block].(map[string]any)
		for key := range values {
			keys[key] = true
		}
	}
	return keys
}

// scorecardChecks are the checks, as their documentation describes them; each returns what it finds wrong.
var scorecardChecks = map[string]func(t *testing.T, f files) []string{
	"basic-check-spec": func(t *testing.T, f files) (found []string) {
		for i, example := range f.examples(t) {
			if spec, _ := example["spec"].(map[string]any); len(spec) == 0 {
				found = append(found, fmt.Sprintf("example %d has no spec", i))
			}
		}
		return found
	},
	"olm-bundle-validation": func(t *testing.T, f files) []string {
		found, _ := findings(validation.DefaultBundleValidators, toValidate(t, f, operatorGroup()))
		return found
	},
	"olm-crds-have-validation": func(t *testing.T, f files) (found []string) {
		schema := f.schema(t)
		for _, block := range []string{"spec", "status"} {
			for key := range f.keys(t, block) {
				if _, ok := schema.Properties[block].Properties[key]; !ok {
					found = append(found, block+"."+key+" has no schema")
				}
			}
		}
		return found
	},
	"olm-crds-have-resources": func(t *testing.T, f files) (found []string) {
		for _, owned := range f.csv(t).Spec.CustomResourceDefinitions.Owned {
			if len(owned.Resources) == 0 {
				found = append(found, owned.Name+" has no resources")
			}
		}
		return found
	},
	"olm-spec-descriptors":   func(t *testing.T, f files) []string { return f.undescribed(t, "spec", f.keys(t, "spec")) },
	"olm-status-descriptors": func(t *testing.T, f files) []string { return f.undescribed(t, "status", f.statusKeys(t)) },
}

// statusKeys are all that a status can have: an example has no status.
func (f files) statusKeys(t *testing.T) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for key := range f.schema(t).Properties["status"].Properties {
		keys[key] = true
	}
	return keys
}

// undescribed are the keys that no descriptor's path equals.
func (f files) undescribed(t *testing.T, block string, keys map[string]bool) (found []string) {
	t.Helper()
	described := f.described(t, block)
	for key := range keys {
		if !described[key] {
			found = append(found, block+"."+key+" has no descriptor")
		}
	}
	return found
}

var scorecardFaults = map[string]func(t *testing.T, f files){
	"basic-check-spec":         replaced(csvFile, `"spec": {`, `"spec": {}, "was": {`),
	"olm-bundle-validation":    replaced(csvFile, "      kind: MyApp\n      name:", "      kind: Other\n      name:"),
	"olm-crds-have-validation": replaced(csvFile, `"image": `, `"picture": `),
	"olm-crds-have-resources":  replaced(csvFile, "      resources:\n      - kind: Deployment", "      others:\n      - kind: Deployment"),
	"olm-spec-descriptors":     replaced(csvFile, "path: image\n", "path: picture\n"),
	"olm-status-descriptors":   replaced(csvFile, "path: conditions\n", "path: condition\n"),
}
