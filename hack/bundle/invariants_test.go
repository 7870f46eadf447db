package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/crds"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// invariant is what a bundle must keep and no validator looks at, each with a change that breaks it.
type invariant struct {
	name   string
	faults []func(t *testing.T, f files)
	find   func(t *testing.T, f files) []string
}

var invariants = []invariant{
	{
		name: "webhook names are unique domains", find: webhookNames,
		faults: faults(
			replaced(csvFile, "generateName: vmyapp", "generateName: mmyapp"),
			replaced(csvFile, "generateName: vmyapp.app.ydzs.io", "generateName: vmyapp.io"),
		),
	},
	{
		name: "webhooks belong to a Deployment and reach it", find: webhookTargets,
		faults: faults(
			replaced(csvFile, "deploymentName: myapp-operator\n", "deploymentName: operator\n"),
			replaced(csvFile, "    containerPort: 443\n", ""),
			replaced(csvFile, "    containerPort: 443\n", "    containerPort: 9443\n"),
			replaced(csvFile, "    targetPort: 9443\n", "    targetPort: 8443\n"),
			replaced(csvFile, "sideEffects: None", "sideEffects: Unknown"),
			replaced(csvFile, "      - app.ydzs.io\n      apiVersions:", "      - apps\n      apiVersions:"),
		),
	},
	{
		name: "rights are named", find: wildcards,
		faults: faults(
			replaced(csvFile, "          - customresourcedefinitions\n", "          - '*'\n"),
			replaced("bundle/manifests/myapp-operator-myapp-viewer_rbac.authorization.k8s.io_v1_clusterrole.yaml", "  - get\n", "  - '*'\n"),
		),
	},
	{
		name: "kinds that OLM knows", find: unknownKinds,
		faults: faults(
			added("bundle/manifests/pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: left-over}\n"),
			added("bundle/manifests/account.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: myapp-operator}\n"),
		),
	},
	{
		name: "one object in a file", find: furtherDocuments,
		faults: faults(appended(crdFile, "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost}\n")),
	},
	{
		name: "nothing misspelt", find: misspelt,
		faults: faults(
			replaced(csvFile, "  minKubeVersion:", "  MinKubeVersion:"),
			replaced(csvFile, "    sideEffects: None", "    matchConditions: []\n    sideEffects: None"),
		),
	},
	{
		name: "O04 certificates come from OLM", find: foreignCertificates,
		faults: faults(replaced(csvFile, "              containers:\n",
			"              volumes: [{name: cert, secret: {secretName: webhook-server-cert}}]\n              containers:\n")),
	},
	{
		name: "every field is described", find: fieldsWithoutDescriptor,
		faults: faults(
			replaced(csvFile, "path: size\n", "path: sizes\n"),
			replaced(csvFile, "path: ingress.host\n", "path: ingress.hosts\n"),
			replaced(csvFile, "path: readyReplicas\n", "path: readyReplica\n"),
		),
	},
	{
		name: "images by digest", find: tags,
		faults: faults(
			replaced(csvFile, "containerImage: "+digest, "containerImage: registry.example.com/myapp-operator:0.1.0"),
			replaced(csvFile, "  - image: "+digest+"\n    name: manager\n", "  - image: example.com/other\n    name: manager\n"),
		),
	},
	{
		name: "the image's labels are the annotations", find: imageLabels,
		faults: faults(
			replaced("bundle.Dockerfile", "LABEL operators.operatorframework.io.bundle.channels.v1=stable-v0", "LABEL operators.operatorframework.io.bundle.channels.v1=alpha"),
			replaced(noteFile, "operators.operatorframework.io.test.mediatype.v1: scorecard+v1\n", ""),
		),
	},
	{
		name: "names and versions agree", find: versions,
		faults: faults(
			replaced(csvFile, "  version: 0.1.0\n", "  version: 0.1.1\n"),
			replaced(crdFile, "spec:\n", "spec:\n  conversion: {strategy: None}\n"),
		),
	},
	{
		name: "every install mode", find: installModes,
		faults: faults(
			replaced(csvFile, "  - supported: true\n    type: MultiNamespace\n", ""),
			replaced(csvFile, "olm.targetNamespaces", "olm.operatorNamespace"),
		),
	},
}

func faults(all ...func(t *testing.T, f files)) []func(t *testing.T, f files) { return all }

func added(file, content string) func(t *testing.T, f files) {
	return func(_ *testing.T, f files) { f[file] = []byte(content) }
}

func appended(file, content string) func(t *testing.T, f files) {
	return func(_ *testing.T, f files) { f[file] = append(slices.Clone(f[file]), content...) }
}

// TestInvariants: a published bundle keeps each, and each fails on its broken copies.
func TestInvariants(t *testing.T) {
	good := generate(t, t.TempDir(), configuration(t), first())
	for _, i := range invariants {
		t.Run(i.name, func(t *testing.T) {
			for _, found := range i.find(t, good) {
				t.Error(found)
			}
			for n, fault := range i.faults {
				broken := clone(good)
				fault(t, broken)
				if len(i.find(t, broken)) == 0 {
					t.Errorf("broken copy %d is not noticed", n+1)
				}
			}
		})
	}
}

// TestBundleOfTheRepository: the bundle here names the image by a tag, since none is published with it; that is all.
func TestBundleOfTheRepository(t *testing.T) {
	var all []string
	for _, i := range invariants {
		all = append(all, i.find(t, load(t, "../.."))...)
	}
	for _, found := range all {
		if !strings.Contains(found, "is not by digest") {
			t.Error(found)
		}
	}
	if len(all) == 0 {
		t.Error("the tag is not noticed")
	}
}

func webhookNames(t *testing.T, f files) (found []string) {
	seen := map[string]bool{}
	for _, w := range f.csv(t).Spec.WebhookDefinitions {
		if seen[w.GenerateName] {
			found = append(found, w.GenerateName+" is there twice")
		}
		seen[w.GenerateName] = true
		if strings.Count(w.GenerateName, ".") < 2 || len(w.GenerateName) > 63 {
			found = append(found, w.GenerateName+" is no name for a webhook")
		}
	}
	if len(seen) == 0 {
		found = append(found, "no webhooks")
	}
	return found
}

func webhookTargets(t *testing.T, f files) (found []string) {
	csv := f.csv(t)
	for _, w := range csv.Spec.WebhookDefinitions {
		wrong := func(what string, value any) {
			found = append(found, fmt.Sprintf("%s: %s %v", w.GenerateName, what, value))
		}
		i := slices.IndexFunc(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, func(d operatorsv1alpha1.StrategyDeploymentSpec) bool {
			return d.Name == w.DeploymentName
		})
		if i < 0 {
			wrong("deploymentName", w.DeploymentName)
			continue
		}
		if w.ContainerPort != 443 {
			wrong("containerPort", w.ContainerPort)
		}
		ports := csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[i].Spec.Template.Spec.Containers[0].Ports
		serving := slices.ContainsFunc(ports, func(p corev1.ContainerPort) bool {
			return p.Name == "webhook" && w.TargetPort != nil && p.ContainerPort == w.TargetPort.IntVal
		})
		if !serving {
			wrong("targetPort", w.TargetPort)
		}
		if w.SideEffects == nil || *w.SideEffects != "None" {
			wrong("sideEffects", w.SideEffects)
		}
		for _, rule := range w.Rules {
			if !slices.Equal(rule.APIGroups, []string{v1beta1.GroupVersion.Group}) {
				wrong("apiGroups", rule.APIGroups)
			}
		}
	}
	return found
}

func wildcards(t *testing.T, f files) (found []string) {
	strategy := f.csv(t).Spec.InstallStrategy.StrategySpec
	var rules []rbacv1.PolicyRule
	for _, p := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		rules = append(rules, p.Rules...)
	}
	for _, u := range objects(t, f) {
		if u.GetKind() != "ClusterRole" {
			continue
		}
		role := rbacv1.ClusterRole{}
		raw, err := yaml.Marshal(u.Object)
		if err == nil {
			err = yaml.UnmarshalStrict(raw, &role)
		}
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, role.Rules...)
	}
	for _, rule := range rules {
		if slices.Contains(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs), "*") {
			found = append(found, fmt.Sprintf("wildcard: %v", rule))
		}
		if slices.Contains(rule.Resources, "leases") && len(rule.ResourceNames) == 0 && !slices.Equal(rule.Verbs, []string{"create"}) {
			found = append(found, fmt.Sprintf("every Lease: %v", rule))
		}
	}
	return found
}

// known are the kinds that every OLM takes and this bundle may have.
var known = []string{"ClusterServiceVersion", "CustomResourceDefinition", "ClusterRole", "Service", "PodDisruptionBudget"}

func unknownKinds(t *testing.T, f files) (found []string) {
	for _, u := range objects(t, f) {
		if !slices.Contains(known, u.GetKind()) {
			found = append(found, u.GetKind()+" "+u.GetName())
		}
	}
	return found
}

func furtherDocuments(_ *testing.T, f files) (found []string) {
	for name, content := range f {
		if filepath.Ext(name) == ".yaml" && bytes.Contains(content, []byte("\n---")) {
			found = append(found, name+" has more than one document")
		}
	}
	return found
}

// misspelt are keys that Go reads all the same, or nobody: the API server drops both.
func misspelt(t *testing.T, f files) (found []string) {
	if err := yaml.UnmarshalStrict(f[csvFile], &operatorsv1alpha1.ClusterServiceVersion{}); err != nil {
		found = append(found, err.Error())
	}
	raw := map[string]any{}
	if err := yaml.Unmarshal(f[csvFile], &raw); err != nil {
		t.Fatal(err)
	}
	return append(found, pruned("", raw, crds.ClusterServiceVersion().Spec.Versions[0].Schema.OpenAPIV3Schema)...)
}

// pruned are the keys that a schema does not have.
func pruned(path string, value any, schema *apiextensionsv1.JSONSchemaProps) (found []string) {
	if path == ".metadata" || schema.XPreserveUnknownFields != nil {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		for key, entry := range value {
			property, ok := schema.Properties[key]
			switch {
			case ok:
				found = append(found, pruned(path+"."+key, entry, &property)...)
			case schema.AdditionalProperties != nil:
				found = append(found, pruned(path+"."+key, entry, schema.AdditionalProperties.Schema)...)
			default:
				found = append(found, path+"."+key+" is dropped")
			}
		}
	case []any:
		for _, entry := range value {
			found = append(found, pruned(path+"[]", entry, schema.Items.Schema)...)
		}
	}
	return found
}

func foreignCertificates(t *testing.T, f files) (found []string) {
	for _, d := range f.csv(t).Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, v := range d.Spec.Template.Spec.Volumes {
			if v.Secret != nil && v.Name != "webhook-cert" {
				found = append(found, "volume "+v.Name+" waits for the Secret "+v.Secret.SecretName)
			}
		}
	}
	return found
}

func (f files) schema(t *testing.T) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	crd := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(f[crdFile], &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// described are the paths that a descriptor has, with name and text.
func (f files) described(t *testing.T, block string) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	owned := f.csv(t).Spec.CustomResourceDefinitions.Owned[0]
	for _, d := range owned.SpecDescriptors {
		paths["spec."+d.Path] = d.DisplayName != "" && d.Description != ""
	}
	for _, d := range owned.StatusDescriptors {
		paths["status."+d.Path] = d.DisplayName != "" && d.Description != ""
	}
	of := map[string]bool{}
	for path, ok := range paths {
		if rest, is := strings.CutPrefix(path, block+"."); is {
			of[rest] = ok
		}
	}
	return of
}

// kubernetesTypes are the fields whose types are Kubernetes' own: described as a whole.
var kubernetesTypes = regexp.MustCompile(`^(resources|podSecurityContext|securityContext|probes\..*|autoscaling\.behavior|scheduling\.affinity)$`)

func fieldsWithoutDescriptor(t *testing.T, f files) (found []string) {
	schema := f.schema(t)
	var visit func(block, path string, s apiextensionsv1.JSONSchemaProps, described map[string]bool)
	visit = func(block, path string, s apiextensionsv1.JSONSchemaProps, described map[string]bool) {
		for name, property := range s.Properties {
			at := strings.TrimPrefix(path+"."+name, ".")
			if !described[at] {
				found = append(found, block+"."+at+" is not described")
			}
			if property.Type == "object" && !kubernetesTypes.MatchString(at) {
				visit(block, at, property, described)
			}
		}
	}
	for _, block := range []string{"spec", "status"} {
		visit(block, "", schema.Properties[block], f.described(t, block))
	}
	return found
}

func tags(t *testing.T, f files) (found []string) {
	csv := f.csv(t)
	images := []string{csv.Annotations["containerImage"]}
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, c := range d.Spec.Template.Spec.Containers {
			images = append(images, c.Image)
		}
	}
	for _, image := range images {
		if !strings.Contains(image, "@sha256:") {
			found = append(found, image+" is not by digest")
		}
		related := slices.ContainsFunc(csv.Spec.RelatedImages, func(r operatorsv1alpha1.RelatedImage) bool { return r.Image == image })
		if !related {
			found = append(found, image+" is no related image")
		}
	}
	return found
}

func imageLabels(t *testing.T, f files) (found []string) {
	var notes struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.UnmarshalStrict(f[noteFile], &notes); err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for line := range strings.Lines(string(f["bundle.Dockerfile"])) {
		if label, is := strings.CutPrefix(strings.TrimSpace(line), "LABEL "); is {
			key, value, _ := strings.Cut(label, "=")
			of[key] = value
		}
	}
	if !reflect.DeepEqual(of, notes.Annotations) {
		found = append(found, fmt.Sprintf("labels %v, annotations %v", of, notes.Annotations))
	}
	return found
}

func versions(t *testing.T, f files) (found []string) {
	csv := f.csv(t)
	if want := "myapp-operator.v" + csv.Spec.Version.String(); csv.Name != want {
		found = append(found, csv.Name+" is not "+want)
	}
	if bytes.Contains(f[crdFile], []byte("\n  conversion:")) {
		found = append(found, "the CRD has a conversion")
	}
	return found
}

func installModes(t *testing.T, f files) (found []string) {
	csv := f.csv(t)
	supported := 0
	for _, mode := range csv.Spec.InstallModes {
		if mode.Supported {
			supported++
		}
	}
	if supported != 4 {
		found = append(found, fmt.Sprintf("%d install modes", supported))
	}
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, env := range d.Spec.Template.Spec.Containers[0].Env {
			from := env.ValueFrom
			if env.Name == "WATCH_NAMESPACE" && (from == nil || from.FieldRef == nil || from.FieldRef.FieldPath != targetNamespaces) {
				found = append(found, "the operator does not learn its namespaces")
			}
		}
	}
	return found
}
