package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// write is a mutating request as it was sent.
type write struct{ method, path, contentType, body string }

// wire is a transport that keeps all writes.
type wire struct {
	mu   sync.Mutex
	all  []write
	next http.RoundTripper
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		var body []byte
		if req.Body != nil {
			var err error
			if body, err = io.ReadAll(req.Body); err != nil {
				return nil, err
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		w.mu.Lock()
		w.all = append(w.all, write{req.Method, req.URL.Path, req.Header.Get("Content-Type"), string(body)})
		w.mu.Unlock()
	}
	return w.next.RoundTrip(req)
}

// keys are the fields of a JSON object, those of its metadata by themselves.
func keys(body string) (top, metadata []string) {
	GinkgoHelper()
	var object map[string]any
	Expect(json.Unmarshal([]byte(body), &object)).To(Succeed())
	if m, ok := object["metadata"].(map[string]any); ok {
		metadata = slices.Sorted(maps.Keys(m))
	}
	return slices.Sorted(maps.Keys(object)), metadata
}

var _ = Describe("What the operator sends", func() {
	It("P01, W03 never replaces or merges a whole object: applies and deletes to children, a few named fields of the MyApp", func(ctx SpecContext) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "wire-"}}
		Expect(admin.Create(ctx, ns)).To(Succeed())
		sent := &wire{}
		config := plane.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { sent.next = next; return sent })
		o := startOperator(ctx, ns.Name, config)
		life(ctx, o)

		Expect(len(sent.all)).To(BeNumerically(">", 15))
		for _, w := range sent.all {
			switch {
			case w.method == http.MethodDelete:
			case strings.HasSuffix(w.path, "/myapps/shop/status"):
				top, metadata := keys(w.body)
				Expect([]any{w.method, w.contentType, top, metadata}).To(Equal(
					[]any{http.MethodPatch, "application/merge-patch+json", []string{"metadata", "status"}, []string{"resourceVersion"}}), w.body)
			case strings.HasSuffix(w.path, "/myapps/shop"):
				top, metadata := keys(w.body)
				Expect([]any{w.method, w.contentType, top, metadata}).To(Equal(
					[]any{http.MethodPatch, "application/merge-patch+json", []string{"metadata"}, []string{"finalizers", "resourceVersion"}}), w.body)
			default:
				Expect([]any{w.method, w.contentType}).To(Equal([]any{http.MethodPatch, "application/apply-patch+yaml"}), w.path)
			}
		}
	})
})

// life takes a MyApp through everything that makes the operator write.
func life(ctx context.Context, o *operator) {
	GinkgoHelper()
	app := o.create(wrappers.FullestHere("shop", o.namespace).DeletionPolicy(v1beta1.DeletionPolicyDrain).Obj())
	o.run(app)
	for _, policy := range []v1beta1.DeletionPolicy{v1beta1.DeletionPolicyDelete, v1beta1.DeletionPolicyOrphan, v1beta1.DeletionPolicyDrain} {
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = o.web().Spec; a.Spec.DeletionPolicy = policy })
		o.run(app)
	}
	edit(ctx, app, func(a *v1beta1.MyApp) {
		a.Spec.Ports = append(a.Spec.Ports, corev1.ServicePort{Name: "dns", Port: 80, Protocol: corev1.ProtocolUDP})
	})
	o.run(app)
	Expect(admin.Delete(ctx, get[corev1.Service](ctx, app))).To(Succeed())
	o.run(app)
	Expect(admin.Delete(ctx, app)).To(Succeed())
	for range 6 {
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(missing(ctx, app, &v1beta1.MyApp{})).To(BeTrue())
}
