package desired

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// full is the golden MyApp that has every kind of child, under another name.
func full(t testing.TB, name string) *v1beta1.MyApp {
	t.Helper()
	app := goldens(t)["full"].DeepCopy()
	app.Name = name
	return app
}

// S07: two MyApps of one namespace that their users labelled alike never select each other's pods.
func TestS07NoneSelectsAnothersPods(t *testing.T) {
	podsOf := func(name string) labels.Set {
		app := full(t, name)
		app.Spec.PodLabels = map[string]string{"app": "shop", "tier": "front"}
		return deployment(app).Spec.Template.Labels
	}
	for _, mine := range []string{"shop", "shop-canary"} {
		for _, theirs := range []string{"shop", "shop-canary"} {
			for kind, selector := range selectors(t, full(t, mine)) {
				if got, want := labels.SelectorFromSet(selector).Matches(podsOf(theirs)), mine == theirs; got != want {
					t.Errorf("%s of %s selects the pods of %s: %v", kind, mine, theirs, got)
				}
			}
		}
	}
}

// selectors are all selectors of pods in the rendered children, by kind and path.
func selectors(t testing.TB, app *v1beta1.MyApp) map[string]labels.Set {
	t.Helper()
	all := map[string]labels.Set{}
	for kind, intent := range intents(t, app) {
		walk(kind, intent, func(path string, v any) {
			object, ok := v.(map[string]any)
			// A ServiceMonitor selects Services.
			if !ok || kind == "ServiceMonitor" || strings.Contains(path, "ffinity") {
				return
			}
			if strings.HasSuffix(path, ".matchLabels") || strings.HasSuffix(path, ".selector") && object["matchLabels"] == nil {
				set := labels.Set{}
				for key, value := range object {
					set[key] = value.(string)
				}
				all[path] = set
			}
		})
	}
	if len(all) < 4 {
		t.Fatalf("only these selectors are found: %v", all)
	}
	return all
}

// N01: whatever admission takes as a name is good for all that is derived from it.
func TestN01LongestNameIsGoodForAllThatIsDerived(t *testing.T) {
	name := strings.Repeat("a", 63)
	for kind, intent := range intents(t, full(t, name)) {
		metadata := intent.(map[string]any)["metadata"].(map[string]any)
		if metadata["name"] != name {
			t.Errorf("the %s is called %v", kind, metadata["name"])
		}
		walk(kind, intent, func(path string, v any) {
			s, ok := v.(string)
			if !ok || !strings.Contains(s, name) {
				return
			}
			problems := validation.IsDNS1123Subdomain(s)
			if strings.Contains(path, "abels.") || strings.Contains(path, ".selector.") {
				problems = validation.IsValidLabelValue(s)
			}
			if len(problems) > 0 {
				t.Errorf("%s: %q: %v", path, s, problems)
			}
		})
	}
}

// X02: nothing that is rendered leaves the MyApp's namespace or reaches the node.
func TestX02NothingLeavesTheNamespace(t *testing.T) {
	forEach(t, func(t *testing.T, app *v1beta1.MyApp) {
		for kind, intent := range intents(t, app) {
			if got := intent.(map[string]any)["metadata"].(map[string]any)["namespace"]; got != app.Namespace {
				t.Errorf("the %s is made in namespace %v", kind, got)
			}
			walk(kind, intent, func(path string, _ any) {
				for _, field := range []string{
					".hostPath", ".hostNetwork", ".hostPID", ".hostIPC", ".hostPort", ".externalIPs", ".nodeName", ".ephemeral", ".csi", ".projected",
				} {
					if strings.HasSuffix(path, field) {
						t.Errorf("the MyApp gives its author more than its namespace: %s", path)
					}
				}
			})
		}
	})
}

// X02: a service account's token is a right; it is mounted only for an account that is named.
func TestX02TokenOnlyForANamedAccount(t *testing.T) {
	for spec, want := range map[string]bool{"": false, "serviceAccountName: shop": true} {
		p := pod(myApp(t, spec))
		if got := p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken; got != want {
			t.Errorf("%q: the token is mounted: %v", spec, got)
		}
	}
	if raw, err := yaml.Marshal(pod(myApp(t, "serviceAccountName: shop"))); err != nil || !strings.Contains(string(raw), "serviceAccountName: shop") {
		t.Errorf("the account is not the named one (error %v):\n%s", err, raw)
	}
}
