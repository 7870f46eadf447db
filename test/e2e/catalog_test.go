//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/test/cluster"
)

const (
	packageName = "myapp-operator"
	channel     = "stable-v0"
	catalogName = "myapp-catalog"
	catalogPort = 50051
)

// csvName is the name of a version's ClusterServiceVersion.
func csvName(version string) string { return packageName + ".v" + version }

// pushOLMImages makes the images that OLM's unpack Job runs.
func (s *site) pushOLMImages(ctx context.Context) (cluster.OLMImages, error) {
	tools, err := cluster.Tools("opm", "cpb")
	if err != nil {
		return cluster.OLMImages{}, err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return cluster.OLMImages{}, err
	}
	var images cluster.OLMImages
	// opm unpacks into /tmp.
	tmp := filepath.Join(s.Dir, "tmp")
	if err := os.MkdirAll(tmp, 0o777); err != nil {
		return cluster.OLMImages{}, err
	}
	if err := os.Chmod(tmp, 0o777); err != nil {
		return cluster.OLMImages{}, err
	}
	images.OPM, err = s.images.Build(ctx, "opm:1", map[string]string{"/bin/opm": tools["opm"], "/tmp": tmp})
	if err != nil {
		return cluster.OLMImages{}, err
	}
	images.Util, err = s.images.Build(ctx, "olm:1", map[string]string{"/bin/cp": busybox, "/bin/cpb": tools["cpb"]})
	return images, err
}

// pushCatalog makes a bundle of each version, with the operator's image by its digest, and the image of a catalog of
// both, as docs/install.md says, with the package and channel of config/catalog and one more version in the channel.
func (s *site) pushCatalog(ctx context.Context, opm string) (image string, err error) {
	var bundles []string
	for _, b := range []struct{ version, replaces string }{{version, ""}, {nextVersion, version}} {
		operator, err := s.byDigest(ctx, s.operator[b.version])
		if err != nil {
			return "", err
		}
		dir := filepath.Join(s.Dir, "bundle-"+b.version)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		bundle := s.images.Registry + "/myapp-operator-bundle:" + b.version
		err = s.make(ctx, "bundle", "bundle-build", "bundle-push", "BUNDLE_DIR="+dir, "BUNDLE_IMG="+bundle,
			"VERSION="+b.version, "REPLACES="+b.replaces, "IMG="+operator)
		if err != nil {
			return "", err
		}
		if bundle, err = s.byDigest(ctx, bundle); err != nil {
			return "", err
		}
		bundles = append(bundles, bundle)
	}
	catalog, err := s.channels()
	if err != nil {
		return "", err
	}
	image = s.images.Registry + "/myapp-operator-catalog:1"
	return image, s.make(ctx, "catalog-build", "catalog-push", "CATALOG="+catalog, "CATALOG_IMG="+image,
		"BUNDLE_IMGS="+strings.Join(bundles, " "), "OPM_RENDER_ARGS=--use-http", "DOCKER_BUILD_ARGS=--build-arg OPM_IMAGE="+opm)
}

// channels is a copy of config/catalog with the next version in the channel.
func (s *site) channels() (dir string, err error) {
	dir = filepath.Join(s.Dir, "catalog")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.root, "config", "catalog"))); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "channels.yaml")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, "- name: %s\n  replaces: %s\n  skipRange: \">=%s <%s\"\n",
		csvName(nextVersion), csvName(version), version, nextVersion)
	return dir, errors.Join(err, file.Close())
}

// byDigest is the same image by its digest.
func (s *site) byDigest(ctx context.Context, image string) (string, error) {
	tools, err := cluster.Tools("crane")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, tools["crane"], "digest", image).Output()
	if err != nil {
		return "", fmt.Errorf("find the digest of %s: %w", image, err)
	}
	return image[:strings.LastIndex(image, ":")] + "@" + strings.TrimSpace(string(out)), nil
}

// serveCatalog runs the catalog's image and tells OLM of it. OLM runs outside of the cluster here, where the name of the
// Service that it would make for an image does not resolve; so it gets the pod's address.
func (s *site) serveCatalog(ctx context.Context, image string) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: catalogName, Namespace: cluster.OLMNamespace},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "registry", Image: image,
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false)},
		}}},
	}
	if err := s.admin.Create(ctx, pod); err != nil {
		return err
	}
	err := wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		err := s.admin.Get(ctx, client.ObjectKeyFromObject(pod), pod)
		return pod.Status.Phase == corev1.PodRunning && pod.Status.PodIP != "", err
	})
	if err != nil {
		return fmt.Errorf("wait for the catalog's pod: %w", err)
	}
	source := &operatorsv1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Name: catalogName, Namespace: cluster.OLMNamespace},
		Spec: operatorsv1alpha1.CatalogSourceSpec{
			SourceType: operatorsv1alpha1.SourceTypeGrpc,
			Address:    net.JoinHostPort(pod.Status.PodIP, fmt.Sprint(catalogPort)),
		},
	}
	if err := s.admin.Create(ctx, source); err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		err := s.admin.Get(ctx, client.ObjectKeyFromObject(source), source)
		state := source.Status.GRPCConnectionState
		return state != nil && state.LastObservedState == "READY", err
	})
	if err != nil {
		return fmt.Errorf("wait for the catalog: %w", err)
	}
	return nil
}
