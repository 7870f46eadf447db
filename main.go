// Command manager is the MyApp operator.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers"
	"ydzs.io/myapp-operator/webhooks"
)

// version is set at link time.
var version = "unknown"

func main() {
	o, err := parseOptions(os.Args[1:], os.LookupEnv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil && o.printVersion {
		fmt.Println("myapp-operator", version)
		return
	}
	if err == nil {
		err = run(ctrl.SetupSignalHandler(), o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "myapp-operator:", err)
		os.Exit(1)
	}
}

// run serves until the context ends, or until leadership is lost, which is an error.
func run(ctx context.Context, o options) error {
	ctrl.SetLogger(o.logger())
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	config.UserAgent = v1beta1.OperatorName
	if err := waitForServer(ctx, config); err != nil {
		return err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	if err := setup(mgr, o); err != nil {
		return err
	}
	ctrl.Log.Info("starting", "version", version, "webhooks", o.enableWebhooks, "namespaces", o.watchNamespaces)
	return mgr.Start(ctx)
}

// newManager wires caches, servers and leader election.
func newManager(config *rest.Config, o options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1beta1.AddToScheme, certmanagerv1.AddToScheme, monitoringv1.AddToScheme,
		operatorsv2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("build scheme: %w", err)
		}
	}
	cacheOptions := controllers.CacheOptions()
	cacheOptions.SyncPeriod = &o.syncPeriod
	if len(o.watchNamespaces) > 0 {
		cacheOptions.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range o.watchNamespaces {
			cacheOptions.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	options := ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cacheOptions,
		Metrics:                o.metrics(),
		HealthProbeBindAddress: o.healthAddress,
		WebhookServer: webhook.NewServer(webhook.Options{
			Port: o.webhookPort, CertDir: o.webhookCertDir, CertName: o.webhookCertName, KeyName: o.webhookKeyName,
			TLSOpts: []func(*tls.Config){strictTLS},
		}),
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = float32(o.kubeAPIQPS), o.kubeAPIBurst
	if o.leaderElect {
		if err := electLeader(config, &options, o); err != nil {
			return nil, err
		}
	}
	return ctrl.NewManager(config, options)
}

// setup registers the controller, the webhooks and the health checks.
func setup(mgr ctrl.Manager, o options) error {
	reconciler := &controllers.Reconciler{
		Client:    mgr.GetClient(),
		APIReader: mgr.GetAPIReader(),
		Recorder:  mgr.GetEventRecorder(v1beta1.OperatorName),
		Cache:     mgr.GetCache(),
		Options:   o.desired(),
	}
	if err := reconciler.SetupWithManager(mgr, o.concurrency); err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	ready := healthz.Ping
	if o.enableWebhooks {
		if err := webhooks.Setup(mgr, o.webhooks()); err != nil {
			return fmt.Errorf("set up webhooks: %w", err)
		}
		// Not the caches: a replica that is still filling them can answer admission requests all the same.
		ready = mgr.GetWebhookServer().StartedChecker()
	}
	return errors.Join(addUpgradeable(mgr), mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ready", ready))
}

// strictTLS serves HTTP/1.1 only, which keeps the resets of HTTP/2 streams out, over TLS 1.2 or newer.
func strictTLS(c *tls.Config) {
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = []string{"http/1.1"}
}

func (o options) metrics() metricsserver.Options {
	m := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure, CertDir: o.metricsCertDir}
	if o.metricsSecure {
		m.FilterProvider = filters.WithAuthenticationAndAuthorization
		m.TLSOpts = []func(*tls.Config){strictTLS}
	}
	return m
}

// waitForServer returns once the API server answers. An operator that exits instead would be restarted with a growing
// delay and come back long after the API server did.
func waitForServer(ctx context.Context, config *rest.Config) error {
	probe := rest.CopyConfig(config)
	probe.Timeout = 5 * time.Second
	probe.GroupVersion, probe.NegotiatedSerializer = &v1beta1.GroupVersion, clientgoscheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(probe)
	if err != nil {
		return fmt.Errorf("build client: %w", err)
	}
	return wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		var code int
		err := client.Get().AbsPath("/version").Do(ctx).StatusCode(&code).Error()
		if code == 0 || code >= http.StatusInternalServerError {
			ctrl.Log.Info("waiting for the API server", "error", err.Error())
			return false, nil
		}
		// Refusing to tell its version is an answer too.
		return true, nil
	})
}
