package cluster

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Annotations of a pod on a fake node.
const (
	// ReadyAfter, a duration ("3s"), is Options.PodReadyDelay for one pod.
	ReadyAfter = "pods.test/ready-after"
	// ReadyWithin, a duration, is Options.PodReadyWithin for one pod.
	ReadyWithin = "pods.test/ready-within"
	// StopAfter, a duration, is how long the pod goes on after its deletion was asked for; otherwise it is gone at once.
	StopAfter = "pods.test/stop-after"
	// Fault names the reason for which the pod's containers wait and never start: ImagePullBackOff,
	// CreateContainerConfigError, … With CrashLoopBackOff they have ended with exit code 1 before. With FaultHold the
	// pod stays as the scheduler left it, and a test writes its status.
	Fault     = "pods.test/fault"
	FaultHold = "Hold"
)

const (
	// kwokName is the name of the one cluster in kwokctl's private directory.
	kwokName    = "myapp"
	kwokctlFile = "kwokctl.yaml"
	// fakeNodeAnnotation marks the nodes that kwok plays.
	fakeNodeAnnotation = "kwok.x-k8s.io/node"
)

//go:embed assets/kwokctl.yaml
var kwokctlConfig string

// kwokctlTemplate is kwokctlConfig, with other brackets than those of the templates it contains.
var kwokctlTemplate = template.Must(template.New("kwokctl").Delims("<<", ">>").Parse(kwokctlConfig))

// StartFull starts a full control plane: etcd, API server, controller manager, scheduler, and kwok, which plays the
// kubelets of Options.Nodes fake nodes.
func StartFull(opts Options) (*Cluster, error) {
	tools, err := Tools("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl", "kubectl")
	if err != nil {
		return nil, err
	}
	c, err := newCluster(opts)
	if err != nil {
		return nil, err
	}
	c.kubectl = tools["kubectl"]
	if err := c.startKwok(opts, tools); err != nil {
		return nil, c.Fail(fmt.Errorf("start the control plane: %w", err))
	}
	if err := c.finish(opts); err != nil {
		return nil, c.Fail(err)
	}
	if err := c.addNodes(opts.Nodes); err != nil {
		return nil, c.Fail(err)
	}
	return c, nil
}

func (c *Cluster) startKwok(opts Options, tools map[string]string) error {
	for name, tool := range tools {
		if _, err := Record(c.Dir, name, tool); err != nil {
			return err
		}
	}
	if err := c.writeKwokctlConfig(opts); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	// The kubeconfig is written anew by finish; here it is what the guard knows kwokctl by.
	err := c.kwokctl(ctx, "create", "cluster", "--config", kwokctlFile, "--kubeconfig", c.Kubeconfig, "--wait", startTimeout.String())
	if err != nil {
		return err
	}
	return c.attach()
}

// kwokctl runs kwokctl in a directory of its own, and with a kubectl in its path: it would download one otherwise.
func (c *Cluster) kwokctl(ctx context.Context, args ...string) error {
	log, err := os.Create(filepath.Join(c.Dir, "logs", "kwokctl.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(c.Dir, "bin", "kwokctl"), append([]string{"--name", kwokName}, args...)...)
	// kwokctl would cut the path of the file at each comma.
	cmd.Dir = c.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(),
		"KWOK_WORKDIR="+filepath.Join(c.Dir, "kwok"),
		"PATH="+filepath.Join(c.Dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kwokctl %s: %w", args[0], err)
	}
	return nil
}

func (c *Cluster) writeKwokctlConfig(opts Options) error {
	policy, err := c.writeAuditPolicy()
	if err != nil {
		return err
	}
	ports, err := FreePorts(6)
	if err != nil {
		return err
	}
	var config bytes.Buffer
	err = kwokctlTemplate.Execute(&config, map[string]any{
		"Bin":               filepath.Join(c.Dir, "bin"),
		"AuditPolicy":       policy,
		"AuditLogSize":      auditLogSize,
		"ServiceRange":      serviceRange,
		"ServerService":     serverService,
		"Address":           opts.Address,
		"Home":              filepath.Join(c.Dir, "kwok", "clusters", kwokName),
		"FakeNode":          fakeNodeAnnotation + "=fake",
		"Ports":             ports,
		"ReadyAfter":        ReadyAfter,
		"ReadyWithin":       ReadyWithin,
		"StopAfter":         StopAfter,
		"Fault":             Fault,
		"Hold":              FaultHold,
		"ReadyAfterMillis":  opts.PodReadyDelay.Milliseconds(),
		"ReadyWithinMillis": max(opts.PodReadyDelay, opts.PodReadyWithin).Milliseconds(),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Dir, kwokctlFile), config.Bytes(), 0o644)
}

// attach fills in how a cluster made by kwokctl is reached.
func (c *Cluster) attach() error {
	home := filepath.Join(c.Dir, "kwok", "clusters", kwokName)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig.yaml"))
	if err != nil {
		return err
	}
	authority, err := loadAuthority(filepath.Join(home, "pki", "ca.crt"), filepath.Join(home, "pki", "ca.key"))
	if err != nil {
		return fmt.Errorf("read the cluster's authority: %w", err)
	}
	c.auditLog = filepath.Join(home, "logs", "audit.log")
	c.config = unlimited(config)
	c.addUser = func(name string, groups []string) (*rest.Config, error) {
		certPEM, keyPEM, err := authority.Client(name, groups)
		if err != nil {
			return nil, err
		}
		user := rest.AnonymousClientConfig(config)
		user.CertData, user.KeyData = certPEM, keyPEM
		return user, nil
	}
	return nil
}

// addNodes creates the fake nodes, two to a zone, and waits until pods can be scheduled: nodes without a taint and a
// service account for namespace default.
func (c *Cluster) addNodes(count int) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	admin, err := corev1client.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	for i := range count {
		if _, err := admin.Nodes().Create(ctx, fakeNode(i), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create a node: %w", err)
		}
	}
	err = wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		return schedulable(ctx, admin, count), nil
	})
	if err != nil {
		return fmt.Errorf("wait for %d nodes to be schedulable: %w", count, err)
	}
	return nil
}

func schedulable(ctx context.Context, admin corev1client.CoreV1Interface, count int) bool {
	if _, err := admin.ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return false
	}
	nodes, err := admin.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) != count {
		return false
	}
	for _, node := range nodes.Items {
		if len(node.Spec.Taints) > 0 || len(node.Status.Addresses) == 0 {
			return false
		}
	}
	return true
}

func fakeNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("10k"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:     name,
				corev1.LabelOSStable:     "linux",
				corev1.LabelArchStable:   "amd64",
				corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i/2),
			},
			Annotations: map[string]string{fakeNodeAnnotation: "fake"},
		},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
}
