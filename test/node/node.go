package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"ydzs.io/myapp-operator/test/cluster"
)

const (
	// Name is the node's.
	Name = "real-node"
	// Address is the node's, on a bridge that pods are joined to; the API server is reached at it as well.
	Address  = "10.88.0.1"
	podRange = "10.88.0.0/24"
	bridge   = "myapp0"
	loopback = "127.0.0.1"

	startTimeout = 90 * time.Second
	poll         = 200 * time.Millisecond
)

// Node is a control plane with a real node. Stop of the Cluster ends all of it but the containers, which end with the
// process namespace.
type Node struct {
	*cluster.Cluster
	Images
	// PodLogs is the directory that the kubelet keeps the logs of containers in.
	PodLogs string

	bin map[string]string
	// data is for what stays mounted below it when the processes have ended. It goes with the mount namespace.
	data string
}

// Options say how a node is made.
type Options struct {
	// CgroupRoot is the cgroup, an absolute path that exists in every hierarchy, under which pods get theirs.
	CgroupRoot string
}

// Start starts a control plane, a registry and the node, and waits until pods can run on it.
func Start(ctx context.Context, opts Options) (*Node, error) {
	bin, err := cluster.Tools("kubelet", "kube-proxy", "crane")
	if err != nil {
		return nil, err
	}
	if err := makeBridge(ctx); err != nil {
		return nil, err
	}
	plane, err := cluster.StartFull(cluster.Options{Address: Address})
	if err != nil {
		return nil, err
	}
	n := &Node{Cluster: plane, Images: Images{Dir: plane.Dir}, PodLogs: filepath.Join(plane.Dir, "pod-logs"), bin: bin}
	if n.data, err = os.MkdirTemp("", "myapp-node-"); err != nil {
		return nil, n.Fail(err)
	}
	for _, step := range []func(context.Context) error{
		n.startRegistry, n.pushPause, n.startContainerd,
		func(ctx context.Context) error { return n.startKubelet(ctx, opts.CgroupRoot) },
		n.startProxy, n.waitReady,
	} {
		if err := step(ctx); err != nil {
			return nil, n.Fail(err)
		}
	}
	return n, nil
}

// makeBridge makes the bridge before the first pod would, so that the API server and the kubelet can use its address.
func makeBridge(ctx context.Context) error {
	for _, args := range [][]string{
		{"ip", "link", "add", bridge, "type", "bridge"},
		{"ip", "address", "add", Address + "/24", "dev", bridge},
		{"ip", "link", "set", bridge, "up"},
		// Addresses of Services are nowhere: they are translated on the way, and there must be one.
		{"ip", "route", "add", "default", "dev", bridge},
	} {
		if err := run(ctx, args...); err != nil {
			return fmt.Errorf("make the pods' bridge: %w", err)
		}
	}
	for path, value := range map[string]string{
		"net/ipv4/ip_forward": "1",
		// Pods that call each other through a Service are translated on the bridge.
		"net/bridge/bridge-nf-call-iptables": "1",
	} {
		if err := os.WriteFile(filepath.Join("/proc/sys", path), []byte(value), 0o644); err != nil {
			return fmt.Errorf("let packets through the bridge: %w", err)
		}
	}
	return nil
}

// start starts a component of the node.
func (n *Node) start(name, tool string, args ...string) error {
	_, err := n.Launch(name, tool, nil, args...)
	return err
}

// waitReady waits until the node is Ready and pods may be scheduled on it.
func (n *Node) waitReady(ctx context.Context) error {
	admin, err := corev1client.NewForConfig(n.Config())
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(ctx context.Context) (bool, error) {
		node, err := admin.Nodes().Get(ctx, Name, metav1.GetOptions{})
		return err == nil && ready(node) && len(node.Spec.Taints) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the node: %w", err)
	}
	return nil
}

func ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func run(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
