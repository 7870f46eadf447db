package main

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schema is one node of an OpenAPI schema.
type schema = apiextensionsv1.JSONSchemaProps

// walk calls visit for every node, parents first and in a fixed order. A path names properties, joined by dots; the
// element of a list is its path with [] and the value of a map with {}: spec.ports[].port, spec.podLabels{}. The root's
// path is empty. What visit changes in a node stays changed.
func walk(s *schema, visit func(path string, s *schema)) { walkFrom("", s, visit) }

func walkFrom(path string, s *schema, visit func(string, *schema)) {
	visit(path, s)
	for _, name := range sortedKeys(s.Properties) {
		child := s.Properties[name]
		walkFrom(join(path, name), &child, visit)
		s.Properties[name] = child
	}
	if s.Items != nil && s.Items.Schema != nil {
		walkFrom(path+"[]", s.Items.Schema, visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walkFrom(path+"{}", s.AdditionalProperties.Schema, visit)
	}
}

// matches tells whether a path ends with the pattern, segment by segment; * stands for any one segment.
func matches(pattern, path string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(path, ".")
	if len(want) > len(have) {
		return false
	}
	have = have[len(have)-len(want):]
	return slices.EqualFunc(want, have, func(w, h string) bool { return w == "*" || w == h })
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
