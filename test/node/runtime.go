package node

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"text/template"

	"k8s.io/apimachinery/pkg/util/wait"

	"ydzs.io/myapp-operator/test/cluster"
)

// cniBin is where Debian's package puts the CNI plugins.
const cniBin = "/usr/lib/cni"

var (
	//go:embed assets/containerd.toml
	containerdConfig string
	//go:embed assets/cni.conflist
	cniConfig string
	//go:embed assets/kubelet.yaml
	kubeletConfig string
	//go:embed assets/kube-proxy.yaml
	proxyConfig string
)

// write renders a configuration file into the cluster's directory and returns its path.
func (n *Node) write(name, text string, values map[string]any) (string, error) {
	parsed, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		return "", err
	}
	path := filepath.Join(n.Cluster.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, out.Bytes(), 0o644)
}

func (n *Node) startRegistry(ctx context.Context) error {
	ports, err := cluster.FreePorts(1)
	if err != nil {
		return err
	}
	data := filepath.Join(n.Cluster.Dir, "registry")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return err
	}
	n.Registry = net.JoinHostPort(loopback, strconv.Itoa(ports[0]))
	err = n.start("registry", n.bin["crane"], "registry", "serve", "--disk", data, "--address", n.Registry)
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(context.Context) (bool, error) {
		return answers("http://" + n.Registry + "/v2/"), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the registry: %w", err)
	}
	return nil
}

// answers reports whether this address is served.
func answers(url string) bool {
	response, err := http.Get(url)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// pushPause makes the image of every pod's first container.
func (n *Node) pushPause(ctx context.Context) error {
	root, err := cluster.Root()
	if err != nil {
		return err
	}
	_, err = n.BuildCommand(ctx, filepath.Join(root, "test", "node", "pause"), "pause:1")
	return err
}

func (n *Node) startContainerd(ctx context.Context) error {
	cni, err := n.write("cni/10-bridge.conflist", cniConfig, map[string]any{
		"Bridge": bridge, "Range": podRange, "DataDir": filepath.Join(n.Cluster.Dir, "cni-data"),
	})
	if err != nil {
		return err
	}
	config, err := n.write("containerd.toml", containerdConfig, map[string]any{
		"Dir": n.data, "Registry": n.Registry, "CNIBin": cniBin, "CNI": filepath.Dir(cni), "Socket": n.socket(),
	})
	if err != nil {
		return err
	}
	containerd, err := exec.LookPath("containerd")
	if err != nil {
		return err
	}
	if err := n.start("containerd", containerd, "--config", config); err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(context.Context) (bool, error) {
		conn, err := net.Dial("unix", n.socket())
		if err == nil {
			conn.Close()
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for containerd: %w", err)
	}
	return nil
}

// socket is containerd's; the path of a socket has at most 107 bytes.
func (n *Node) socket() string { return filepath.Join(n.Cluster.Dir, "containerd.sock") }

func (n *Node) startKubelet(_ context.Context, cgroupRoot string) error {
	kubeconfig, err := n.kubeconfig("kubelet", "system:node:"+Name, "system:nodes")
	if err != nil {
		return err
	}
	config, err := n.write("kubelet.yaml", kubeletConfig, map[string]any{
		"Address": Address, "ClientCA": filepath.Join(n.Cluster.Dir, "kwok", "clusters", "myapp", "pki", "ca.crt"),
		"CgroupRoot": cgroupRoot, "Socket": n.socket(), "PodLogs": n.PodLogs,
	})
	if err != nil {
		return err
	}
	return n.start("kubelet", n.bin["kubelet"], "--config", config, "--kubeconfig", kubeconfig,
		"--root-dir", filepath.Join(n.data, "kubelet"), "--cert-dir", filepath.Join(n.Cluster.Dir, "kubelet-pki"),
		"--hostname-override", Name, "--node-ip", Address)
}

func (n *Node) startProxy(ctx context.Context) error {
	const user = "system:kube-proxy"
	kubeconfig, err := n.kubeconfig("kube-proxy", user)
	if err != nil {
		return err
	}
	// Its rights come from a ClusterRoleBinding that every API server makes by itself for this user.
	if _, err := n.Kubectl(ctx, "get", "clusterrolebinding", "system:node-proxier"); err != nil {
		return err
	}
	config, err := n.write("kube-proxy.yaml", proxyConfig, map[string]any{
		"Kubeconfig": kubeconfig, "Node": Name, "Range": podRange,
	})
	if err != nil {
		return err
	}
	return n.start("kube-proxy", n.bin["kube-proxy"], "--config", config)
}

// kubeconfig writes the kubeconfig of a component.
func (n *Node) kubeconfig(file, user string, groups ...string) (string, error) {
	config, err := n.UserConfig(user, groups...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(n.Cluster.Dir, file+".kubeconfig")
	return path, cluster.WriteKubeconfig(config, path)
}
