package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// startTimeout bounds each step of a start. On an idle machine all of them together take less than 10 s.
const startTimeout = 90 * time.Second

// Options say what a cluster is made of. The zero value is a bare cluster with the CRD.
type Options struct {
	// WithoutCRD leaves the CRD out.
	WithoutCRD bool
	// Webhooks installs both webhook configurations, pointing at Cluster.Webhooks on this machine. Until something
	// serves there, the validating one refuses every MyApp.
	Webhooks bool

	// AdmissionPlugins are plugins of StartAPIServer's server beyond the usual ones.
	AdmissionPlugins []string

	// Nodes is the number of fake nodes of StartFull.
	Nodes int
	// PodReadyDelay is how long after its binding a pod becomes Ready; 0 is at once. The annotation ReadyAfter
	// overrides it for one pod.
	PodReadyDelay time.Duration
	// PodReadyWithin, when it is longer than PodReadyDelay, staggers the pods: each becomes Ready at a random
	// time between the two. The annotation ReadyWithin overrides it for one pod.
	PodReadyWithin time.Duration

	// Address is an address of this machine at which pods of a real node reach the API server of StartFull; by default
	// there are fake nodes only, and the server listens on loopback alone.
	Address string

	// Dir is the directory that holds the cluster, and is removed with it; by default a fresh temporary one.
	Dir string
	// Detached lets the cluster outlive this process. Remove ends it.
	Detached bool
}

// Cluster is a running control plane.
type Cluster struct {
	// Dir holds everything the cluster writes, its components' logs in Dir/logs.
	Dir string
	// Kubeconfig is the administrator's kubeconfig file, credentials included.
	Kubeconfig string
	// Webhooks says where and with which certificate webhooks must be served; nil without Options.Webhooks.
	Webhooks *WebhookServing

	config   *rest.Config
	auditLog string
	kubectl  string
	guard    *guard
	addUser  func(name string, groups []string) (*rest.Config, error)
}

// newCluster makes the cluster's directory and the guard that removes it.
func newCluster(opts Options) (*Cluster, error) {
	dir, err := makeDir(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("make the cluster's directory: %w", err)
	}
	c := &Cluster{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	if !opts.Detached {
		if c.guard, err = startGuard(dir); err != nil {
			return nil, errors.Join(fmt.Errorf("start the cluster's guard: %w", err), os.RemoveAll(dir))
		}
	}
	return c, nil
}

// Use takes a cluster that runs already, as the kubeconfig's current context says. What is started for it ends with Stop,
// the cluster itself does not. It has no audit log, and no further users.
func Use(kubeconfig string) (*Cluster, error) {
	kubeconfig, err := filepath.Abs(kubeconfig)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", kubeconfig, err)
	}
	tools, err := Tools("kubectl")
	if err != nil {
		return nil, err
	}
	c, err := newCluster(Options{})
	if err != nil {
		return nil, err
	}
	c.Kubeconfig, c.kubectl, c.config = kubeconfig, tools["kubectl"], unlimited(config)
	return c, nil
}

func makeDir(dir string) (string, error) {
	if dir == "" {
		temp, err := os.MkdirTemp("", "myapp-cluster-")
		if err != nil {
			return "", err
		}
		dir = temp
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(filepath.Join(dir, "logs"), 0o755)
}

// finish makes a started control plane usable: kubeconfig, CRD and webhooks.
func (c *Cluster) finish(opts Options) error {
	if err := WriteKubeconfig(c.config, c.Kubeconfig); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := c.waitForNamespace(ctx); err != nil {
		return err
	}
	if !opts.WithoutCRD {
		if err := c.installCRD(ctx); err != nil {
			return err
		}
	}
	if opts.Webhooks {
		return c.installWebhooks(ctx)
	}
	return nil
}

// Fail stops what was started and adds the ends of the components' logs to err: the directory is about to go.
func (c *Cluster) Fail(err error) error {
	return errors.Join(err, c.logTails(), c.Stop())
}

func (c *Cluster) logTails() error {
	const keep = 2000
	logs, err := c.Logs()
	if err != nil {
		return err
	}
	var tails []error
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 {
			continue
		}
		tails = append(tails, fmt.Errorf("end of %s:\n%s", filepath.Base(path), data[max(0, len(data)-keep):]))
	}
	return errors.Join(tails...)
}

// Logs are the paths of all logs of components, but for the audit log.
func (c *Cluster) Logs() ([]string, error) {
	logs, err := filepath.Glob(filepath.Join(c.Dir, "logs", "*.log"))
	if err != nil {
		return nil, err
	}
	nested, err := filepath.Glob(filepath.Join(c.Dir, "kwok", "clusters", "*", "logs", "*.log"))
	return slices.DeleteFunc(append(logs, nested...), func(path string) bool {
		return strings.HasPrefix(filepath.Base(path), "audit")
	}), err
}

// Config returns the administrator's configuration, without a client-side rate limit.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// UserConfig returns the configuration of another user, known by a client certificate. The user has the rights that
// RBAC gives to this name and these groups: at first none.
func (c *Cluster) UserConfig(name string, groups ...string) (*rest.Config, error) {
	config, err := c.addUser(name, groups)
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	return unlimited(config), nil
}

// Stop ends every process of the cluster and removes its directory.
func (c *Cluster) Stop() error {
	if c.guard == nil {
		return Remove(c.Dir)
	}
	return c.guard.release()
}

// unlimited lifts client-go's own rate limit, which would hide what a controller really sends.
func unlimited(config *rest.Config) *rest.Config {
	config.QPS = -1
	return config
}
