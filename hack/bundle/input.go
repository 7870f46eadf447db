package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// input is what config/manifests builds, in the order it comes in.
type input struct {
	base       *operatorsv1alpha1.ClusterServiceVersion
	crd        *apiextensionsv1.CustomResourceDefinition
	deployment *appsv1.Deployment
	mutating   *admissionregistrationv1.MutatingWebhookConfiguration
	validating *admissionregistrationv1.ValidatingWebhookConfiguration
	// roles, clusterRoles: all of them; bound: the names of those that the operator's own ServiceAccount has.
	roles        []rbacv1.Role
	clusterRoles []rbacv1.ClusterRole
	bound        map[string]bool
	examples     []*unstructured.Unstructured
	// rest is what a bundle holds beside the ClusterServiceVersion, as it is.
	rest []*unstructured.Unstructured
}

// read sorts the objects. A kind that it does not know is an error: it would silently be missing from the bundle.
func read(r io.Reader) (*input, error) {
	in := &input{bound: map[string]bool{}}
	decoder := utilyaml.NewYAMLOrJSONDecoder(r, 4096)
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(u)
		if errors.Is(err, io.EOF) {
			return in, in.complete()
		}
		if err == nil && len(u.Object) > 0 {
			err = in.add(u)
		}
		if err != nil {
			return nil, err
		}
	}
}

// add takes one object.
func (in *input) add(u *unstructured.Unstructured) error {
	switch u.GetKind() {
	case "ClusterServiceVersion":
		return decode(u, &in.base)
	case "Deployment":
		return decode(u, &in.deployment)
	case "MutatingWebhookConfiguration":
		return decode(u, &in.mutating)
	case "ValidatingWebhookConfiguration":
		return decode(u, &in.validating)
	case "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
		return in.addRights(u)
	}
	return in.addOther(u)
}

func (in *input) addRights(u *unstructured.Unstructured) error {
	switch u.GetKind() {
	case "Role":
		return appendDecoded(u, &in.roles)
	case "ClusterRole":
		return appendDecoded(u, &in.clusterRoles)
	}
	name, _, err := unstructured.NestedString(u.Object, "roleRef", "name")
	in.bound[name] = true
	return err
}

// addOther takes what is no part of the ClusterServiceVersion. The Namespace, the ServiceAccount and the webhooks'
// Service are OLM's to make, as the bindings are.
func (in *input) addOther(u *unstructured.Unstructured) error {
	switch u.GetKind() {
	case "CustomResourceDefinition":
		in.rest = append(in.rest, u)
		return decode(u, &in.crd)
	case "MyApp":
		in.examples = append(in.examples, u)
	case "Service":
		if !in.servesWebhooks(u) {
			in.rest = append(in.rest, u)
		}
	case "PodDisruptionBudget":
		in.rest = append(in.rest, u)
	case "Namespace", "ServiceAccount":
	default:
		return fmt.Errorf("%s %s: tell the generator what becomes of this kind in a bundle", u.GetKind(), u.GetName())
	}
	return nil
}

// servesWebhooks tells the Service that OLM replaces by one of its own.
func (in *input) servesWebhooks(service *unstructured.Unstructured) bool {
	return strings.HasSuffix(service.GetName(), "-webhook")
}

func (in *input) complete() error {
	switch {
	case in.base == nil:
		return errors.New("the base ClusterServiceVersion is missing")
	case in.crd == nil, in.deployment == nil, in.mutating == nil, in.validating == nil:
		return errors.New("the CRD, the Deployment or a webhook configuration is missing")
	case len(in.examples) == 0:
		return errors.New("there are no examples")
	}
	return nil
}

// copied are the objects beside the ClusterServiceVersion: what config/ has, and the roles that nothing binds, which are
// for people.
func (in *input) copied() []runtime.Object {
	var all []runtime.Object
	for _, u := range in.rest {
		all = append(all, withoutNamespace(u))
	}
	for i := range in.clusterRoles {
		if role := &in.clusterRoles[i]; !in.bound[role.Name] {
			all = append(all, role)
		}
	}
	return all
}

// withoutNamespace is an object that OLM puts into the namespace of the Subscription.
func withoutNamespace(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetNamespace("")
	return u
}

func decode[T any](u *unstructured.Unstructured, into **T) error {
	if *into != nil {
		return fmt.Errorf("a second %s: %s", u.GetKind(), u.GetName())
	}
	*into = new(T)
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, *into, true)
}

func appendDecoded[T any](u *unstructured.Unstructured, into *[]T) error {
	var one *T
	if err := decode(u, &one); err != nil {
		return err
	}
	*into = append(*into, *one)
	return nil
}

// render is an object as YAML, its keys sorted, without what only a server fills.
func render(object runtime.Object) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	return yaml.Marshal(prune(fields))
}

// prune leaves out what Go's types write for a field that was never set: null, and the empty object that is left of a
// struct without omitempty.
func prune(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, entry := range value {
			if entry = prune(entry); entry == nil || unset(key, entry) {
				delete(value, key)
				continue
			}
			value[key] = entry
		}
	case []any:
		for i := range value {
			value[i] = prune(value[i])
		}
	}
	return value
}

// unset tells the empty structs that a ClusterServiceVersion is written with; other empty objects say something, as
// "emptyDir: {}" does.
func unset(key string, value any) bool {
	object, ok := value.(map[string]any)
	return ok && len(object) == 0 && (key == "apiservicedefinitions" || key == "strategy" || key == "resources")
}

// fileName is how operator-sdk names a bundle's files.
func fileName(object runtime.Object) string {
	gvk := object.GetObjectKind().GroupVersionKind()
	name := object.(interface{ GetName() string }).GetName()
	switch gvk.Kind {
	case "ClusterServiceVersion":
		return packageName + ".clusterserviceversion.yaml"
	case "CustomResourceDefinition":
		plural, group, _ := strings.Cut(name, ".")
		return group + "_" + plural + ".yaml"
	}
	return strings.ToLower(fmt.Sprintf("%s_%s_%s.yaml", name, strings.ReplaceAll(gvk.GroupVersion().String(), "/", "_"), gvk.Kind))
}
