package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// OLMNamespace is where OLM's catalogs are, and the Jobs that unpack bundles.
const OLMNamespace = "olm"

// OLMImages are what OLM's unpack Job runs: opm as /bin/opm, and cp and cpb as /bin/cp and /bin/cpb.
type OLMImages struct{ OPM, Util string }

// StartOLM installs OLM's CRDs and its namespace, and starts both its controllers as the administrator. stop ends them;
// RemoveOLM takes away the rest.
func (c *Cluster) StartOLM(ctx context.Context, images OLMImages) (stop func(), err error) {
	tools, err := Tools("olm-operator", "olm-catalog")
	if err != nil {
		return nil, err
	}
	if err := c.InstallOLMCRDs(ctx); err != nil {
		return nil, err
	}
	if _, err := c.Kubectl(ctx, "create", "namespace", OLMNamespace); err != nil {
		return nil, err
	}
	env := []string{"KUBECONFIG=" + c.Kubeconfig, "OPERATOR_NAMESPACE=" + OLMNamespace}
	operator, err := c.Launch("olm-operator", tools["olm-operator"], env, "--namespace="+OLMNamespace,
		"--interval=30s", "--writeStatusName=", "--writePackageServerStatusName=")
	if err != nil {
		return nil, err
	}
	catalog, err := c.Launch("olm-catalog", tools["olm-catalog"], env, "--namespace="+OLMNamespace,
		"--interval=30s", "--writeStatusName=", "--opmImage="+images.OPM, "--util-image="+images.Util)
	if err != nil {
		operator.Stop()
		return nil, err
	}
	return func() { catalog.Stop(); operator.Stop() }, nil
}

// InstallOLMCRDs installs OLM's CRDs and waits until they are served.
func (c *Cluster) InstallOLMCRDs(ctx context.Context) error {
	dir, err := moduleDir(ctx, "olm", "github.com/operator-framework/api")
	if err != nil {
		return err
	}
	return c.applyCRDs(ctx, filepath.Join(dir, "crds"))
}

// RemoveOLM removes what StartOLM installed.
func (c *Cluster) RemoveOLM(ctx context.Context) error {
	_, err := c.Kubectl(ctx, "delete", "namespace", OLMNamespace, "--ignore-not-found")
	for _, resource := range []string{"subscriptions", "installplans", "catalogsources", "clusterserviceversions",
		"operatorconditions", "operatorgroups", "operators", "olmconfigs"} {
		if removed := c.RemoveCRD(ctx, resource+".operators.coreos.com"); removed != nil {
			err = errors.Join(err, fmt.Errorf("remove OLM: %w", removed))
		}
	}
	return err
}
