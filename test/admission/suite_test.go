// Package admission runs the real webhooks, from the generated manifests, behind a real API server.
package admission

import (
	"context"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/webhooks"
)

func TestAdmission(t *testing.T) {
	RegisterFailHandler(Fail)
	logf.SetLogger(GinkgoLogr)
	RunSpecs(t, "Admission on a real API server")
}

var (
	plane  *cluster.Cluster
	admin  client.Client
	scheme = cluster.Scheme()
)

var _ = BeforeSuite(func() {
	var err error
	plane, err = cluster.StartAPIServer(cluster.Options{Webhooks: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	admin, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	serve()
})

// serve runs a manager that does nothing but admission.
func serve() {
	server := webhook.NewServer(webhook.Options{
		Host: plane.Webhooks.Host, Port: plane.Webhooks.Port, CertDir: plane.Webhooks.CertDir,
	})
	mgr, err := ctrl.NewManager(plane.Config(), ctrl.Options{
		Scheme: scheme, WebhookServer: server,
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(webhooks.Setup(mgr, webhooks.Options{
		ServiceAnnotationPrefixes: []string{"lb.example.com/"}, IngressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes,
	})).To(Succeed())
	running, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	go func() {
		defer GinkgoRecover()
		Expect(mgr.Start(running)).To(Succeed())
	}()
	Eventually(func() error { return server.StartedChecker()(&http.Request{}) }).WithTimeout(30 * time.Second).Should(Succeed())
}
