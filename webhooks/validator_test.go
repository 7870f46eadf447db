package webhooks

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// reviewer sends requests to the validating webhook as the API server does.
func reviewer(t testing.TB, opts Options) func(op admissionv1.Operation, old, app []byte) admission.Response {
	t.Helper()
	handler := admission.WithValidator(testScheme(t), &validator{opts: opts})
	return func(op admissionv1.Operation, old, app []byte) admission.Response {
		return handler.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Operation: op, Object: runtime.RawExtension{Raw: app}, OldObject: runtime.RawExtension{Raw: old},
		}})
	}
}

func object(t testing.TB, metadata, spec string) []byte {
	t.Helper()
	return toJSON(t, `{apiVersion: app.ydzs.io/v1beta1, kind: MyApp, metadata: `+metadata+`, spec: `+spec+`}`)
}

func TestValidator(t *testing.T) {
	const (
		good = `{image: "nginx:1.7.9", resources: {requests: {cpu: 1}}}`
		bad  = `{image: "nginx:1.7.9", resources: {requests: {cpu: 1}}, ports: [{name: web, port: 80}, {name: web, port: 81}]}`
		much = `{image: "Nginx", resources: {requests: {cpu: 1}}, ports: [{name: web, port: 80}, {name: web, port: 81}]}`
	)
	const deleting = `{name: shop, deletionTimestamp: "2026-01-01T00:00:00Z"}`
	for _, c := range []struct {
		name     string
		op       admissionv1.Operation
		old, app []byte
		causes   []string
		warnings []string
	}{
		{name: "a good MyApp", op: admissionv1.Create, app: object(t, `{name: shop}`, good)},
		{name: "a bad MyApp", op: admissionv1.Create, app: object(t, `{name: shop}`, bad), causes: []string{"spec.ports[1].name"}},
		{name: "N02 a bad name", op: admissionv1.Create, app: object(t, `{name: shop.v2}`, good), causes: []string{"metadata.name"}},
		{name: "N02 a stored bad name", op: admissionv1.Update, old: object(t, `{name: shop.v2}`, good), app: object(t, `{name: shop.v2}`, good)},
		{name: "no spec", op: admissionv1.Create, app: toJSON(t, `{metadata: {name: shop}}`), causes: []string{"spec.image"}, warnings: []string{"spec.resources.requests"}},
		{
			name: "F01 the finalizer of a deleting MyApp",
			op:   admissionv1.Update,
			old:  object(t, `{name: shop, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [app.ydzs.io/teardown]}`, bad),
			app:  object(t, deleting, bad),
		},
		{name: "F01 anything on a deleting MyApp", op: admissionv1.Update, old: object(t, deleting, good), app: object(t, deleting, much)},
		{
			name:   "F01 the finalizer and the spec of a living MyApp",
			op:     admissionv1.Update,
			old:    object(t, `{name: shop, finalizers: [app.ydzs.io/teardown]}`, bad),
			app:    object(t, `{name: shop}`, much),
			causes: []string{"spec.image"}, warnings: []string{"spec.ports[1].name"},
		},
		{
			name: "F01 the finalizer alone of a living MyApp", op: admissionv1.Update,
			old: object(t, `{name: shop, finalizers: [app.ydzs.io/teardown]}`, bad), app: object(t, `{name: shop}`, bad),
			warnings: []string{"spec.ports[1].name"},
		},
		{
			name: "W01 a label on a stored bad MyApp", op: admissionv1.Update,
			old: object(t, `{name: shop}`, bad), app: object(t, `{name: shop, labels: {a: b}}`, bad),
			warnings: []string{"spec.ports[1].name"},
		},
		{name: "a deletion", op: admissionv1.Delete, old: object(t, `{name: shop}`, bad)},
	} {
		t.Run(c.name, func(t *testing.T) {
			response := reviewer(t, Options{})(c.op, c.old, c.app)
			checkVerdict(t, response, c.causes)
			var paths []string
			for _, w := range response.Warnings {
				path, _, _ := strings.Cut(w, ":")
				paths = append(paths, path)
			}
			if diff := cmp.Diff(c.warnings, paths); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func checkVerdict(t *testing.T, response admission.Response, causes []string) {
	t.Helper()
	if response.Allowed != (len(causes) == 0) {
		t.Fatalf("allowed: %v, %v", response.Allowed, response.Result)
	}
	if response.Allowed {
		return
	}
	if response.Result.Code != http.StatusUnprocessableEntity || response.Result.Reason != metav1.StatusReasonInvalid {
		t.Errorf("a user sees %d %s, want 422 Invalid", response.Result.Code, response.Result.Reason)
	}
	var fields []string
	for _, cause := range response.Result.Details.Causes {
		fields = append(fields, cause.Field)
	}
	if diff := cmp.Diff(causes, fields); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// W08: the verdict comes from the request alone, so what is asked first is answered like what is asked last.
func TestValidatorLeavesTheObjectAlone(t *testing.T) {
	app := &v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1beta1.MyAppSpec{Image: "nginx:1"}}
	before := app.DeepCopy()
	v := &validator{}
	if _, err := v.ValidateCreate(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	if _, err := v.ValidateUpdate(t.Context(), app, app); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, app); diff != "" {
		t.Errorf("the object was changed (-want +got):\n%s", diff)
	}
}

type managerStub struct {
	ctrl.Manager
	scheme *runtime.Scheme
	server webhook.Server
}

func (m managerStub) GetScheme() *runtime.Scheme       { return m.scheme }
func (m managerStub) GetWebhookServer() webhook.Server { return m.server }

// W08: no cache, no client and no leadership is needed; the manager below has none.
func TestSetup(t *testing.T) {
	mgr := managerStub{scheme: testScheme(t), server: webhook.NewServer(webhook.Options{})}
	if err := Setup(mgr, Options{}); err != nil {
		t.Fatal(err)
	}
	review := func(path string, app []byte) *httptest.ResponseRecorder {
		body := encode(t, admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
			Request:  &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: app}},
		})
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(body)))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		mgr.server.WebhookMux().ServeHTTP(recorder, request)
		return recorder
	}
	app := object(t, `{name: shop.v2}`, `{image: "nginx:1"}`)
	if got := review("/mutate-app-ydzs-io-v1beta1-myapp", app).Body.String(); !strings.Contains(got, `"allowed":true`) || !strings.Contains(got, `"patchType":"JSONPatch"`) {
		t.Errorf("the mutating webhook answers %s", got)
	}
	if got := review("/validate-app-ydzs-io-v1beta1-myapp", app).Body.String(); !strings.Contains(got, `"allowed":false`) {
		t.Errorf("the validating webhook answers %s", got)
	}
	if err := Setup(mgr, Options{ServiceAnnotationPrefixes: []string{""}}); err == nil {
		t.Error("an empty prefix was taken")
	}
}
