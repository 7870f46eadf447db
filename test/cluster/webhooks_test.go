package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRedirect(t *testing.T) {
	const manifest = `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: first
webhooks:
- clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /mutate
  name: m.app.ydzs.io
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: second
webhooks:
- clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /validate
  failurePolicy: Fail
  name: v.app.ydzs.io
`
	const want = `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: first
webhooks:
- clientConfig:
    caBundle: Y2E=
    url: https://127.0.0.1:9443/mutate
  name: m.app.ydzs.io
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: second
webhooks:
- clientConfig:
    caBundle: Y2E=
    url: https://127.0.0.1:9443/validate
  failurePolicy: Fail
  name: v.app.ydzs.io
`
	got, err := redirect([]byte(manifest), "https://127.0.0.1:9443", []byte("ca"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("webhook configurations (-want +got):\n%s", diff)
	}
}
