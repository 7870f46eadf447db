package cluster_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"ydzs.io/myapp-operator/test/cluster"
)

func TestAPIServer(t *testing.T) {
	t.Parallel()
	c := start(t, cluster.StartAPIServer, cluster.Options{})
	t.Run("kubectl", func(t *testing.T) { checkKubectl(t, c) })
	t.Run("the CRD is served", func(t *testing.T) {
		if got := kubectl(t, c, "get", "myapps", "--ignore-not-found"); got != "" && !strings.HasPrefix(got, "No resources") {
			t.Errorf("kubectl get myapps printed %q", got)
		}
	})
	t.Run("another user", func(t *testing.T) { checkUser(t, c) })
	t.Run("audit", func(t *testing.T) { checkAudit(t, c) })
	checkStop(t, c)
}

func TestFull(t *testing.T) {
	t.Parallel()
	c := start(t, cluster.StartFull, cluster.Options{Nodes: 3, WithoutCRD: true})
	t.Run("kubectl", func(t *testing.T) { checkKubectl(t, c) })
	t.Run("nodes are ready", func(t *testing.T) {
		kubectl(t, c, "wait", "--for=condition=Ready", "--timeout=30s", "nodes", "--all")
		if got := strings.Fields(kubectl(t, c, "get", "nodes", "-o", "name")); len(got) != 3 {
			t.Errorf("want 3 nodes, got %q", got)
		}
	})
	t.Run("pods become ready at once", func(t *testing.T) {
		kubectl(t, c, "create", "deployment", "instant", "--image=nginx", "--replicas=2")
		kubectl(t, c, "wait", "--for=condition=Available", "--timeout=30s", "deployment/instant")
	})
	t.Run("one pod becomes ready later", func(t *testing.T) { checkReadyAfter(t, c) })
	t.Run("a pod stops slowly", func(t *testing.T) { checkStopAfter(t, c) })
	t.Run("a pod has a fault", func(t *testing.T) { checkFaults(t, c) })
	t.Run("there are more addresses than Services", func(t *testing.T) { checkServiceRange(t, c) })
	t.Run("another user", func(t *testing.T) { checkUser(t, c) })
	t.Run("audit", func(t *testing.T) { checkAudit(t, c) })
	t.Run("a CRD comes and goes", func(t *testing.T) { checkOptionalCRD(t, c) })
	t.Run("cert-manager issues a certificate", func(t *testing.T) { checkCertManager(t, c) })
	checkStop(t, c)
}

// The delay of all pods is an option; the annotation of one pod goes before it.
func TestFullWithSlowPods(t *testing.T) {
	t.Parallel()
	const delay, within = 1500 * time.Millisecond, 3 * time.Second
	c := start(t, cluster.StartFull, cluster.Options{Nodes: 1, WithoutCRD: true, PodReadyDelay: delay, PodReadyWithin: within})
	run(t, c, "fast", map[string]string{cluster.ReadyAfter: "0s"})
	run(t, c, "slow", nil)
	if got := readyAfter(t, c, "fast"); got > time.Second {
		t.Errorf("the pod with annotation %s: 0s became Ready after %s", cluster.ReadyAfter, got)
	}
	// Both times are whole seconds, so that each end may be off by one.
	if got := readyAfter(t, c, "slow"); got < delay-time.Second || got > within+3*time.Second {
		t.Errorf("a pod became Ready after %s, want between %s and %s", got, delay, within)
	}
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

type starter func(cluster.Options) (*cluster.Cluster, error)

func start(t *testing.T, start starter, opts cluster.Options) *cluster.Cluster {
	t.Helper()
	began := time.Now()
	c, err := start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func kubectl(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func checkKubectl(t *testing.T, c *cluster.Cluster) {
	if got := kubectl(t, c, "auth", "can-i", "*", "*", "--all-namespaces"); !strings.HasPrefix(got, "yes") {
		t.Errorf("the administrator may not do everything: %q", got)
	}
	const manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: from-stdin}}"
	if _, err := c.KubectlStdin(t.Context(), manifest, "apply", "-f", "-"); err != nil {
		t.Error(err)
	}
	out, err := c.Kubectl(t.Context(), "get", "configmap", "absent")
	if err == nil || !strings.Contains(out, "NotFound") {
		t.Errorf("an error of kubectl is lost: %v, %q", err, out)
	}
}

// A new user may do nothing, and then what a binding to that very name allows.
func checkUser(t *testing.T, c *cluster.Cluster) {
	config, err := c.UserConfig("jane", "developers")
	if err != nil {
		t.Fatal(err)
	}
	jane, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := func() error { return jane.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default")) }
	if err := list(); !apierrors.IsForbidden(err) {
		t.Fatalf("a user without rights listed ConfigMaps: %v", err)
	}
	// Not the built-in view: without a controller manager nothing fills the aggregated roles.
	kubectl(t, c, "create", "role", "jane", "-n", "default", "--verb=list", "--resource=configmaps")
	kubectl(t, c, "create", "rolebinding", "jane", "-n", "default", "--role=jane", "--group=developers")
	eventually(t, "the binding counts", func() bool { return list() == nil })

	path := t.TempDir() + "/kubeconfig"
	if err := cluster.WriteKubeconfig(config, path); err != nil {
		t.Fatal(err)
	}
	if got := kubectl(t, c, "--kubeconfig", path, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"); got != "jane" {
		t.Errorf("kubectl is %q, want jane", got)
	}
}

// What a user asked for after the mark is counted exactly, whatever everybody else does.
func checkAudit(t *testing.T, c *cluster.Cluster) {
	ctx := t.Context()
	config, err := c.UserConfig("counted", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	counted, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "before", Namespace: "default"}}
	if err := counted.Create(ctx, before); err != nil {
		t.Fatal(err)
	}
	mark, err := c.Mark(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := counted.Get(ctx, client.ObjectKeyFromObject(before), before); err != nil {
			t.Fatal(err)
		}
	}
	if err := counted.Create(ctx, before.DeepCopy()); err == nil {
		t.Fatal("creating an object that has a resourceVersion must be refused")
	}
	watch, err := counted.Watch(ctx, &corev1.ConfigMapList{}, client.InNamespace("default"))
	if err != nil {
		t.Fatal(err)
	}
	watch.Stop()

	got, err := c.Count(ctx, mark, "counted")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"get configmaps": 3, "create configmaps": 1, "watch configmaps": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests of the user (-want +got):\n%s", diff)
	}
	failed, err := c.AuditEvents(ctx, mark, func(e cluster.Event) bool { return e.User == "counted" && e.Code >= 400 })
	if err != nil {
		t.Fatal(err)
	}
	if len(failed) != 1 || failed[0].Target() != "create configmaps" || failed[0].Latency <= 0 || failed[0].Time.IsZero() {
		t.Errorf("want the one refused create, got %+v", failed)
	}
}

func run(t *testing.T, c *cluster.Cluster, name string, annotations map[string]string) {
	t.Helper()
	args := []string{"run", name, "--image=nginx"}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		args = append(args, "--annotations="+key+"="+annotations[key])
	}
	kubectl(t, c, args...)
}

// readyAfter waits until the pod is Ready and returns how long that took by the pod's own account.
func readyAfter(t *testing.T, c *cluster.Cluster, pod string) time.Duration {
	t.Helper()
	kubectl(t, c, "wait", "--for=condition=Ready", "--timeout=30s", "pod/"+pod)
	var times [2]time.Time
	for i, path := range []string{".metadata.creationTimestamp", `.status.conditions[?(@.type=="Ready")].lastTransitionTime`} {
		got, err := time.Parse(time.RFC3339, kubectl(t, c, "get", "pod", pod, "-o", "jsonpath={"+path+"}"))
		if err != nil {
			t.Fatal(err)
		}
		times[i] = got
	}
	return times[1].Sub(times[0])
}

func checkReadyAfter(t *testing.T, c *cluster.Cluster) {
	run(t, c, "later", map[string]string{cluster.ReadyAfter: "2s"})
	if got := readyAfter(t, c, "later"); got < time.Second {
		t.Errorf("the pod with annotation %s: 2s became Ready after %s", cluster.ReadyAfter, got)
	}
}

func checkStopAfter(t *testing.T, c *cluster.Cluster) {
	run(t, c, "stopping", map[string]string{cluster.StopAfter: "2s"})
	kubectl(t, c, "wait", "--for=condition=Ready", "--timeout=30s", "pod/stopping")
	began := time.Now()
	kubectl(t, c, "delete", "pod", "stopping", "--timeout=30s")
	if took := time.Since(began); took < 1500*time.Millisecond {
		t.Errorf("the pod with annotation %s: 2s was gone after %s", cluster.StopAfter, took)
	}
}

func checkFaults(t *testing.T, c *cluster.Cluster) {
	const waiting = "jsonpath={.status.phase} {.status.containerStatuses[0].state.waiting.reason} " +
		"{.status.containerStatuses[0].lastState.terminated.exitCode}"
	for fault, want := range map[string]string{
		"ImagePullBackOff": "Pending ImagePullBackOff ",
		"CrashLoopBackOff": "Running CrashLoopBackOff 1",
	} {
		pod := strings.ToLower(fault)
		run(t, c, pod, map[string]string{cluster.Fault: fault})
		kubectl(t, c, "wait", "--for="+`jsonpath={.status.containerStatuses[0].state.waiting.reason}`, "--timeout=30s", "pod/"+pod)
		if got := kubectl(t, c, "get", "pod", pod, "-o", waiting); got != want {
			t.Errorf("fault %s: got %q, want %q", fault, got, want)
		}
	}
	run(t, c, "held", map[string]string{cluster.Fault: cluster.FaultHold})
	kubectl(t, c, "wait", "--for=condition=PodScheduled", "--timeout=30s", "pod/held")
	kubectl(t, c, "wait", "--for=jsonpath={.status.phase}=Pending", "--timeout=1s", "pod/held")
}

func checkServiceRange(t *testing.T, c *cluster.Cluster) {
	var manifest strings.Builder
	for i := range 300 {
		manifest.WriteString("---\n{apiVersion: v1, kind: Service, metadata: {name: s" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) +
			"}, spec: {ports: [{port: 80}]}}\n")
	}
	if _, err := c.KubectlStdin(t.Context(), manifest.String(), "create", "-f", "-"); err != nil {
		t.Errorf("300 Services: %v", err)
	}
}

func checkStop(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there after Stop: %v", c.Dir, err)
	}
	if left := processes(t, c.Dir); len(left) > 0 {
		t.Errorf("still running after Stop: %q", left)
	}
}

// eventually polls for what the server does after it has answered; it is for such things only.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !happened() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within 20 s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
