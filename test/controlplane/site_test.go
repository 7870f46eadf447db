package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
)

const (
	// operatorUser is who the operator is; operatorGroup is who has its rights.
	operatorUser  = "myapp-operator"
	operatorGroup = "myapp-operators"
	// operatorNamespace is the one in config/rbac before an overlay renames it.
	operatorNamespace = "system"
)

// site is a control plane on which members of operatorGroup have the rights of the operator and no others.
type site struct {
	*cluster.Cluster
	// admin is the administrator.
	admin client.Client
}

func startSite(ctx context.Context) (*site, error) {
	c, err := cluster.StartFull(cluster.Options{Nodes: 3, Webhooks: true})
	if err != nil {
		return nil, err
	}
	s := &site{Cluster: c}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the control plane: %w", err), c.Stop())
	}
	return s, nil
}

func (s *site) prepare(ctx context.Context) error {
	var err error
	config := s.Config()
	config.WarningHandler = rest.NoWarnings{}
	if s.admin, err = client.New(config, client.Options{Scheme: cluster.Scheme()}); err != nil {
		return err
	}
	if err := s.namespace(ctx, operatorNamespace); err != nil {
		return err
	}
	// What the fullest MyApp names.
	if err := s.admin.Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}); err != nil {
		return err
	}
	return s.grant(ctx)
}

// grant installs config/rbac and binds to operatorGroup what is bound to the operator's service account there.
func (s *site) grant(ctx context.Context) error {
	root, err := cluster.Root()
	if err != nil {
		return err
	}
	out, err := s.Kubectl(ctx, "apply", "-o", "name", "-k", filepath.Join(root, "config", "rbac"))
	if err != nil {
		return err
	}
	subjects := fmt.Sprintf(`{"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":%q}]}`, operatorGroup)
	for _, name := range strings.Fields(out) {
		if !strings.Contains(name, "binding") {
			continue
		}
		if _, err := s.Kubectl(ctx, "patch", name, "-n", operatorNamespace, "--type=merge", "-p", subjects); err != nil {
			return err
		}
	}
	return nil
}

// namespace creates a namespace and waits until pods can be made in it.
func (s *site) namespace(ctx context.Context, name string) error {
	if err := s.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return err
	}
	account := types.NamespacedName{Namespace: name, Name: "default"}
	return until(ctx, "the service account of namespace "+name, func(ctx context.Context) bool {
		return s.admin.Get(ctx, account, &corev1.ServiceAccount{}) == nil
	})
}

// claim makes a bound PersistentVolumeClaim.
func (s *site) claim(ctx context.Context, namespace, name string) error {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, ClaimRef: &corev1.ObjectReference{Namespace: namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/none"}},
		},
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: new(string), VolumeName: volume.Name,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	if err := errors.Join(s.admin.Create(ctx, volume), s.admin.Create(ctx, claim)); err != nil {
		return err
	}
	return until(ctx, "the claim to be bound", func(ctx context.Context) bool {
		err := s.admin.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return err == nil && claim.Status.Phase == corev1.ClaimBound
	})
}

// holder is who holds the Lease of the operator; empty when nobody does.
func (s *site) holder(ctx context.Context) string {
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: operatorNamespace, Name: v1beta1.OperatorName}
	if err := s.admin.Get(ctx, key, lease); err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// until waits for something that is about to happen.
func until(ctx context.Context, what string, done func(context.Context) bool) error {
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return done(ctx), nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}
