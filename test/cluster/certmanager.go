package cluster

import (
	"context"
	"fmt"
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
	process, err := c.Launch("cert-manager", tools["cert-manager"], nil,
		"--kubeconfig", c.Kubeconfig, "--cluster-resource-namespace", certManagerNamespace)
	if err != nil {
		return nil, err
	}
	if err := process.WaitForLine(ctx, certManagerRuns); err != nil {
		process.Stop()
		return nil, fmt.Errorf("start cert-manager: %w", err)
	}
	return process.Stop, nil
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
