package cluster_test

import (
	"crypto/x509"
	"encoding/pem"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/test/cluster"
)

// A CRD can be installed and removed as often as one likes, twice in a row as well.
func checkOptionalCRD(t *testing.T, c *cluster.Cluster) {
	served := func() error {
		// Not a request that the cache of kubectl answers.
		_, err := c.Kubectl(t.Context(), "get", "--raw", "/apis/monitoring.coreos.com/v1/servicemonitors")
		return err
	}
	for range 2 {
		for range 2 {
			if err := c.InstallServiceMonitorCRD(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := served(); err != nil {
			t.Errorf("installed and not served: %v", err)
		}
		for range 2 {
			if err := c.RemoveCRD(t.Context(), cluster.ServiceMonitorCRD); err != nil {
				t.Fatal(err)
			}
		}
		if err := served(); err == nil {
			t.Error("removed and still served")
		}
	}
}

// A Certificate of a CA issuer becomes Ready, and its Secret holds a certificate that the authority has signed.
func checkCertManager(t *testing.T, c *cluster.Cluster) {
	if err := c.InstallCertManagerCRDs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateCAIssuer(t.Context(), "default", "ca"); err != nil {
		t.Fatal(err)
	}
	stop := startCertManager(t, c)
	const manifest = `{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: web},
		spec: {secretName: web-tls, dnsNames: [web.example.com], issuerRef: {name: ca}}}`
	if _, err := c.KubectlStdin(t.Context(), manifest, "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "wait", "--for=condition=Ready", "--timeout=60s", "certificate/web")
	verify(t, c, "web-tls", "ca-root", "web.example.com")

	stop()
	// Started anew, it is left running for the end of the cluster.
	startCertManager(t, c)
}

func startCertManager(t *testing.T, c *cluster.Cluster) (stop func()) {
	t.Helper()
	stop, err := c.StartCertManager(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stop
}

// verify expects a Secret to hold a certificate for a host, signed by the authority in another Secret.
func verify(t *testing.T, c *cluster.Cluster, secret, authority, host string) {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(secretData(t, c, authority)[corev1.TLSCertKey]) {
		t.Fatalf("no certificate in Secret %s", authority)
	}
	block, _ := pem.Decode(secretData(t, c, secret)[corev1.TLSCertKey])
	if block == nil {
		t.Fatalf("no certificate in Secret %s", secret)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
		t.Error(err)
	}
}

func secretData(t *testing.T, c *cluster.Cluster, name string) map[string][]byte {
	t.Helper()
	admin, err := client.New(c.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	return secret.Data
}
