package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"
)

// APIs that a cluster may have or not. Their CRDs are read from the Go modules that define them, in the versions pinned
// under hack/tools.

// CertificateCRD and ServiceMonitorCRD are the names of the CRDs that the operator makes use of, for RemoveCRD.
const (
	CertificateCRD    = "certificates.cert-manager.io"
	ServiceMonitorCRD = "servicemonitors.monitoring.coreos.com"
)

// CertManagerCRDs are the names of all that InstallCertManagerCRDs installs: cert-manager's, but for ACME's.
var CertManagerCRDs = []string{
	CertificateCRD, "certificaterequests.cert-manager.io", "issuers.cert-manager.io", "clusterissuers.cert-manager.io",
}

// InstallCertManagerCRDs installs cert-manager's CRDs and waits until they are served.
func (c *Cluster) InstallCertManagerCRDs(ctx context.Context) error {
	dir, err := moduleDir(ctx, "cert-manager", "github.com/cert-manager/cert-manager")
	if err != nil {
		return err
	}
	var files []string
	for _, name := range CertManagerCRDs {
		resource, group, _ := strings.Cut(name, ".")
		files = append(files, filepath.Join(dir, "deploy", "crds", group+"_"+resource+".yaml"))
	}
	return c.applyCRDs(ctx, files...)
}

// InstallServiceMonitorCRD installs the CRD of ServiceMonitors and waits until it is served.
func (c *Cluster) InstallServiceMonitorCRD(ctx context.Context) error {
	dir, err := moduleDir(ctx, "prometheus-operator", "github.com/prometheus-operator/prometheus-operator")
	if err != nil {
		return err
	}
	return c.applyCRDs(ctx, filepath.Join(dir, "example", "prometheus-operator-crd", "monitoring.coreos.com_servicemonitors.yaml"))
}

// RemoveCRD removes a CRD with all its objects and waits until it is gone. It does nothing where there is none.
func (c *Cluster) RemoveCRD(ctx context.Context, name string) error {
	_, err := c.Kubectl(ctx, "delete", "crd", name, "--ignore-not-found", "--wait", "--timeout="+startTimeout.String())
	if err != nil {
		return fmt.Errorf("remove the CRD: %w", err)
	}
	return nil
}

// applyCRDs applies files or directories of CRDs and waits until these are served.
func (c *Cluster) applyCRDs(ctx context.Context, paths ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var files []string
	for _, path := range paths {
		files = append(files, "--filename="+path)
	}
	if _, err := c.Kubectl(ctx, append([]string{"apply", "--server-side"}, files...)...); err != nil {
		return fmt.Errorf("install the CRD: %w", err)
	}
	// kubectl wait itself fails on a CRD so new that it has no conditions yet.
	var waited error
	err := wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		_, waited = c.Kubectl(ctx, append([]string{"wait", "--for=condition=Established", "--timeout=10s"}, files...)...)
		return waited == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the CRD: %w", waited)
	}
	return nil
}

// moduleDir returns the directory of a Go module in the version that a tool module requires. Where the module cache does
// not hold it yet it is downloaded first: go list would print an empty directory then.
func moduleDir(ctx context.Context, tool, path string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	cmd.Dir = filepath.Join(root, "hack", "tools", tool)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	// An error is told in the output as well.
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if decoded := json.Unmarshal(out, &module); decoded != nil || err != nil || module.Dir == "" {
		return "", fmt.Errorf("find module %s: %w: %s", path, err, out)
	}
	return module.Dir, nil
}
