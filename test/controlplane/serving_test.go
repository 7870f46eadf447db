package controlplane

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"ydzs.io/myapp-operator/test/cluster"
)

// servingSpecs are about what a process serves: health, metrics, admission.
func servingSpecs() {
	It("tells its health, and its metrics to those who may read them", func(ctx SpecContext) {
		Expect(leader.probe("/healthz")).To(Equal(http.StatusOK))
		Expect(leader.probe("/readyz")).To(Equal(http.StatusOK))
		Eventually(ctx, func() int { return leader.readMetrics(ctx, "") }).Should(Equal(http.StatusUnauthorized))
		// Two accounts, since a refusal is remembered for a while.
		token := func(account string) string {
			kubectl(ctx, "create", "serviceaccount", account, "-n", operatorNamespace)
			return strings.TrimSpace(kubectl(ctx, "create", "token", account, "-n", operatorNamespace))
		}
		Expect(leader.readMetrics(ctx, token("nobody"))).To(Equal(http.StatusForbidden))
		kubectl(ctx, "create", "clusterrolebinding", "prometheus", "--clusterrole=myapp-operator-metrics-reader",
			"--serviceaccount="+operatorNamespace+":prometheus")
		Expect(leader.readMetrics(ctx, token("prometheus"))).To(Equal(http.StatusOK))
	})

	It("serves a renewed certificate without a restart", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		renew := func() {
			authority, err := cluster.NewAuthority()
			Expect(err).NotTo(HaveOccurred())
			Expect(authority.WriteServing(dir)).To(Succeed())
		}
		renew()
		ports, err := cluster.FreePorts(1)
		Expect(err).NotTo(HaveOccurred())
		address := loopback(ports[0])
		o, err := plane.startOperator("certificates", append(shortLease, "--webhook-port="+strconv.Itoa(ports[0]), "--webhook-cert-dir="+dir)...)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { o.Kill() })
		Expect(o.waitReady(ctx)).To(Succeed())
		first := servedBy(address)
		Expect(first).NotTo(BeEmpty())
		renew()
		Eventually(ctx, func() string { return servedBy(address) }).ShouldNot(Or(Equal(first), BeEmpty()))
		Expect(o.running()).To(BeTrue())
	})

	It("W09 is alive but not ready until it serves admission", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		authority, err := cluster.NewAuthority()
		Expect(err).NotTo(HaveOccurred())
		Expect(authority.WriteServing(dir)).To(Succeed())
		// The certificate becomes a pipe, which whoever reads it waits for.
		path := filepath.Join(dir, "tls.crt")
		certificate, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Remove(path)).To(Succeed())
		Expect(syscall.Mkfifo(path, 0o600)).To(Succeed())
		ports, err := cluster.FreePorts(1)
		Expect(err).NotTo(HaveOccurred())
		o, err := plane.startOperator("unready", append(shortLease, "--webhook-port="+strconv.Itoa(ports[0]), "--webhook-cert-dir="+dir)...)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { o.Kill() })
		Eventually(ctx, func() int { return o.probe("/healthz") }).Should(Equal(http.StatusOK))
		Consistently(ctx, func() int { return o.probe("/readyz") }, "1s").Should(Equal(http.StatusInternalServerError))
		go func() { _ = os.WriteFile(path, certificate, 0o600) }()
		Expect(o.waitReady(ctx)).To(Succeed())
	})

	It("leaves admission out for the specs that follow", func(ctx SpecContext) {
		kubectl(ctx, "delete", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "--all")
	})
}

// servedBy identifies the certificate that a server shows; empty when none does.
func servedBy(address string) string {
	// Whoever signed it: only the certificate is looked at.
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	return string(conn.ConnectionState().PeerCertificates[0].Signature)
}

// readMetrics returns the status code of the metrics server's answer; 0 when nobody answers.
func (o *operator) readMetrics(ctx context.Context, token string) int {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+o.metrics+"/metrics", nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The server signs its own certificate when it is given none.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}
