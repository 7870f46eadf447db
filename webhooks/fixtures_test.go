package webhooks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

const testImage = "registry.example.com/team/web:1.0"

// myApp is a MyApp with the spec given in YAML and, where that names none, an image.
func myApp(t testing.TB, spec string) *v1beta1.MyApp {
	t.Helper()
	app := &v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"}}
	app.Spec.Image = testImage
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("the test's spec %s: %v", spec, err)
	}
	v1beta1.SetDefaults(app)
	return app
}

// problems renders errors as "path: type", which is what the tables below pin; the wording may change.
func problems(errs field.ErrorList) []string {
	var all []string
	for _, e := range errs {
		all = append(all, e.Field+": "+e.Type.String())
	}
	return all
}

// specCase is a spec and the problems it has; says must be in what a user reads.
type specCase struct {
	name string
	spec string
	opts Options
	want []string
	says string
}

func runSpecCases(t *testing.T, cases []specCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			errs := validate(myApp(t, c.spec), c.opts)
			if diff := cmp.Diff(c.want, problems(errs)); diff != "" {
				t.Errorf("%s\nproblems (-want +got):\n%s\nA user sees: %v", c.spec, diff, errs.ToAggregate())
			}
			if len(errs) > 0 && !strings.Contains(errs.ToAggregate().Error(), c.says) {
				t.Errorf("a user sees %v, which does not say %q", errs.ToAggregate(), c.says)
			}
			for _, e := range errs {
				if e.Detail == "" {
					t.Errorf("%v does not say what to do", e)
				}
			}
		})
	}
}

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func toJSON(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
