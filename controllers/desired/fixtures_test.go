package desired

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// myApp is a MyApp with the spec given in YAML and, where that names none, an image.
func myApp(t testing.TB, spec string) *v1beta1.MyApp {
	t.Helper()
	app := &v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "uid-of-shop"}}
	app.Spec.Image = "registry.example.com/team/web:1.4"
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("the test's spec %s: %v", spec, err)
	}
	v1beta1.SetDefaults(app)
	return app
}

func deployment(app *v1beta1.MyApp) *appsv1ac.DeploymentApplyConfiguration {
	return Deployment(Input{App: app, Options: usual}, nil)
}

func service(app *v1beta1.MyApp) *corev1ac.ServiceApplyConfiguration {
	return Service(Input{App: app, Options: usual}, nil)
}

// child is a rendered child.
type child struct {
	kind   string
	intent any
}

// children are all that are rendered of a MyApp, in a fixed order.
func children(app *v1beta1.MyApp) []child {
	in := Input{App: app, Options: usual}
	var all []child
	add := func(kind string, intent any) {
		if !reflect.ValueOf(intent).IsNil() {
			all = append(all, child{kind, intent})
		}
	}
	add("Deployment", Deployment(in, nil))
	add("Service", Service(in, nil))
	add("Ingress", Ingress(in, nil))
	add("Certificate", Certificate(in, nil))
	add("HorizontalPodAutoscaler", HorizontalPodAutoscaler(in, nil))
	add("PodDisruptionBudget", PodDisruptionBudget(in, nil))
	add("ServiceMonitor", ServiceMonitor(in, nil))
	return all
}

// pod is the rendered pod, app its container.
func pod(app *v1beta1.MyApp) *corev1ac.PodSpecApplyConfiguration {
	return deployment(app).Spec.Template.Spec
}

func containerOf(app *v1beta1.MyApp) corev1ac.ContainerApplyConfiguration {
	return pod(app).Containers[0]
}

// podTemplateOf decodes the rendered pod template as the API server would.
func podTemplateOf(t testing.TB, d *appsv1ac.DeploymentApplyConfiguration) corev1.PodTemplateSpec {
	t.Helper()
	var template corev1.PodTemplateSpec
	if err := json.Unmarshal(encode(t, d.Spec.Template), &template); err != nil {
		t.Fatalf("the rendered pod template is no pod template: %v", err)
	}
	return template
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// yamlOf is a readable form of an intent; cmp.Diff shows two of them line by line.
func yamlOf(t testing.TB, value any) string {
	t.Helper()
	raw, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// goldens are the MyApps of testdata by file name, without the rendered children.
func goldens(t testing.TB) map[string]*v1beta1.MyApp {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (error %v)", err)
	}
	all := map[string]*v1beta1.MyApp{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		input, _, _ := strings.Cut(string(raw), separator)
		app := &v1beta1.MyApp{}
		if err := yaml.UnmarshalStrict([]byte(input), app); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		v1beta1.SetDefaults(app)
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = app
	}
	return all
}

const separator = "---\n"

// samples are all goldens and a few hundred generated MyApps, the same ones in every run.
func samples(t testing.TB) map[string]*v1beta1.MyApp {
	t.Helper()
	all := goldens(t)
	for name, app := range generated(500) {
		all[name] = app
	}
	return all
}

// forEach runs a check on every sample. It makes no subtests of the good ones, so that a failure is easy to find.
func forEach(t *testing.T, check func(t *testing.T, app *v1beta1.MyApp)) {
	t.Helper()
	for name, app := range samples(t) {
		ok := t.Run(name, func(t *testing.T) { check(t, app) })
		if !ok {
			t.Logf("%s is\n%s", name, yamlOf(t, app))
		}
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func ptr[T any](v T) *T { return &v }

// usual are the options of an operator that allows the annotations of the fixtures.
var usual = Options{
	ServiceAnnotationPrefixes: []string{"lb.example.com/"},
	IngressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes,
}
