// Package v1beta1 holds the types of the API app.ydzs.io/v1beta1, the constants that belong to its contract (labels,
// annotations, conditions, reasons) and its constant defaults. It talks to no cluster and judges no object: validation
// lives in package webhooks, everything that depends on more than one field in package desired.
//
// +kubebuilder:object:generate=true
// +groupName=app.ydzs.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the API group and version of MyApp.
	GroupVersion = schema.GroupVersion{Group: "app.ydzs.io", Version: "v1beta1"}

	// Kind is the group, version and kind of MyApp.
	Kind = GroupVersion.WithKind("MyApp")

	schemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &MyApp{}, &MyAppList{})
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})

	// AddToScheme adds MyApp and MyAppList to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)
