package desired

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestRenderingIsPure(t *testing.T) {
	forEach(t, func(t *testing.T, app *v1beta1.MyApp) {
		before := app.DeepCopy()
		first := encode(t, []any{deployment(app), service(app)})
		again := encode(t, []any{deployment(app.DeepCopy()), service(app.DeepCopy())})
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Errorf("rendered twice, the children differ; the pods would restart for nothing:\n%s", diff)
		}
		if !equality.Semantic.DeepEqual(before, app) {
			t.Errorf("rendering changes the MyApp, which is shared with the cache (-before +after):\n%s", cmp.Diff(before, app))
		}
	})
}

func TestRenderingNeedsNoField(t *testing.T) {
	for name, app := range map[string]*v1beta1.MyApp{
		"the zero MyApp": {},
		"empty probes":   {Spec: v1beta1.MyAppSpec{Probes: &v1beta1.Probes{}}},
		"empty elements": {Spec: v1beta1.MyAppSpec{
			Envs: make([]corev1.EnvVar, 2), EnvFrom: make([]corev1.EnvFromSource, 2), Ports: make([]corev1.ServicePort, 2),
			ImagePullSecrets: make([]corev1.LocalObjectReference, 2), Command: make([]string, 2), Service: &v1beta1.ServiceSpec{},
		}},
		"empty handlers": {Spec: v1beta1.MyAppSpec{Probes: &v1beta1.Probes{
			Liveness:  &corev1.Probe{},
			Readiness: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{}, TCPSocket: &corev1.TCPSocketAction{}}},
			Startup:   &corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{}, Exec: &corev1.ExecAction{}}},
		}}},
		"empty sources": {Spec: v1beta1.MyAppSpec{Envs: []corev1.EnvVar{{ValueFrom: &corev1.EnvVarSource{}},
			{ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}, ResourceFieldRef: &corev1.ResourceFieldSelector{}}}}}},
	} {
		t.Run(name, func(t *testing.T) { render(t, app) })
	}
}

// render renders everything in every way; it fails on a panic only.
func render(t testing.TB, app *v1beta1.MyApp) {
	t.Helper()
	live := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "old", Port: 80, NodePort: 30080}}}}
	for _, in := range []Input{
		{App: app},
		{App: app, Options: Options{DefaultSecurityProfile: v1beta1.SecurityProfileRestricted}},
	} {
		encode(t, Deployment(in, nil))
		encode(t, Service(in, nil))
		encode(t, Service(in, live))
	}
	for kind := range paths {
		for _, m := range paths[kind] {
			SpecPath(kind, m.child+"[0].x", app)
		}
	}
}

// FuzzRender renders whatever a MyApp can hold that was stored while admission was off: one that panics the operator would
// stop every other.
func FuzzRender(f *testing.F) {
	for _, app := range goldens(f) {
		f.Add(encode(f, app.Spec))
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"image":"","ports":[{"port":-1,"targetPort":"x","protocol":"?"}],"probes":{"liveness":{"httpGet":{"port":"x"}}}}`))
	f.Add([]byte(`{"envs":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"","divisor":"1e9999"}}}]}`))
	f.Add([]byte(`{"resources":{"limits":{"":"9999999999999999999999"},"claims":[{"name":""}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		app := &v1beta1.MyApp{}
		if json.Unmarshal(raw, &app.Spec) != nil {
			t.Skip("no such object can be decoded, hence none be seen")
		}
		render(t, app)
		v1beta1.SetDefaults(app)
		render(t, app)
	})
}

func BenchmarkRender(b *testing.B) {
	for _, name := range []string{"minimal", "full"} {
		app := goldens(b)[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				deployment(app)
				service(app)
			}
		})
	}
}
