package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// certManagerNamespace is where the Secrets of ClusterIssuers are looked for.
	certManagerNamespace = "cert-manager"
	// certManagerRuns is what the process logs once it has read everything and works.
	certManagerRuns = "cert-manager runs"
)

// StartCertManager starts cert-manager's controllers as the administrator and waits until they work, which they do once
// their CRDs are installed. Issuers and ClusterIssuers of the types selfSigned and ca are served. Without webhook
// nothing but the schema judges cert-manager's objects. stop ends the process; it may be called more than once, and
// Cluster.Stop ends what still runs.
func (c *Cluster) StartCertManager(ctx context.Context) (stop func(), err error) {
	tools, err := Tools("cert-manager")
	if err != nil {
		return nil, err
	}
	binary, err := Record(c.Dir, "cert-manager", tools["cert-manager"])
	if err != nil {
		return nil, err
	}
	// A log of its own for each start: what the one before has written says nothing about this one.
	log, err := os.CreateTemp(filepath.Join(c.Dir, "logs"), "cert-manager-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(binary, "--kubeconfig", c.Kubeconfig, "--cluster-resource-namespace", certManagerNamespace)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start cert-manager: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		// How it ends says nothing: it is told to.
		_ = cmd.Wait()
		close(ended)
	}()
	stop = func() { end(cmd.Process, ended) }
	if err := waitForLine(ctx, log.Name(), certManagerRuns, ended); err != nil {
		stop()
		return nil, fmt.Errorf("start cert-manager: %w", err)
	}
	return stop, nil
}

// caIssuer makes an authority: a certificate that signs itself, and an Issuer that signs with it.
const caIssuer = `
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: %[1]s-root}, spec: {selfSigned: {}}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: %[1]s-root}
spec:
  isCA: true
  commonName: %[1]s
  secretName: %[1]s-root
  privateKey: {algorithm: ECDSA}
  issuerRef: {name: %[1]s-root}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: %[1]s}, spec: {ca: {secretName: %[1]s-root}}}
`

// CreateCAIssuer creates an Issuer that signs with an authority of its own, whose certificate is ca.crt in the Secret
// NAME-root. Both come about once cert-manager runs; until then there are only the orders for them.
func (c *Cluster) CreateCAIssuer(ctx context.Context, namespace, name string) error {
	_, err := c.KubectlStdin(ctx, fmt.Sprintf(caIssuer, name), "create", "-n", namespace, "-f", "-")
	if err != nil {
		return fmt.Errorf("create Issuer %s: %w", name, err)
	}
	return nil
}

// end asks a process to end, and makes it end if it has not within a few seconds.
func end(process *os.Process, ended <-chan struct{}) {
	_ = process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = process.Kill()
		<-ended
	}
}

// waitForLine waits until a process has written this text into its log.
func waitForLine(ctx context.Context, log, text string, ended <-chan struct{}) error {
	const keep = 2000
	var data []byte
	err := wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(context.Context) (bool, error) {
		var err error
		if data, err = os.ReadFile(log); err != nil || bytes.Contains(data, []byte(text)) {
			return true, err
		}
		select {
		case <-ended:
			return false, errors.New("it has ended")
		default:
			return false, nil
		}
	})
	if err != nil {
		return fmt.Errorf("%w; its log ends:\n%s", err, data[max(0, len(data)-keep):])
	}
	return nil
}
