package cluster

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// serviceRange is a /16: the usual default of test clusters, 254 addresses, is too small for a few hundred Services.
	serviceRange = "10.96.0.0/16"
	// serverService is the first address of it, which the API server's own Service has.
	serverService = "10.96.0.1"
	// auditLogSize in MB is never reached: a rotated log could not be counted from.
	auditLogSize = "4096"
	// poll is how often something that is about to happen is looked at.
	poll = 50 * time.Millisecond
)

//go:embed assets/audit-policy.yaml
var auditPolicy []byte

// StartAPIServer starts etcd and an API server with RBAC, and nothing that acts on what is stored: no controller
// deletes dependents, makes ReplicaSets or fills in service accounts.
func StartAPIServer(opts Options) (*Cluster, error) {
	tools, err := assets()
	if err != nil {
		return nil, err
	}
	c, err := newCluster(opts)
	if err != nil {
		return nil, err
	}
	c.kubectl = tools["kubectl"]
	if err := c.startAPIServer(opts, tools); err != nil {
		return nil, c.Fail(fmt.Errorf("start the API server: %w", err))
	}
	if err := c.finish(opts); err != nil {
		return nil, c.Fail(err)
	}
	return c, nil
}

func (c *Cluster) startAPIServer(opts Options, tools map[string]string) error {
	policy, err := c.writeAuditPolicy()
	if err != nil {
		return err
	}
	c.auditLog = filepath.Join(c.Dir, "audit.log")

	// A port that was free a moment ago may be taken by now; a second attempt picks others.
	var plane *envtest.ControlPlane
	for range 3 {
		if plane, err = c.controlPlane(tools, policy); err != nil {
			return err
		}
		if len(opts.AdmissionPlugins) > 0 {
			plane.APIServer.Configure().Set("enable-admission-plugins", opts.AdmissionPlugins...)
		}
		if err = plane.Start(); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}

	c.addUser = func(name string, groups []string) (*rest.Config, error) {
		user, err := plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
		if err != nil {
			return nil, err
		}
		return user.Config(), nil
	}
	c.config, err = c.UserConfig("admin", "system:masters")
	return err
}

// controlPlane describes etcd and API server. envtest's Environment is passed over: it would look at
// USE_EXISTING_CLUSTER, and it keeps directories that a killed process leaves behind.
func (c *Cluster) controlPlane(tools map[string]string, policy string) (*envtest.ControlPlane, error) {
	etcd := &envtest.Etcd{StartTimeout: startTimeout}
	server := &envtest.APIServer{StartTimeout: startTimeout}

	var err error
	if etcd.Path, err = Record(c.Dir, "etcd", tools["etcd"]); err != nil {
		return nil, err
	}
	if server.Path, err = Record(c.Dir, "kube-apiserver", tools["kube-apiserver"]); err != nil {
		return nil, err
	}
	if etcd.DataDir, err = os.MkdirTemp(c.Dir, "etcd-"); err != nil {
		return nil, err
	}
	if server.CertDir, err = os.MkdirTemp(c.Dir, "pki-"); err != nil {
		return nil, err
	}
	// The files are closed with this process: nothing is lost, the writing ends belong to the children.
	if etcd.Err, err = os.Create(filepath.Join(c.Dir, "logs", "etcd.log")); err != nil {
		return nil, err
	}
	if server.Err, err = os.Create(filepath.Join(c.Dir, "logs", "kube-apiserver.log")); err != nil {
		return nil, err
	}
	server.Configure().
		Set("service-cluster-ip-range", serviceRange).
		Set("audit-policy-file", policy).
		Set("audit-log-path", c.auditLog).
		Set("audit-log-maxsize", auditLogSize)
	return &envtest.ControlPlane{Etcd: etcd, APIServer: server}, nil
}

func (c *Cluster) writeAuditPolicy() (string, error) {
	path := filepath.Join(c.Dir, "audit-policy.yaml")
	return path, os.WriteFile(path, auditPolicy, 0o644)
}

// waitForNamespace waits for the server's last own step: creating the namespace default.
func (c *Cluster) waitForNamespace(ctx context.Context) error {
	admin, err := corev1client.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	err = wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		_, err := admin.Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for namespace default: %w", err)
	}
	return nil
}
