package webhooks

import (
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// W08: admission looks nothing up, so there is nothing that could have to be ready first.
func TestW08NothingIsLookedUp(t *testing.T) {
	notTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), ".", notTests, parser.ImportsOnly) //nolint:staticcheck // one directory, no build tags
	if err != nil || len(packages) != 1 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	for name, file := range packages["webhooks"].Files {
		for _, i := range file.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, stateful := range []string{"client-go", "controller-runtime/pkg/client", "controller-runtime/pkg/cache", "net/http", "time"} {
				if path == stateful || strings.HasSuffix(path, "/"+stateful) || strings.Contains(path, "/"+stateful+"/") {
					t.Errorf("%s imports %s", name, path)
				}
			}
		}
	}
}

// W08: the same question has the same answer, however often and in whatever order it is asked, before there is a manager
// and without one.
func TestW08SameQuestionSameAnswer(t *testing.T) {
	questions := map[string][]byte{
		"good":    object(t, `{name: shop}`, `{image: "nginx:1.7.9"}`),
		"bad":     object(t, `{name: shop}`, `{image: "nginx:1.7.9", ports: [{name: web, port: 80}, {name: web, port: 81}]}`),
		"no name": object(t, `{name: shop.v2}`, `{image: "nginx:1.7.9"}`),
	}
	first := map[string]any{}
	for range 3 {
		for name, raw := range questions {
			response := reviewer(t, Options{})(admissionv1.Create, nil, raw)
			answer := []any{response.Allowed, response.Warnings, response.Result}
			if first[name] == nil {
				first[name] = answer
			}
			if diff := cmp.Diff(first[name], any(answer)); diff != "" {
				t.Errorf("%s is answered in two ways (-first +later):\n%s", name, diff)
			}
		}
	}
}

// W08: replicas that do not lead answer too: nothing here asks for leadership, and the server runs on every replica.
func TestW08ReplicasThatDoNotLeadServe(t *testing.T) {
	server := webhook.NewServer(webhook.Options{})
	if bound, ok := server.(manager.LeaderElectionRunnable); !ok || bound.NeedLeaderElection() {
		t.Error("the server waits until its replica leads")
	}
	if err := Setup(managerStub{scheme: testScheme(t), server: server}, Options{}); err != nil {
		t.Error(err)
	}
}
