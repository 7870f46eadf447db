package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func environment(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

func TestFlagsOverEnvironment(t *testing.T) {
	type result struct {
		webhooks   bool
		namespaces []string
	}
	cases := []struct {
		name string
		env  map[string]string
		args []string
		want result
	}{
		{"neither", nil, nil, result{true, nil}},
		{"ENABLE_WEBHOOKS=false", map[string]string{"ENABLE_WEBHOOKS": "false"}, nil, result{false, nil}},
		{"ENABLE_WEBHOOKS=0", map[string]string{"ENABLE_WEBHOOKS": "0"}, nil, result{false, nil}},
		{"ENABLE_WEBHOOKS empty", map[string]string{"ENABLE_WEBHOOKS": ""}, nil, result{true, nil}},
		{"the flag", nil, []string{"--enable-webhooks=false"}, result{false, nil}},
		{"the flag wins over false", map[string]string{"ENABLE_WEBHOOKS": "false"}, []string{"--enable-webhooks"}, result{true, nil}},
		{"the flag wins over true", map[string]string{"ENABLE_WEBHOOKS": "true"}, []string{"--enable-webhooks=false"}, result{false, nil}},
		{"WATCH_NAMESPACE empty means all", map[string]string{"WATCH_NAMESPACE": ""}, nil, result{true, nil}},
		{"WATCH_NAMESPACE with one", map[string]string{"WATCH_NAMESPACE": "team"}, nil, result{true, []string{"team"}}},
		{"WATCH_NAMESPACE with a list", map[string]string{"WATCH_NAMESPACE": "team, shop,,"}, nil, result{true, []string{"team", "shop"}}},
		{"WATCH_NAMESPACE with commas only", map[string]string{"WATCH_NAMESPACE": " , "}, nil, result{true, nil}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o, err := parseOptions(c.args, environment(c.env), &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, result{o.enableWebhooks, o.watchNamespaces}, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaultOptions(t *testing.T) {
	o, err := parseOptions(nil, environment(nil), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		logFormat: "json", logLevel: "info", syncPeriod: 10 * time.Hour, concurrency: 8, kubeAPIQPS: 100, kubeAPIBurst: 200,
		leaseDuration: time.Minute, renewDeadline: 40 * time.Second, retryPeriod: 10 * time.Second,
		enableWebhooks: true, webhookPort: 9443, webhookCertDir: "/tmp/k8s-webhook-server/serving-certs",
		webhookCertName: "tls.crt", webhookKeyName: "tls.key",
		metricsAddress: ":8443", metricsSecure: true, healthAddress: ":8081", defaultSecurityProfile: "Baseline",
		ingressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes,
	}
	if diff := cmp.Diff(want, o, cmp.AllowUnexported(options{})); diff != "" {
		t.Errorf("without flags the operator runs otherwise (-want +got):\n%s", diff)
	}
}

func TestBadOptionsAreNamed(t *testing.T) {
	cases := []struct {
		name string
		env  map[string]string
		args []string
		says string
	}{
		{"ENABLE_WEBHOOKS", map[string]string{"ENABLE_WEBHOOKS": "maybe"}, nil, `ENABLE_WEBHOOKS: "maybe" is neither true nor false`},
		{"log format", nil, []string{"--log-format=xml"}, `--log-format: "xml"`},
		{"log level", nil, []string{"--log-level=loud"}, `--log-level: "loud"`},
		{"profile", nil, []string{"--default-security-profile=restricted"}, `--default-security-profile: "restricted"`},
		{"children", nil, []string{"--disable-children=ingress,pod"}, `--disable-children: "pod" is none of ingress, certificate`},
		{"concurrency", nil, []string{"--concurrency=0"}, "--concurrency: 0"},
		{"unknown flag", nil, []string{"--no-such-flag"}, "no-such-flag"},
		{"not a duration", nil, []string{"--sync-period=ten"}, "sync-period"},
		{"argument", nil, []string{"start"}, `unexpected argument "start"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseOptions(c.args, environment(c.env), &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the user reads %v, want something with %q", err, c.says)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	var out bytes.Buffer
	if _, err := parseOptions([]string{"--help"}, environment(nil), &out); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help ends with %v", err)
	}
	for _, name := range []string{"enable-webhooks", "leader-elect", "kubeconfig", "default-security-profile", "version"} {
		if !strings.Contains(out.String(), "-"+name) {
			t.Errorf("--help does not name --%s", name)
		}
	}
	o, err := parseOptions([]string{"--version"}, environment(nil), &out)
	if err != nil || !o.printVersion {
		t.Errorf("--version: %v, %v", o.printVersion, err)
	}
}

func TestKubeconfigFlag(t *testing.T) {
	t.Setenv("KUBECONFIG", "from-the-environment")
	if _, err := parseOptions([]string{"--kubeconfig=from-the-flag"}, environment(nil), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv("KUBECONFIG"); got != "from-the-flag" {
		t.Errorf("the kubeconfig is %s", got)
	}
}

func TestPolicyOptionsReachBuildersAndWebhooks(t *testing.T) {
	args := []string{
		"--default-security-profile=Restricted", "--service-annotation-prefixes=a.example.com/, b.example.com/",
		"--ingress-annotation-prefixes=c.example.com/", "--disable-children=Ingress,servicemonitor", "--restart-on-secret-change",
	}
	o, err := parseOptions(args, environment(nil), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if o.desired().DefaultSecurityProfile != "Restricted" || o.webhooks().DefaultSecurityProfile != "Restricted" {
		t.Error("builders and webhooks go by another profile than the flag's")
	}
	if !o.desired().RestartOnSecretChange {
		t.Error("builders do not know of --restart-on-secret-change")
	}
	want := [][]string{{"a.example.com/", "b.example.com/"}, {"c.example.com/"}, {"Ingress", "servicemonitor"}}
	d, w := o.desired(), o.webhooks()
	for _, got := range [][][]string{
		{d.ServiceAnnotationPrefixes, d.IngressAnnotationPrefixes, d.DisabledChildren},
		{w.ServiceAnnotationPrefixes, w.IngressAnnotationPrefixes, w.DisabledChildren},
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lists (-want +got):\n%s", diff)
		}
	}
}

func TestLoggerTakesEveryAcceptedSetting(t *testing.T) {
	for _, format := range []string{"json", "console"} {
		for level, verbose := range map[string]bool{"debug": true, "info": false, "error": false} {
			o := options{logFormat: format, logLevel: level}
			if got := o.logger().V(1).Enabled(); got != verbose {
				t.Errorf("%s %s: debug lines %v, want %v", format, level, got, verbose)
			}
		}
	}
}

func TestLeaseNamespace(t *testing.T) {
	o := options{leaderElectionNamespace: "team"}
	if got, err := o.leaseNamespace(); got != "team" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := os.Stat(namespaceFile); err == nil {
		t.Skip("this runs in a pod")
	}
	if _, err := (&options{}).leaseNamespace(); err == nil || !strings.Contains(err.Error(), "--leader-election-namespace") {
		t.Errorf("outside a cluster the user reads %v", err)
	}
}
