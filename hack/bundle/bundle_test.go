package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/test/cluster"
)

const (
	digest   = "registry.example.com/team/myapp-operator@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	csvFile  = "bundle/manifests/myapp-operator.clusterserviceversion.yaml"
	crdFile  = "bundle/manifests/app.ydzs.io_myapps.yaml"
	noteFile = "bundle/metadata/annotations.yaml"
)

// files are a bundle and its Dockerfile, by their paths.
type files map[string][]byte

// configuration is what config/manifests builds.
func configuration(t *testing.T) []byte {
	t.Helper()
	tools, err := cluster.Tools("kustomize")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tools["kustomize"], "build", "../../config/manifests").Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// generate makes a bundle, in a directory where the next version overwrites the one before.
func generate(t *testing.T, dir string, config []byte, r release) files {
	t.Helper()
	var err error
	if r.icon, err = os.ReadFile("../../config/manifests/icon.svg"); err != nil {
		t.Fatal(err)
	}
	if err := run(bytes.NewReader(config), r, dir); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}

// first is a release as it would be published.
func first() release { return release{version: "0.1.0", image: digest, channel: "stable-v0"} }

// load reads the files of a bundle.
func load(t *testing.T, dir string) files {
	t.Helper()
	all := files{}
	for _, root := range []string{"bundle", "bundle.Dockerfile"} {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err == nil {
				all[name], err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// store writes a bundle into a directory of its own.
func (f files) store(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// csv decodes the ClusterServiceVersion as OLM does: what it does not know is lost.
func (f files) csv(t *testing.T) *operatorsv1alpha1.ClusterServiceVersion {
	t.Helper()
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	if err := yaml.Unmarshal(f[csvFile], csv); err != nil {
		t.Fatal(err)
	}
	return csv
}

// TestSameInputSameBundle: twice the same bytes, and nothing of an earlier version stays.
func TestSameInputSameBundle(t *testing.T) {
	config, dir := configuration(t), t.TempDir()
	once := generate(t, dir, config, first())
	if err := os.WriteFile(filepath.Join(dir, "bundle/manifests/left-over.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	again := generate(t, dir, config, first())
	if diff := cmp.Diff(once, again); diff != "" {
		t.Errorf("the second bundle differs:\n%s", diff)
	}
}

// TestNextVersion: what changes from one version to the next, and that nothing else does: deployment, webhook and
// certificate names must stay for admission to work during an upgrade.
func TestNextVersion(t *testing.T) {
	config := configuration(t)
	one := generate(t, t.TempDir(), config, first())
	next := first()
	next.version, next.replaces = "0.2.0", "0.1.0"
	two := generate(t, t.TempDir(), config, next)
	was, is := one.csv(t), two.csv(t)
	if is.Name != "myapp-operator.v0.2.0" || is.Spec.Replaces != was.Name || is.Spec.Version.String() != "0.2.0" {
		t.Errorf("%s %s replaces %q", is.Name, is.Spec.Version, is.Spec.Replaces)
	}
	if got := is.Annotations["olm.skipRange"]; got != ">=0.1.0 <0.2.0" {
		t.Errorf("skipRange is %q", got)
	}
	is.Name, is.Spec.Replaces, is.Spec.Version = was.Name, "", was.Spec.Version
	delete(is.Annotations, "olm.skipRange")
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("more differs:\n%s", diff)
	}
	delete(one, csvFile)
	delete(two, csvFile)
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("other files differ:\n%s", diff)
	}
}

// TestUnknownKind: what the generator has no place for is not left out silently.
func TestUnknownKind(t *testing.T) {
	config := append(configuration(t), "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: forgotten}\n"...)
	if err := run(bytes.NewReader(config), first(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "ConfigMap forgotten") {
		t.Errorf("got %v", err)
	}
}

// TestManifestsOfTheBundle: the files, one object each.
func TestManifestsOfTheBundle(t *testing.T) {
	var got []string
	for _, u := range objects(t, load(t, "../..")) {
		got = append(got, u.GetKind()+" "+u.GetName())
	}
	want := []string{
		"ClusterRole myapp-operator-metrics-reader", "ClusterRole myapp-operator-myapp-admin",
		"ClusterRole myapp-operator-myapp-editor", "ClusterRole myapp-operator-myapp-viewer",
		"ClusterRole myapp-operator-secret-watcher",
		"ClusterServiceVersion myapp-operator.v0.1.0", "CustomResourceDefinition myapps.app.ydzs.io",
		"PodDisruptionBudget myapp-operator", "Service myapp-operator-metrics",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// TestPermissions: nothing that a namespace holds is granted for the whole cluster.
func TestPermissions(t *testing.T) {
	strategy := load(t, "../..").csv(t).Spec.InstallStrategy.StrategySpec
	var everywhere []string
	for _, permission := range strategy.ClusterPermissions {
		for _, rule := range permission.Rules {
			everywhere = append(everywhere, rule.Resources...)
		}
	}
	want := []string{"customresourcedefinitions", "subjectaccessreviews", "tokenreviews"}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(everywhere))); diff != "" {
		t.Errorf("granted for the whole cluster (-want +got):\n%s", diff)
	}
	if len(strategy.Permissions) != 1 || len(strategy.Permissions[0].Rules) < 10 {
		t.Errorf("granted in the namespaces: %v", strategy.Permissions)
	}
}

// objects are the manifests, in the order of kind and name; one document per file.
func objects(t *testing.T, f files) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if filepath.Dir(name) != "bundle/manifests" {
			continue
		}
		u := &unstructured.Unstructured{}
		document, _, _ := bytes.Cut(f[name], []byte("\n---"))
		if err := yaml.Unmarshal(document, &u.Object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(a.GetKind()+a.GetName(), b.GetKind()+b.GetName())
	})
	return all
}
