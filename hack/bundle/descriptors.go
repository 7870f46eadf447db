package main

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// What a console shows for a field; the words are those of "kubectl explain".

const (
	uiDescriptor         = "urn:alm:descriptor:com.tectonic.ui:"
	kubernetesDescriptor = "urn:alm:descriptor:io.kubernetes:"
	conditionsDescriptor = "urn:alm:descriptor:io.kubernetes.conditions"
)

// special are the fields that a console has a widget of its own for, and those that it puts out of the way.
var special = map[string][]string{
	"size":                            {uiDescriptor + "podCount"},
	"image":                           {uiDescriptor + "text"},
	"imagePullPolicy":                 {uiDescriptor + "imagePullPolicy"},
	"resources":                       {uiDescriptor + "resourceRequirements"},
	"scheduling.affinity":             {uiDescriptor + "advanced"},
	"serviceAccountName":              {kubernetesDescriptor + "ServiceAccount"},
	"ingress.tls.secretName":          {kubernetesDescriptor + "Secret"},
	"podSecurityContext":              {uiDescriptor + "advanced"},
	"securityContext":                 {uiDescriptor + "advanced"},
	"podAnnotations":                  {uiDescriptor + "advanced"},
	"podLabels":                       {uiDescriptor + "advanced"},
	"conditions":                      {conditionsDescriptor},
	"rollout.revisionHistoryLimit":    {uiDescriptor + "number", uiDescriptor + "advanced"},
	"rollout.progressDeadlineSeconds": {uiDescriptor + "number", uiDescriptor + "advanced"},
}

// initials are the words of a field's name that are written in capitals.
var initials = map[string]string{"cpu": "CPU", "tls": "TLS", "env": "Env"}

type descriptor struct {
	path, displayName, description string
	x                              []string
}

// descriptors are those of every field of a MyApp, in the order of their paths. Fields of the API's own structs are
// described one by one, Kubernetes' own types as a whole.
func descriptors(crd *apiextensionsv1.CustomResourceDefinition, spec, status any) (ofSpec, ofStatus []descriptor) {
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	return walk("", reflect.TypeOf(spec), schema.Properties["spec"]), walk("", reflect.TypeOf(status), schema.Properties["status"])
}

func walk(prefix string, t reflect.Type, schema apiextensionsv1.JSONSchemaProps) (all []descriptor) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, known := schema.Properties[name]
		if !known {
			continue
		}
		path := prefix + name
		all = append(all, descriptor{
			path: path, displayName: displayName(path), description: sentence(property.Description),
			x: xDescriptors(path, property),
		})
		of := field.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of.PkgPath() == reflect.TypeFor[v1beta1.MyApp]().PkgPath() {
			all = append(all, walk(path+".", of, property)...)
		}
	}
	slices.SortFunc(all, func(a, b descriptor) int { return strings.Compare(a.path, b.path) })
	return all
}

// xDescriptors say which widget shows a field, and for a field of a block which group it stands in.
func xDescriptors(path string, schema apiextensionsv1.JSONSchemaProps) (x []string) {
	block, _, inBlock := strings.Cut(path, ".")
	if inBlock {
		x = append(x, uiDescriptor+"fieldGroup:"+block)
	}
	if own, ok := special[path]; ok {
		return append(x, own...)
	}
	switch {
	case len(schema.Enum) > 0:
		for _, value := range schema.Enum {
			x = append(x, uiDescriptor+"select:"+strings.Trim(string(value.Raw), `"`))
		}
	case schema.Type == "boolean":
		x = append(x, uiDescriptor+"booleanSwitch")
	case schema.Type == "integer":
		x = append(x, uiDescriptor+"number")
	case schema.Type == "string", schema.XIntOrString:
		x = append(x, uiDescriptor+"text")
	}
	return x
}

// displayName makes words of a path: "Image Pull Policy", "Ingress TLS Secret Name".
func displayName(path string) string {
	var words []string
	for _, part := range strings.Split(path, ".") {
		words = append(words, split(part)...)
	}
	for i, word := range words {
		if capitals, ok := initials[strings.ToLower(word)]; ok {
			words[i] = capitals
			continue
		}
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// split cuts camelCase into words, and leaves several capitals in a row together.
func split(name string) (words []string) {
	start := 0
	runes := []rune(name)
	for i := 1; i < len(runes); i++ {
		after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(runes[i]) && (unicode.IsLower(runes[i-1]) || after) {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}

// sentence is a description in one paragraph.
func sentence(description string) string {
	return strings.Join(strings.Fields(description), " ")
}
