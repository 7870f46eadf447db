package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
	"ydzs.io/myapp-operator/webhooks"
)

// options are the settings of the process: flags, and the environment variables WATCH_NAMESPACE and ENABLE_WEBHOOKS.
type options struct {
	printVersion bool
	logFormat    string
	logLevel     string

	watchNamespaces []string
	syncPeriod      time.Duration
	concurrency     int
	kubeAPIQPS      float64
	kubeAPIBurst    int

	leaderElect             bool
	leaderElectionNamespace string
	leaseDuration           time.Duration
	renewDeadline           time.Duration
	retryPeriod             time.Duration

	enableWebhooks  bool
	webhookPort     int
	webhookCertDir  string
	webhookCertName string
	webhookKeyName  string

	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	healthAddress  string

	serviceAnnotationPrefixes []string
	ingressAnnotationPrefixes []string
	disabledChildren          []string
	restartOnSecretChange     bool
	defaultSecurityProfile    string
}

// parseOptions reads the flags over the environment. The environment wins nothing that a flag says.
func parseOptions(args []string, lookup func(string) (string, bool), out io.Writer) (options, error) {
	o := options{enableWebhooks: true, ingressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes}
	if v, ok := lookup("ENABLE_WEBHOOKS"); ok && v != "" {
		enabled, err := strconv.ParseBool(v)
		if err != nil {
			return o, fmt.Errorf("ENABLE_WEBHOOKS: %q is neither true nor false", v)
		}
		o.enableWebhooks = enabled
	}
	if v, ok := lookup("WATCH_NAMESPACE"); ok {
		o.watchNamespaces = splitList(v)
	}
	flags := flag.NewFlagSet(v1beta1.OperatorName, flag.ContinueOnError)
	flags.SetOutput(out)
	// Read by controller-runtime from the global flag set; named here so that --help shows it.
	flags.Func("kubeconfig", "path of a kubeconfig; by default KUBECONFIG, the pod's own account or ~/.kube/config", func(v string) error {
		return os.Setenv("KUBECONFIG", v)
	})
	o.processFlags(flags)
	o.serverFlags(flags)
	o.policyFlags(flags)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, o.validate()
}

func (o *options) processFlags(f *flag.FlagSet) {
	f.BoolVar(&o.printVersion, "version", false, "print the version and exit")
	f.StringVar(&o.logFormat, "log-format", "json", "json or console")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info or error")
	f.DurationVar(&o.syncPeriod, "sync-period", 10*time.Hour, "how often every MyApp is looked at although nothing changed; costs no request")
	f.IntVar(&o.concurrency, "concurrency", 8, "how many MyApps are reconciled at the same time")
	f.Float64Var(&o.kubeAPIQPS, "kube-api-qps", 100, "sustained limit of requests per second to the API server")
	f.IntVar(&o.kubeAPIBurst, "kube-api-burst", 200, "short-time limit of requests to the API server")
	f.BoolVar(&o.leaderElect, "leader-elect", false, "let only one of several replicas act; the others serve admission and stand by")
	f.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "namespace of the Lease; by default the pod's own")
	f.DurationVar(&o.leaseDuration, "leader-election-lease-duration", 60*time.Second, "how long the others wait for a leader that went silent")
	f.DurationVar(&o.renewDeadline, "leader-election-renew-deadline", 40*time.Second, "how long a leader that cannot renew its Lease goes on")
	f.DurationVar(&o.retryPeriod, "leader-election-retry-period", 10*time.Second, "how often the Lease is renewed or asked for")
}

func (o *options) serverFlags(f *flag.FlagSet) {
	f.BoolVar(&o.enableWebhooks, "enable-webhooks", o.enableWebhooks, "serve the admission webhooks (environment: ENABLE_WEBHOOKS)")
	f.IntVar(&o.webhookPort, "webhook-port", 9443, "port of the webhook server")
	f.StringVar(&o.webhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs", "directory of the webhook server's certificate; reloaded when it changes")
	f.StringVar(&o.webhookCertName, "webhook-cert-name", "tls.crt", "file name of the certificate")
	f.StringVar(&o.webhookKeyName, "webhook-key-name", "tls.key", "file name of its key")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "address of the metrics server; 0 leaves it out")
	f.BoolVar(&o.metricsSecure, "metrics-secure", true, "serve metrics over TLS, to authenticated and authorized clients only")
	f.StringVar(&o.metricsCertDir, "metrics-cert-dir", "", "directory of the metrics server's certificate; by default it signs its own")
	f.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
}

func (o *options) policyFlags(f *flag.FlagSet) {
	f.StringVar(&o.defaultSecurityProfile, "default-security-profile", string(v1beta1.SecurityProfileBaseline),
		"security profile of MyApps that name none: Baseline or Restricted; a change restarts their pods")
	f.Func("service-annotation-prefixes", "comma list of prefixes of the annotations that a MyApp may put on its Service; none by default",
		func(v string) error {
			o.serviceAnnotationPrefixes = splitList(v)
			return nil
		})
	f.Func("ingress-annotation-prefixes", "comma list of prefixes of the annotations that a MyApp may put on its Ingress; "+
		"one that ends with / opens a family without its risky keys, a longer one its keys with any value (default "+
		strings.Join(v1beta1.DefaultIngressAnnotationPrefixes, ",")+")",
		func(v string) error {
			o.ingressAnnotationPrefixes = splitList(v)
			return nil
		})
	f.Func("disable-children", "comma list of kinds that the operator neither makes nor watches: "+strings.Join(optionalKinds(), ", ")+"; none by default",
		func(v string) error {
			o.disabledChildren = splitList(v)
			return nil
		})
	f.BoolVar(&o.restartOnSecretChange, "restart-on-secret-change", false,
		"let rollout.restartOnConfigChange see changes of Secrets; needs the right to list, watch and get them, which is the right to read all of them")
}

// optionalKinds are the kinds that --disable-children takes.
func optionalKinds() []string {
	var all []string
	for _, c := range v1beta1.OptionalChildren {
		all = append(all, strings.ToLower(c.Kind))
	}
	return all
}

func (o *options) validate() error {
	profiles := []string{string(v1beta1.SecurityProfileBaseline), string(v1beta1.SecurityProfileRestricted)}
	switch {
	case !slices.Contains([]string{"json", "console"}, o.logFormat):
		return fmt.Errorf("--log-format: %q is neither json nor console", o.logFormat)
	case !slices.Contains([]string{"debug", "info", "error"}, o.logLevel):
		return fmt.Errorf("--log-level: %q is not debug, info or error", o.logLevel)
	case !slices.Contains(profiles, o.defaultSecurityProfile):
		return fmt.Errorf("--default-security-profile: %q is neither Baseline nor Restricted", o.defaultSecurityProfile)
	case o.concurrency < 1:
		return fmt.Errorf("--concurrency: %d is not a positive number", o.concurrency)
	}
	for _, kind := range o.disabledChildren {
		if !v1beta1.IsOptional(kind) {
			return fmt.Errorf("--disable-children: %q is none of %s", kind, strings.Join(optionalKinds(), ", "))
		}
	}
	return nil
}

func (o *options) logger() logr.Logger {
	var level zapcore.Level
	// validate has accepted it.
	_ = level.UnmarshalText([]byte(o.logLevel))
	encoder := zap.JSONEncoder()
	if o.logFormat == "console" {
		encoder = zap.ConsoleEncoder()
	}
	return zap.New(encoder, zap.Level(level), zap.StacktraceLevel(zapcore.PanicLevel))
}

func (o *options) desired() desired.Options {
	return desired.Options{
		DefaultSecurityProfile:    v1beta1.SecurityProfile(o.defaultSecurityProfile),
		ServiceAnnotationPrefixes: o.serviceAnnotationPrefixes,
		IngressAnnotationPrefixes: o.ingressAnnotationPrefixes,
		DisabledChildren:          o.disabledChildren,
		RestartOnSecretChange:     o.restartOnSecretChange,
	}
}

func (o *options) webhooks() webhooks.Options {
	return webhooks.Options{
		ServiceAnnotationPrefixes: o.serviceAnnotationPrefixes,
		IngressAnnotationPrefixes: o.ingressAnnotationPrefixes,
		DisabledChildren:          o.disabledChildren,
		DefaultSecurityProfile:    v1beta1.SecurityProfile(o.defaultSecurityProfile),
	}
}

// splitList splits a comma list and drops what is empty.
func splitList(v string) []string {
	var all []string
	for _, s := range strings.Split(v, ",") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}
