package fieldreports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a field report wants written down for people is written down.
func TestDecisionsAreDocumented(t *testing.T) {
	for _, c := range []struct {
		name, file string
		says       []string
	}{
		{"F02 rescue", "docs/myapp.md", []string{`kubectl patch myapp shop --type=merge -p '{"metadata":{"finalizers":null}}'`}},
		{"F02 order of an uninstallation", "Makefile", []string{"undeploy: build-installer ## Remove every MyApp, then the operator and the CRD."}},
		{"X02 threat model", "docs/architecture.md", []string{"## What a MyApp can do to a cluster", "the right to create MyApps in a namespace is the right to create pods there"}},
		{"X02 for administrators", "docs/operator.md", []string{"The right to create MyApps in a namespace is the right to create pods there"}},
		{"P09 named target ports", "docs/myapp.md", []string{"A named `targetPort` is refused"}},
		{"P04 names", "docs/myapp.md", []string{"`tcp-80`"}},
		{"M04 hosts in capitals", "docs/myapp.md", []string{"`Team/web`"}},
		{"C03 what a former MyApp left", "docs/myapp.md", []string{"what a former MyApp of the same name left behind, until the garbage collector has removed it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(string(raw)), " ")
			for _, s := range c.says {
				if !strings.Contains(text, strings.Join(strings.Fields(s), " ")) {
					t.Errorf("%s does not say: %s", c.file, s)
				}
			}
		})
	}
}
