//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/node"
)

// Versions of the operator that the suites install. The second has the same code and differs in its number alone.
const (
	version     = "0.1.0"
	nextVersion = "0.2.0"
)

// poll is how often something that is about to happen is looked at.
const poll = 200 * time.Millisecond

// site is a cluster with a node that runs pods, and a registry that the node pulls from.
type site struct {
	*cluster.Cluster
	// own is whether the cluster was made here; one that was given has no audit log to read.
	own bool
	// admin is the administrator.
	admin  client.Client
	images node.Images
	// address is a node's, for node ports.
	address string
	// root is the repository's.
	root string
	// operator are the operator's images by version, app and appNext two of the web application.
	operator     map[string]string
	app, appNext string
}

// startSite starts a cluster, or takes the one of KUBECONFIG.
func startSite(ctx context.Context) (*site, error) {
	s := &site{operator: map[string]string{}}
	var err error
	if s.root, err = cluster.Root(); err != nil {
		return nil, err
	}
	if kubeconfig := os.Getenv("KUBECONFIG"); kubeconfig != "" {
		err = s.use(kubeconfig)
	} else {
		err = s.start(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *site) start(ctx context.Context) error {
	made, err := node.Start(ctx, node.Options{CgroupRoot: os.Getenv("E2E_CGROUP")})
	if err != nil {
		return err
	}
	s.Cluster, s.images, s.own = made.Cluster, made.Images, true
	return nil
}

func (s *site) use(kubeconfig string) error {
	registry := os.Getenv("E2E_REGISTRY")
	if registry == "" {
		return errors.New("E2E_REGISTRY is not set: with KUBECONFIG it names a registry for images, as host:port/path")
	}
	var err error
	if s.Cluster, err = cluster.Use(kubeconfig); err != nil {
		return err
	}
	s.images = node.Images{Dir: s.Dir, Registry: registry}
	return nil
}

func (s *site) connect(ctx context.Context) error {
	config := s.Config()
	config.WarningHandler = rest.NoWarnings{}
	var err error
	scheme := cluster.Scheme()
	for _, add := range []func(*runtime.Scheme) error{operatorsv1.AddToScheme, operatorsv1alpha1.AddToScheme, operatorsv2.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if s.admin, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := s.admin.List(ctx, &nodes); err != nil {
		return fmt.Errorf("find a node: %w", err)
	}
	for _, n := range nodes.Items {
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				s.address = a.Address
			}
		}
	}
	if s.address == "" {
		return fmt.Errorf("none of %d nodes has an address for node ports", len(nodes.Items))
	}
	return nil
}

// pushImages builds the operator's images from the repository's own Dockerfile, and the web application's.
func (s *site) pushImages(ctx context.Context) error {
	for _, v := range []string{version, nextVersion} {
		image := s.images.Registry + "/myapp-operator:" + v
		// The one that is built last is the one that stays in bin.
		if err := s.make(ctx, "docker-build", "docker-push", "VERSION="+v, "IMG="+image); err != nil {
			return err
		}
		s.operator[v] = image
	}
	var err error
	webapp := filepath.Join(s.root, "test", "e2e", "webapp")
	if s.app, err = s.images.BuildCommand(ctx, webapp, "webapp:1"); err != nil {
		return err
	}
	s.appNext, err = s.images.BuildCommand(ctx, webapp, "webapp:2")
	return err
}

// make runs make as a user does who builds images with buildah and has no base image.
func (s *site) make(ctx context.Context, args ...string) error {
	kubectl, err := cluster.Tools("kubectl")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "make", append([]string{
		"--no-print-directory", "CONTAINER_TOOL=buildah", "DOCKER_BUILD_ARGS=--build-arg BASE_IMAGE=scratch",
		"KUBECTL=" + kubectl["kubectl"],
	}, args...)...)
	cmd.Dir = s.root
	env, err := s.images.Env()
	if err != nil {
		return err
	}
	cmd.Env = append(env, "KUBECONFIG="+s.Kubeconfig)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("make %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// dump writes what there is to know about the cluster after a failure into dist/e2e, and returns the directory.
func (s *site) dump(ctx context.Context, spec string) (string, error) {
	name := strings.Trim(unfit.ReplaceAllString(strings.ToLower(spec), "-"), "-")
	dir := filepath.Join(s.root, "dist", "e2e", name[:min(len(name), 60)])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for file, args := range map[string][]string{
		"all.txt":      {"get", "all,pvc,ingress,hpa,pdb", "--all-namespaces", "--output=wide"},
		"myapps.yaml":  {"get", "myapps", "--all-namespaces", "--output=yaml"},
		"pods.yaml":    {"get", "pods", "--all-namespaces", "--output=yaml"},
		"events.txt":   {"get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"},
		"webhooks.yml": {"get", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "--output=yaml"},
		"operator.log": {"logs", "--all-containers", "--prefix", "--tail=-1", "--selector=app.kubernetes.io/name=myapp-operator", "--all-namespaces"},
		"olm.yaml":     {"get", "csv,subscription,installplan,catalogsource,operatorgroup,operatorcondition", "--all-namespaces", "--output=yaml"},
		"issuing.yaml": {"get", "certificates,certificaterequests,issuers", "--all-namespaces", "--output=yaml"},
	} {
		// Without OLM or cert-manager there is nothing of theirs: what kubectl says then is what there is.
		out, _ := s.Kubectl(ctx, args...)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(out), 0o644); err != nil {
			return "", err
		}
	}
	logs, err := s.Logs()
	if err != nil {
		return "", err
	}
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}
