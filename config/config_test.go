// Package config_test builds the kustomize overlays and looks at what comes out. There is no other Go code here.
package config_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
)

const (
	namespace = "myapp-operator-system"
	operator  = "myapp-operator"
)

// installs are the overlays that a cluster is installed from.
var installs = []string{"default", "without-webhooks"}

func kustomize(t *testing.T, dir string) []byte {
	t.Helper()
	tools, err := cluster.Tools("kustomize")
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(tools["kustomize"], "build", dir)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kustomize build %s: %v\n%s", dir, err, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("kustomize build %s is not clean: %s", dir, &stderr)
	}
	return out
}

// manifests are the objects of a built overlay.
type manifests []*unstructured.Unstructured

func build(t *testing.T, dir string) manifests {
	t.Helper()
	return parse(t, kustomize(t, dir))
}

func parse(t *testing.T, raw []byte) (all manifests) {
	t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		u := &unstructured.Unstructured{}
		switch err := decoder.Decode(u); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		all = append(all, u)
	}
}

// of returns the objects of the kind that T is, decoded strictly.
func of[T any](t *testing.T, all manifests) (found []T) {
	t.Helper()
	kind := reflect.TypeFor[T]().Name()
	for _, u := range all {
		if u.GetKind() != kind {
			continue
		}
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, &typed, true); err != nil {
			t.Fatalf("%s %s: %v", kind, u.GetName(), err)
		}
		found = append(found, typed)
	}
	return found
}

// one returns the only object of a kind.
func one[T any](t *testing.T, all manifests) T {
	t.Helper()
	found := of[T](t, all)
	if len(found) != 1 {
		t.Fatalf("want one %s, found %d", reflect.TypeFor[T]().Name(), len(found))
	}
	return found[0]
}

func (all manifests) named(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	i := slices.IndexFunc(all, func(u *unstructured.Unstructured) bool { return u.GetKind() == kind && u.GetName() == name })
	if i < 0 {
		t.Fatalf("no %s %s", kind, name)
	}
	return all[i]
}

func eachInstall(t *testing.T, test func(t *testing.T, all manifests)) {
	for _, overlay := range installs {
		t.Run(overlay, func(t *testing.T) { test(t, build(t, overlay)) })
	}
}

func TestEveryDirectoryBuilds(t *testing.T) {
	dirs, err := filepath.Glob("*/kustomization.yaml")
	if err != nil || len(dirs) < 10 {
		t.Fatalf("found %v, %v", dirs, err)
	}
	for _, dir := range dirs {
		if len(build(t, filepath.Dir(dir))) == 0 {
			t.Errorf("%s builds nothing", dir)
		}
	}
}

func TestInstallHasAllParts(t *testing.T) {
	common := []string{
		"ClusterRole/myapp-operator-manager", "ClusterRole/myapp-operator-metrics-auth", "ClusterRole/myapp-operator-metrics-reader",
		"ClusterRole/myapp-operator-myapp-admin", "ClusterRole/myapp-operator-myapp-editor", "ClusterRole/myapp-operator-myapp-viewer",
		"ClusterRole/myapp-operator-secret-watcher",
		"ClusterRoleBinding/myapp-operator-manager", "ClusterRoleBinding/myapp-operator-metrics-auth",
		"CustomResourceDefinition/myapps.app.ydzs.io", "Deployment/myapp-operator", "Namespace/myapp-operator-system",
		"NetworkPolicy/myapp-operator", "PodDisruptionBudget/myapp-operator", "Role/myapp-operator-leader-election",
		"RoleBinding/myapp-operator-leader-election", "Service/myapp-operator-metrics", "ServiceAccount/myapp-operator",
	}
	webhooks := []string{
		"Certificate/myapp-operator-ca", "Certificate/myapp-operator-webhook", "Issuer/myapp-operator-ca",
		"Issuer/myapp-operator-selfsigned", "MutatingWebhookConfiguration/myapp-operator-mutating",
		"Service/myapp-operator-webhook", "ValidatingWebhookConfiguration/myapp-operator-validating",
	}
	want := map[string][]string{"without-webhooks": common, "default": slices.Sorted(slices.Values(slices.Concat(common, webhooks)))}
	for overlay, names := range want {
		var got []string
		for _, u := range build(t, overlay) {
			got = append(got, u.GetKind()+"/"+u.GetName())
		}
		slices.Sort(got)
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", overlay, diff)
		}
	}
}

// TestOtherNamespace: the namespace is written in one place.
func TestOtherNamespace(t *testing.T) {
	for _, overlay := range installs {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, overlay, "kustomization.yaml")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.Replace(raw, []byte("namespace: "+namespace), []byte("namespace: elsewhere"), 1)
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, left := range []string{namespace, "namespace: system", "name: system\n", "NAMESPACE/", "SERVICE.", "webhook-service"} {
			if out := kustomize(t, filepath.Join(dir, overlay)); bytes.Contains(out, []byte(left)) {
				t.Errorf("%s in another namespace still says %q", overlay, left)
			}
		}
	}
}

func TestOperatorPodIsRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(template corev1.PodTemplateSpec) policy.AggregateCheckResult {
		level := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}
		return policy.AggregateCheckResults(evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec))
	}
	breaks := map[string]func(*corev1.PodSpec){
		"privileged":             func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.Privileged = ptr.To(true) },
		"escalation":             func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil },
		"keeps all capabilities": func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.Capabilities = nil },
		"may be root":            func(p *corev1.PodSpec) { p.SecurityContext.RunAsNonRoot = nil },
		"no seccomp profile":     func(p *corev1.PodSpec) { p.SecurityContext.SeccompProfile = nil },
		"host network":           func(p *corev1.PodSpec) { p.HostNetwork = true },
		"host path": func(p *corev1.PodSpec) {
			p.Volumes = append(p.Volumes, corev1.Volume{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
		},
	}
	eachInstall(t, func(t *testing.T, all manifests) {
		template := one[appsv1.Deployment](t, all).Spec.Template
		if result := judge(template); !result.Allowed {
			t.Errorf("the operator's pod is refused: %s", result.ForbiddenDetail())
		}
		for _, c := range template.Spec.Containers {
			if !ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false) {
				t.Errorf("container %s may write its root filesystem", c.Name)
			}
		}
		for name, breakIt := range breaks {
			broken := *template.DeepCopy()
			breakIt(&broken.Spec)
			if judge(broken).Allowed {
				t.Errorf("%s: a bad pod is allowed, so the test shows nothing", name)
			}
		}
		ns := one[corev1.Namespace](t, all)
		if got := ns.Labels[psa.EnforceLevelLabel]; got != string(psa.LevelRestricted) {
			t.Errorf("the namespace enforces %q", got)
		}
	})
}

func TestOperatorDeployment(t *testing.T) {
	eachInstall(t, func(t *testing.T, all manifests) {
		d := one[appsv1.Deployment](t, all)
		pod, rolling := d.Spec.Template.Spec, d.Spec.Strategy.RollingUpdate
		if ptr.Deref(d.Spec.Replicas, 0) != 2 || rolling == nil || rolling.MaxUnavailable.IntValue() != 0 {
			t.Error("two replicas, and none may go before another is there")
		}
		if len(pod.Containers) != 1 || pod.Containers[0].Name != "manager" {
			t.Fatal("OLM and kubectl expect one container named manager")
		}
		c := pod.Containers[0]
		ports := map[int32]bool{}
		for _, p := range c.Ports {
			ports[p.ContainerPort] = true
		}
		if diff := cmp.Diff(map[int32]bool{9443: true, 8443: true, 8081: true}, ports); diff != "" {
			t.Errorf("ports (-want +got):\n%s", diff)
		}
		if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
			t.Error("requests or limits are missing")
		}
		for what, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != what {
				t.Errorf("no probe of %s", what)
			}
		}
		stop := c.Lifecycle.PreStop.Sleep
		if stop == nil || stop.Seconds != 10 || ptr.Deref(pod.TerminationGracePeriodSeconds, 0) != 45 {
			t.Error("want a preStop sleep of 10 s within a grace period of 45 s")
		}
		if !slices.Contains(c.Args, "--leader-elect") {
			t.Error("two replicas without leader election would both act")
		}
		if pod.ServiceAccountName != one[corev1.ServiceAccount](t, all).Name {
			t.Error("the pod runs as another account than the one that the roles are bound to")
		}
	})
}

// TestC10GracePeriodOutlastsTheDrain: the sleep that lets endpoints forget the pod, and then all the time that the manager
// gives its running reconciles and requests, which is controller-runtime's default.
func TestC10GracePeriodOutlastsTheDrain(t *testing.T) {
	const managerStops = 30
	eachInstall(t, func(t *testing.T, all manifests) {
		pod := one[appsv1.Deployment](t, all).Spec.Template.Spec
		sleep, grace := pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds, ptr.Deref(pod.TerminationGracePeriodSeconds, 0)
		if grace <= sleep+managerStops {
			t.Errorf("the pod is killed after %d s, within the %d s that it sleeps and the %d s that it may drain", grace, sleep, managerStops)
		}
		if sleep < 5 {
			t.Errorf("%d s are too short for every node to learn that the pod takes no more admission requests", sleep)
		}
	})
}

func TestSelectorsMatchThePod(t *testing.T) {
	eachInstall(t, func(t *testing.T, all manifests) {
		d := one[appsv1.Deployment](t, all)
		pod := labels.Set(d.Spec.Template.Labels)
		check := func(what string, selector labels.Selector, err error) {
			if err != nil || selector.Empty() || !selector.Matches(pod) {
				t.Errorf("%s selects %v, which is not the operator's pod (%v)", what, selector, err)
			}
		}
		for _, s := range of[corev1.Service](t, all) {
			check("Service "+s.Name, labels.SelectorFromSet(s.Spec.Selector), nil)
		}
		checkLabels := func(what string, s *metav1.LabelSelector) {
			selector, err := metav1.LabelSelectorAsSelector(s)
			check(what, selector, err)
		}
		budget, network := one[policyv1.PodDisruptionBudget](t, all), one[networkingv1.NetworkPolicy](t, all)
		checkLabels("the Deployment", d.Spec.Selector)
		checkLabels("the disruption budget", budget.Spec.Selector)
		checkLabels("the network policy", &network.Spec.PodSelector)
		for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
			checkLabels("the spread over "+c.TopologyKey, c.LabelSelector)
		}
	})
}

// webhook is what both kinds of configuration have in common.
type webhook struct {
	admissionv1.ValidatingWebhook
	config metav1.ObjectMeta
}

func webhooksOf(t *testing.T, all manifests) []webhook {
	t.Helper()
	mutating, validating := one[admissionv1.MutatingWebhookConfiguration](t, all), one[admissionv1.ValidatingWebhookConfiguration](t, all)
	var hooks []webhook
	for _, w := range mutating.Webhooks {
		hooks = append(hooks, webhook{admissionv1.ValidatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
			SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds, MatchConditions: w.MatchConditions,
		}, mutating.ObjectMeta})
	}
	for _, w := range validating.Webhooks {
		hooks = append(hooks, webhook{w, validating.ObjectMeta})
	}
	return hooks
}

func TestW04WebhooksReachOnlyMyApps(t *testing.T) {
	all := build(t, "default")
	service := &corev1.Service{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(all.named(t, "Service", "myapp-operator-webhook").Object, service); err != nil {
		t.Fatal(err)
	}
	if p := service.Spec.Ports; len(p) != 1 || p[0].Port != 443 || p[0].TargetPort.IntValue() != 9443 {
		t.Errorf("the webhooks' Service maps %v, not 443 to 9443", p)
	}
	policies := map[string]admissionv1.FailurePolicyType{"mmyapp.app.ydzs.io": admissionv1.Ignore, "vmyapp.app.ydzs.io": admissionv1.Fail}
	// Fixed for ever: while the operator is being updated, old pods answer what new configurations ask, and the reverse.
	urls := map[string]string{"mmyapp.app.ydzs.io": "/mutate-app-ydzs-io-v1beta1-myapp", "vmyapp.app.ydzs.io": "/validate-app-ydzs-io-v1beta1-myapp"}
	hooks := webhooksOf(t, all)
	if len(hooks) != len(policies) {
		t.Fatalf("want %d webhooks, found %d", len(policies), len(hooks))
	}
	for _, w := range hooks {
		t.Run(w.Name, func(t *testing.T) {
			if got := ptr.Deref(w.FailurePolicy, ""); got != policies[w.Name] {
				t.Errorf("failurePolicy %s, want %q", got, policies[w.Name])
			}
			if ptr.Deref(w.TimeoutSeconds, 10) > 5 || ptr.Deref(w.SideEffects, "") != admissionv1.SideEffectClassNone || ptr.Deref(w.MatchPolicy, "") != admissionv1.Equivalent {
				t.Error("want a timeout of at most 5 s, no side effects and matchPolicy Equivalent")
			}
			want := []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"app.ydzs.io"}, APIVersions: []string{"v1beta1"}, Resources: []string{"myapps"}},
			}}
			if diff := cmp.Diff(want, w.Rules); diff != "" {
				t.Errorf("rules reach further than creating and updating MyApps (-want +got):\n%s", diff)
			}
			if s := w.ClientConfig.Service; s == nil || s.Name != service.Name || s.Namespace != service.Namespace || ptr.Deref(s.Port, 443) != 443 {
				t.Errorf("calls %v, the Service is %s/%s", s, service.Namespace, service.Name)
			}
			if got := ptr.Deref(w.ClientConfig.Service.Path, ""); got != urls[w.Name] {
				t.Errorf("calls %s, want %s", got, urls[w.Name])
			}
			if len(w.MatchConditions) != 1 || !strings.Contains(w.MatchConditions[0].Expression, "deletionTimestamp") {
				t.Error("a MyApp that is being deleted must get past")
			}
		})
	}
}

func TestCertificates(t *testing.T) {
	all := build(t, "default")
	field := func(u *unstructured.Unstructured, path ...string) string {
		v, _, _ := unstructured.NestedString(u.Object, path...)
		return v
	}
	serving, authority := all.named(t, "Certificate", "myapp-operator-webhook"), all.named(t, "Certificate", "myapp-operator-ca")

	names, _, _ := unstructured.NestedStringSlice(serving.Object, "spec", "dnsNames")
	base := "myapp-operator-webhook." + namespace + ".svc"
	if diff := cmp.Diff([]string{base, base + ".cluster.local"}, names); diff != "" {
		t.Errorf("names in the serving certificate (-want +got):\n%s", diff)
	}
	if isCA, _, _ := unstructured.NestedBool(authority.Object, "spec", "isCA"); !isCA {
		t.Error("the authority is none")
	}
	issuer := all.named(t, "Issuer", field(serving, "spec", "issuerRef", "name"))
	if got, want := field(issuer, "spec", "ca", "secretName"), field(authority, "spec", "secretName"); got != want {
		t.Errorf("the serving certificate is signed with Secret %q, the authority's is %q", got, want)
	}
	if root := all.named(t, "Issuer", field(authority, "spec", "issuerRef", "name")); root.Object["spec"].(map[string]any)["selfSigned"] == nil {
		t.Error("the authority must sign itself")
	}
	if field(authority, "spec", "privateKey", "rotationPolicy") != "Never" {
		t.Error("a new key of the authority would make what the old one signed worthless at once")
	}
	for _, w := range webhooksOf(t, all) {
		if got, want := w.config.Annotations["cert-manager.io/inject-ca-from"], namespace+"/"+serving.GetName(); got != want {
			t.Errorf("%s takes its CA bundle from %q, not from %q", w.config.Name, got, want)
		}
	}

	pod := one[appsv1.Deployment](t, all).Spec.Template.Spec
	if len(pod.Volumes) != 1 || pod.Volumes[0].Name != "webhook-cert" || pod.Volumes[0].Secret.SecretName != field(serving, "spec", "secretName") {
		t.Errorf("OLM replaces a volume named webhook-cert and no other; there is %v", pod.Volumes)
	}
	mounts := pod.Containers[0].VolumeMounts
	if len(mounts) != 1 || mounts[0].Name != "webhook-cert" || mounts[0].MountPath != "/tmp/k8s-webhook-server/serving-certs" {
		t.Errorf("the certificate is not where the operator looks for it: %v", mounts)
	}
}

func TestWithoutWebhooks(t *testing.T) {
	pod := one[appsv1.Deployment](t, build(t, "without-webhooks")).Spec.Template.Spec
	env := map[string]string{}
	for _, e := range pod.Containers[0].Env {
		env[e.Name] = e.Value
	}
	if diff := cmp.Diff(map[string]string{"ENABLE_WEBHOOKS": "false", "WATCH_NAMESPACE": ""}, env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if len(pod.Volumes) > 0 {
		t.Errorf("the pod would wait for %v, which nobody makes", pod.Volumes)
	}
}

// granted are all rules that the operator's account gets, with the names of their roles.
func granted(t *testing.T, all manifests) map[string][]rbacv1.PolicyRule {
	t.Helper()
	rules := map[string][]rbacv1.PolicyRule{}
	for _, b := range of[rbacv1.ClusterRoleBinding](t, all) {
		for _, r := range of[rbacv1.ClusterRole](t, all) {
			if r.Name == b.RoleRef.Name && isOperator(b.Subjects) {
				rules[r.Name] = r.Rules
			}
		}
	}
	for _, b := range of[rbacv1.RoleBinding](t, all) {
		for _, r := range of[rbacv1.Role](t, all) {
			if r.Name == b.RoleRef.Name && isOperator(b.Subjects) {
				rules[r.Name] = r.Rules
			}
		}
	}
	return rules
}

func isOperator(subjects []rbacv1.Subject) bool {
	return len(subjects) == 1 && subjects[0] == rbacv1.Subject{Kind: "ServiceAccount", Name: operator, Namespace: namespace}
}

func TestC06X02OperatorRights(t *testing.T) {
	eachInstall(t, func(t *testing.T, all manifests) {
		rules := granted(t, all)
		if len(rules) != 3 {
			t.Fatalf("want three roles bound to the operator, found %v", rules)
		}
		finalizers := false
		for role, list := range rules {
			for _, r := range list {
				for _, v := range slices.Concat(r.Verbs, r.APIGroups, r.Resources, r.NonResourceURLs) {
					if strings.Contains(v, "*") {
						t.Errorf("%s has a wildcard: %v", role, r)
					}
				}
				for _, v := range []string{"escalate", "bind", "impersonate"} {
					if slices.Contains(r.Verbs, v) {
						t.Errorf("%s may %s", role, v)
					}
				}
				if slices.ContainsFunc(r.Resources, func(s string) bool { return s == "secrets" || strings.HasPrefix(s, "pods/") }) {
					t.Errorf("%s reaches into Secrets or pods: %v", role, r)
				}
				named := slices.Equal(r.ResourceNames, []string{operator})
				if slices.Contains(r.Resources, "leases") && !named && !slices.Equal(r.Verbs, []string{"create"}) {
					t.Errorf("%s reaches other programs' Leases: %v", role, r)
				}
				finalizers = finalizers || slices.Contains(r.Resources, "myapps/finalizers") && slices.Contains(r.Verbs, "update")
			}
		}
		if !finalizers {
			t.Error("without update of myapps/finalizers, owner references that block deletion are refused on some clusters")
		}
	})
}

func TestRolesForPeopleAggregate(t *testing.T) {
	all := build(t, "default")
	for role, to := range map[string]string{"viewer": "view", "editor": "edit", "admin": "admin"} {
		u := all.named(t, "ClusterRole", "myapp-operator-myapp-"+role)
		if u.GetLabels()["rbac.authorization.k8s.io/aggregate-to-"+to] != "true" {
			t.Errorf("%s does not become part of the built-in %s", u.GetName(), to)
		}
	}
	for _, r := range of[rbacv1.ClusterRole](t, all) {
		for _, rule := range r.Rules {
			if slices.Contains(rule.Resources, "myapps/status") && r.Name != "myapp-operator-manager" && !slices.Equal(rule.Verbs, []string{"get"}) {
				t.Errorf("%s may write a status", r.Name)
			}
		}
	}
}

func samples(t *testing.T) map[string]*v1beta1.MyApp {
	t.Helper()
	files, err := filepath.Glob("samples/app_v1beta1_*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("found %v, %v", files, err)
	}
	listed, err := os.ReadFile("samples/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*v1beta1.MyApp{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		app := &v1beta1.MyApp{}
		if err := yaml.UnmarshalStrict(raw, app); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if app.APIVersion != v1beta1.GroupVersion.String() || app.Kind != v1beta1.Kind.Kind {
			t.Errorf("%s is a %s %s", file, app.APIVersion, app.Kind)
		}
		if !bytes.Contains(listed, []byte(filepath.Base(file))) {
			t.Errorf("samples/kustomization.yaml does not list %s", file)
		}
		all[filepath.Base(file)] = app
	}
	return all
}

func TestSamplesDecode(t *testing.T) { samples(t) }

// TestCompleteSample: every field of our own types is set, but for those that not every cluster would accept.
func TestCompleteSample(t *testing.T) {
	except := []string{
		"spec.service.annotations", "spec.service.loadBalancerClass", "spec.ingress.tls.issuerRef",
		// Beside maxUnavailable.
		"spec.podDisruptionBudget.minAvailable", "spec.podDisruptionBudget.disabled",
		"spec.scheduling.priorityClassName", "spec.metrics",
	}
	app := samples(t)["app_v1beta1_complete.yaml"]
	var missing []string
	var visit func(path string, v reflect.Value)
	visit = func(path string, v reflect.Value) {
		if v.IsZero() {
			missing = append(missing, path)
			return
		}
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct || v.Type().PkgPath() != reflect.TypeFor[v1beta1.MyApp]().PkgPath() {
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			visit(path+"."+name, v.Field(i))
		}
	}
	visit("spec", reflect.ValueOf(app.Spec))
	if diff := cmp.Diff(except, missing); diff != "" {
		t.Errorf("fields that the complete sample leaves out (-want +got):\n%s", diff)
	}
}

// TestOnAPIServer: a real API server takes everything, and gives the operator's account its rights and no more.
func TestOnAPIServer(t *testing.T) {
	plane, err := cluster.StartAPIServer(cluster.Options{WithoutCRD: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, overlay := range installs {
		var kept []string
		for _, u := range build(t, overlay) {
			// cert-manager's own API is not there.
			if u.GroupVersionKind().Group == "cert-manager.io" {
				continue
			}
			raw, err := yaml.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, string(raw))
		}
		out, err := plane.KubectlStdin(ctx, strings.Join(kept, "---\n"), "apply", "--server-side", "-f", "-")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out, "Warning") {
			t.Errorf("%s is accepted with a warning:\n%s", overlay, out)
		}
	}
	for question, want := range map[string]string{
		"update leases/myapp-operator -n " + namespace: "yes",
		"update leases/other -n " + namespace:          "no",
		"create leases -n " + namespace:                "yes",
		"create leases -n default":                     "no",
		"get secrets -n default":                       "no",
		"get secrets -n " + namespace:                  "no",
		"patch deployments -n default":                 "yes",
		"patch services -n default":                    "yes",
		"list myapps -A":                               "yes",
		"patch myapps --subresource=status -A":         "yes",
		"create myapps -A":                             "no",
		"delete pods -n default":                       "no",
		"create tokenreviews":                          "yes",
		"create clusterroles":                          "no",
	} {
		args := append([]string{"auth", "can-i", "--as=system:serviceaccount:" + namespace + ":" + operator}, strings.Fields(question)...)
		// The answer no is an error as well.
		if out, _ := plane.Kubectl(ctx, args...); lastLine(out) != want {
			t.Errorf("can the operator %s? %s, want %s", question, out, want)
		}
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// TestNothingIsLeftOver: every file belongs to some kustomization; the catalog is opm's.
func TestNothingIsLeftOver(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return err
		}
		dir := filepath.Dir(path)
		if dir == "catalog" {
			return nil
		}
		if filepath.Base(dir) == "bases" {
			dir = filepath.Dir(dir)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
		if err == nil && !bytes.Contains(raw, []byte(entry.Name())) {
			t.Errorf("no kustomization names %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
