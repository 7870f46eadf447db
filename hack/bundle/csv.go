package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/blang/semver/v4"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

const (
	packageName = v1beta1.OperatorName
	// managerContainer is the container that runs the operator; the validators look for the name.
	managerContainer = "manager"
	// targetNamespaces is where OLM says on the pod whose MyApps the operator is to keep.
	targetNamespaces = "metadata.annotations['olm.targetNamespaces']"
	// servicePort is the port of the Service that OLM makes for the webhooks, targetPort the one they listen on.
	servicePort = 443
	targetPort  = 9443
)

// clusterServiceVersion completes the base, which holds what only a person can say, by what the configuration says.
func (in *input) clusterServiceVersion(r release) (*operatorsv1alpha1.ClusterServiceVersion, error) {
	csv := in.base.DeepCopy()
	version, err := semver.Parse(r.version)
	if err != nil {
		return nil, fmt.Errorf("version %q: %w", r.version, err)
	}
	csv.Name = name(r.version)
	csv.Spec.Version.Version = version
	if r.replaces != "" {
		csv.Spec.Replaces = name(r.replaces)
		csv.Annotations["olm.skipRange"] = fmt.Sprintf(">=%s <%s", r.replaces, r.version)
	}
	csv.Annotations["containerImage"] = r.image
	if csv.Annotations["alm-examples"], err = in.almExamples(); err != nil {
		return nil, err
	}
	csv.Spec.Icon = []operatorsv1alpha1.Icon{{Data: base64.StdEncoding.EncodeToString(r.icon), MediaType: "image/svg+xml"}}
	csv.Spec.RelatedImages = []operatorsv1alpha1.RelatedImage{{Name: managerContainer, Image: r.image}}
	if err := in.describe(csv); err != nil {
		return nil, err
	}
	permissions, clusterPermissions, err := in.permissions()
	if err != nil {
		return nil, err
	}
	csv.Spec.InstallStrategy = operatorsv1alpha1.NamedInstallStrategy{
		StrategyName: operatorsv1alpha1.InstallStrategyNameDeployment,
		StrategySpec: operatorsv1alpha1.StrategyDetailsDeployment{
			DeploymentSpecs:    []operatorsv1alpha1.StrategyDeploymentSpec{in.deploymentSpec(r.image)},
			Permissions:        permissions,
			ClusterPermissions: clusterPermissions,
		},
	}
	csv.Spec.WebhookDefinitions = in.webhooks()
	return csv, nil
}

func name(version string) string { return packageName + ".v" + version }

func (in *input) almExamples() (string, error) {
	raw, err := json.MarshalIndent(in.examples, "", "  ")
	return string(raw), err
}

// describe gives the owned CRD what a console shows: every field, and the kinds that the operator makes.
func (in *input) describe(csv *operatorsv1alpha1.ClusterServiceVersion) error {
	if n := len(csv.Spec.CustomResourceDefinitions.Owned); n != 1 {
		return fmt.Errorf("the base must own one CRD, not %d", n)
	}
	owned := &csv.Spec.CustomResourceDefinitions.Owned[0]
	spec, status := descriptors(in.crd, v1beta1.MyAppSpec{}, v1beta1.MyAppStatus{})
	for _, d := range spec {
		owned.SpecDescriptors = append(owned.SpecDescriptors, operatorsv1alpha1.SpecDescriptor{
			Path: d.path, DisplayName: d.displayName, Description: d.description, XDescriptors: d.x,
		})
	}
	for _, d := range status {
		owned.StatusDescriptors = append(owned.StatusDescriptors, operatorsv1alpha1.StatusDescriptor{
			Path: d.path, DisplayName: d.displayName, Description: d.description, XDescriptors: d.x,
		})
	}
	return nil
}

// deploymentSpec is the operator's Deployment as OLM makes it: the namespaces come from the OperatorGroup, the
// certificate's volume from OLM.
func (in *input) deploymentSpec(image string) operatorsv1alpha1.StrategyDeploymentSpec {
	spec := *in.deployment.Spec.DeepCopy()
	container := &spec.Template.Spec.Containers[0]
	container.Image = image
	for i := range container.Env {
		if env := &container.Env[i]; env.Name == "WATCH_NAMESPACE" {
			env.Value = ""
			env.ValueFrom = &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: targetNamespaces}}
		}
	}
	return operatorsv1alpha1.StrategyDeploymentSpec{
		Name: in.deployment.Name, Label: labels.Set(maps.Clone(in.deployment.Labels)), Spec: spec,
	}
}

// webhooks are both of them. OLM knows no match conditions, so a webhook itself lets a MyApp pass that is being deleted.
func (in *input) webhooks() []operatorsv1alpha1.WebhookDescription {
	m, v := in.mutating.Webhooks[0], in.validating.Webhooks[0]
	port := intstr.FromInt32(targetPort)
	describe := func(name string, kind operatorsv1alpha1.WebhookAdmissionType, client admissionregistrationv1.WebhookClientConfig,
	) operatorsv1alpha1.WebhookDescription {
		return operatorsv1alpha1.WebhookDescription{
			GenerateName: name, Type: kind, DeploymentName: in.deployment.Name,
			ContainerPort: servicePort, TargetPort: &port, WebhookPath: client.Service.Path,
		}
	}
	mutating := describe(m.Name, operatorsv1alpha1.MutatingAdmissionWebhook, m.ClientConfig)
	mutating.Rules, mutating.FailurePolicy, mutating.MatchPolicy = m.Rules, m.FailurePolicy, m.MatchPolicy
	mutating.SideEffects, mutating.TimeoutSeconds = m.SideEffects, m.TimeoutSeconds
	mutating.AdmissionReviewVersions, mutating.ReinvocationPolicy = m.AdmissionReviewVersions, m.ReinvocationPolicy

	validating := describe(v.Name, operatorsv1alpha1.ValidatingAdmissionWebhook, v.ClientConfig)
	validating.Rules, validating.FailurePolicy, validating.MatchPolicy = v.Rules, v.FailurePolicy, v.MatchPolicy
	validating.SideEffects, validating.TimeoutSeconds = v.SideEffects, v.TimeoutSeconds
	validating.AdmissionReviewVersions = v.AdmissionReviewVersions
	return []operatorsv1alpha1.WebhookDescription{mutating, validating}
}

// clusterScoped are the resources in the operator's rules that belong to no namespace; what is not named here is granted
// per namespace.
var clusterScoped = []string{"customresourcedefinitions", "tokenreviews", "subjectaccessreviews"}

// permissions splits what the operator's ServiceAccount may do: an install for one namespace gets the first list in that
// namespace only.
func (in *input) permissions() (namespaced, cluster []operatorsv1alpha1.StrategyDeploymentPermissions, err error) {
	var rules []rbacv1.PolicyRule
	for _, role := range in.clusterRoles {
		if in.bound[role.Name] {
			rules = append(rules, role.Rules...)
		}
	}
	for _, role := range in.roles {
		if in.bound[role.Name] {
			rules = append(rules, role.Rules...)
		}
	}
	account := in.deployment.Spec.Template.Spec.ServiceAccountName
	inNamespaces := operatorsv1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account}
	everywhere := operatorsv1alpha1.StrategyDeploymentPermissions{ServiceAccountName: account}
	for _, rule := range rules {
		switch count(rule.Resources, clusterScoped) {
		case 0:
			inNamespaces.Rules = append(inNamespaces.Rules, rule)
		case len(rule.Resources):
			everywhere.Rules = append(everywhere.Rules, rule)
		default:
			return nil, nil, fmt.Errorf("one rule names resources with and without a namespace: %v", rule.Resources)
		}
	}
	return []operatorsv1alpha1.StrategyDeploymentPermissions{inNamespaces}, []operatorsv1alpha1.StrategyDeploymentPermissions{everywhere}, nil
}

// count is how many of these are in the set.
func count(these, set []string) (n int) {
	for _, one := range these {
		if slices.Contains(set, one) {
			n++
		}
	}
	return n
}
