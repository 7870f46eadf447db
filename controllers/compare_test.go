package controllers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// What is applied and then extracted again must be what was meant, or the operator applies it for ever. The field manager
// is the API server's own, as a library; its defaults are not in it, and are tested on a real API server.

// goldenApps are the MyApps of the golden files of package desired, by name.
func goldenApps(t testing.TB) map[string]*v1beta1.MyApp {
	t.Helper()
	files, err := filepath.Glob("desired/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (error %v)", err)
	}
	all := map[string]*v1beta1.MyApp{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		input, _, _ := strings.Cut(string(raw), "---\n")
		app := &v1beta1.MyApp{}
		if err := yaml.UnmarshalStrict([]byte(input), app); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		v1beta1.SetDefaults(app)
		all[filepath.Base(file)] = app
	}
	return all
}

func inputOf(app *v1beta1.MyApp) desired.Input {
	return desired.Input{App: app, Options: desired.Options{
		ServiceAnnotationPrefixes: []string{"lb.example.com/"}, IngressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes,
	}}
}

// builtIn are the plans for the kinds that every cluster serves. How others are merged only the API server knows.
func builtIn(r *Reconciler, p *pass) []plan {
	return slices.DeleteFunc(r.decide(p), func(next plan) bool { return next.crd != "" })
}

// live applies the MyApp's children and returns them as the cache would hold them.
func live(t testing.TB, app *v1beta1.MyApp) observed {
	t.Helper()
	scheme := testScheme(t)
	converter := applyconfigurations.NewTypeConverter(scheme)
	o := observed{children: map[string]client.Object{}}
	for _, k := range kinds {
		intent := k.render(inputOf(app), nil)
		if intent == nil || k.crd != "" {
			continue
		}
		object, err := toUnstructured(intent)
		if err != nil {
			t.Fatal(err)
		}
		manager := managedfieldstest.NewTestFieldManager(converter, object.GroupVersionKind())
		if err := manager.Apply(object, v1beta1.OperatorName, true); err != nil {
			t.Fatalf("the API server would refuse the %s: %v", k.name, err)
		}
		child := k.empty()
		if err := scheme.Convert(manager.Live(), child, nil); err != nil {
			t.Fatal(err)
		}
		child.SetUID(types.UID("uid-of-" + k.name))
		if _, err := keepOurFields(child); err != nil {
			t.Fatal(err)
		}
		o.children[k.name] = child
	}
	return o
}

// refusing is a reconciler whose every request fails.
func refusing(t testing.TB) *Reconciler {
	t.Helper()
	sent := errors.New("a request was sent")
	c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return sent
		},
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return sent
		},
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return sent },
	}).Build()
	return &Reconciler{Client: c, APIReader: c}
}

func samePass(app *v1beta1.MyApp, o observed, all *memories) *pass {
	return &pass{app: app, observed: o, input: inputOf(app), memory: all.of(app), now: now}
}

func TestC01WhatIsAppliedIsWhatIsExtracted(t *testing.T) {
	for name, app := range goldenApps(t) {
		t.Run(name, func(t *testing.T) {
			o := live(t, app)
			for _, k := range kinds {
				child := o.children[k.name]
				if child == nil {
					continue
				}
				owned, err := k.extract(child)
				if err != nil {
					t.Fatal(err)
				}
				intent := k.render(inputOf(app), child)
				if !equality.Semantic.DeepEqual(owned, intent) {
					t.Errorf("the operator would apply the %s for ever (-wanted +owned):\n%s", k.name, cmp.Diff(asYAML(t, intent), asYAML(t, owned)))
				}
			}
		})
	}
}

// C01: a pass over children that are as they should be sends nothing.
func TestC01NothingToDoSendsNothing(t *testing.T) {
	for name, app := range goldenApps(t) {
		t.Run(name, func(t *testing.T) {
			var all memories
			o := live(t, app)
			for range 2 {
				p := samePass(app, o, &all)
				r := refusing(t)
				for _, next := range builtIn(r, p) {
					if err := r.ensure(t.Context(), p, next); err != nil {
						t.Errorf("%s: %v", next.name, err)
					}
				}
				if len(p.changed) > 0 {
					t.Error("a child was written")
				}
			}
		})
	}
}

// Q01: the same quantity in another spelling is the same.
func TestQ01SpellingOfQuantitiesChangesNothing(t *testing.T) {
	before := myApp(t, "resources: {limits: {memory: 2048Mi, cpu: 1000m}, requests: {memory: 1.5Gi, cpu: '0.5'}}")
	after := myApp(t, "resources: {limits: {memory: 2Gi, cpu: 1}, requests: {memory: 1536Mi, cpu: 500m}}")
	var all memories
	p := samePass(after, live(t, before), &all)
	r := refusing(t)
	for _, next := range builtIn(r, p) {
		if err := r.ensure(t.Context(), p, next); err != nil || len(p.changed) > 0 {
			t.Errorf("%s: the pods restart for a spelling: %v", next.name, err)
		}
	}
}

func TestFingerprintSeesWhatWeOwn(t *testing.T) {
	app := myApp(t, "ports: [{port: 80}]")
	changes := map[string]struct {
		change func(client.Object)
		moves  bool
	}{
		"generation":      {func(o client.Object) { o.SetGeneration(9) }, true},
		"label":           {func(o client.Object) { o.SetLabels(nil) }, true},
		"annotation":      {func(o client.Object) { o.SetAnnotations(map[string]string{"a": "b"}) }, true},
		"owner":           {func(o client.Object) { o.SetOwnerReferences(nil) }, true},
		"another object":  {func(o client.Object) { o.SetUID("other") }, true},
		"owned fields":    {func(o client.Object) { o.SetManagedFields(nil) }, true},
		"resourceVersion": {func(o client.Object) { o.SetResourceVersion("99") }, false},
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			before := live(t, app).children["Deployment"]
			before.SetGeneration(1)
			after := before.DeepCopyObject().(client.Object)
			c.change(after)
			if moved := fingerprint(before) != fingerprint(after); moved != c.moves {
				t.Errorf("compared again: %v, want %v", moved, c.moves)
			}
		})
	}
	svc := live(t, app).children["Service"]
	again := svc.DeepCopyObject().(client.Object)
	again.SetResourceVersion("99")
	if fingerprint(svc) == fingerprint(again) {
		t.Error("drift of a kind without generation is not seen")
	}
}

func asYAML(t testing.TB, v any) string {
	t.Helper()
	raw, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// BenchmarkNothingToDo is what a pass costs that finds everything as it should be: the first of a process, and the others.
func BenchmarkNothingToDo(b *testing.B) {
	app := goldenApps(b)["full.yaml"]
	o, r := live(b, app), refusing(b)
	run := func(b *testing.B, all func() *memories) {
		b.ReportAllocs()
		for b.Loop() {
			p := samePass(app, o, all())
			for _, next := range builtIn(r, p) {
				if err := r.ensure(b.Context(), p, next); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("compared", func(b *testing.B) { run(b, func() *memories { return &memories{} }) })
	b.Run("remembered", func(b *testing.B) {
		var all memories
		run(b, func() *memories { return &all })
	})
}
