package controllers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

func certificates() kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == "Certificate" })]
}

// C08: a kind is absent, then there, and absent again.
func TestC08OptionalKindComesAndGoes(t *testing.T) {
	r := &Reconciler{Cache: &informertest.FakeInformers{Scheme: testScheme(t)}}
	k := certificates()
	var absent *absentError
	if err := r.unavailable(k); !errors.As(err, &absent) {
		t.Errorf("before the definition is there: %v", err)
	}
	handled := make(chan client.Object, 2)
	r.watches.handle = func(object client.Object, _ handler.EventHandler) error { handled <- object; return nil }
	r.startWatch(t.Context(), k.name, k.empty(), r.childHandler(k))
	r.startWatch(t.Context(), k.name, k.empty(), r.childHandler(k))
	select {
	case <-handled:
	case <-time.After(10 * time.Second):
		t.Fatal("the events of the watch reach nobody")
	}
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return r.unavailable(k) == nil, nil
	})
	if err != nil {
		t.Errorf("once the watch has begun: %v", r.unavailable(k))
	}
	if len(handled) > 0 {
		t.Error("a second start watches twice")
	}
	r.stopWatch(t.Context(), k.name, k.empty())
	if err := r.unavailable(k); !errors.As(err, &absent) {
		t.Errorf("after the definition is gone: %v", err)
	}
	if err := r.unavailable(kinds[0]); err != nil {
		t.Errorf("a kind that every cluster has: %v", err)
	}
}

// C08: where the definitions may not be watched the operator looks once, and only there.
func TestC08DefinitionsMayBeForbidden(t *testing.T) {
	resource := schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	for name, c := range map[string]struct {
		answer error
		may    bool
		fails  bool
	}{
		"allowed":   {nil, true, false},
		"forbidden": {apierrors.NewForbidden(resource, "", errors.New("no")), false, false},
		"no answer": {apierrors.NewServiceUnavailable("down"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{APIReader: fake.NewClientBuilder().WithScheme(testScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
					return c.answer
				},
			}).Build()}
			may, err := r.mayWatchCRDs(t.Context())
			if may != c.may || (err != nil) != c.fails {
				t.Errorf("watches: %v, error: %v", may, err)
			}
		})
	}
}
