package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubectl runs the pinned kubectl as the administrator and returns what it printed on both streams. To run it as
// another user, write a kubeconfig with WriteKubeconfig and pass --kubeconfig.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.KubectlStdin(ctx, "", args...)
}

// KubectlStdin is Kubectl with manifests as its standard input, for apply -f -.
func (c *Cluster) KubectlStdin(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.kubectl, args...)
	if stdin != "" {
		// kubectl 1.30 takes for JSON what begins with a brace.
		stdin = "---\n" + stdin
	}
	cmd.Stdin = strings.NewReader(stdin)
	// Nothing of the user's own kubectl is read or written.
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig, "KUBERC=off", "KUBECACHEDIR="+filepath.Join(c.Dir, "kubectl-cache"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// WriteKubeconfig writes config as a kubeconfig file that needs no other file.
func WriteKubeconfig(config *rest.Config, path string) error {
	config = rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return fmt.Errorf("read the credentials: %w", err)
	}
	const name = "myapp"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			name: {Server: config.Host, CertificateAuthorityData: config.CAData},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			name: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData},
		},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)
	if err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	return nil
}

// installCRD applies the generated CRD and waits until it is served.
func (c *Cluster) installCRD(ctx context.Context) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return c.applyCRDs(ctx, filepath.Join(root, "config", "crd", "bases"))
}
