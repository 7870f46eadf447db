package main

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// edit changes one node of a schema.
type edit func(*schema)

func minLength(n int64) edit { return func(s *schema) { s.MinLength = &n } }
func maxLength(n int64) edit { return func(s *schema) { s.MaxLength = &n } }
func minItems(n int64) edit  { return func(s *schema) { s.MinItems = &n } }
func maxItems(n int64) edit  { return func(s *schema) { s.MaxItems = &n } }
func pattern(re string) edit { return func(s *schema) { s.Pattern = re } }

// between bounds a number. Bounds beside x-kubernetes-int-or-string speak of its integers only.
func between(low, high int64) edit {
	return func(s *schema) {
		s.Minimum, s.Maximum = ptr.To(float64(low)), ptr.To(float64(high))
	}
}

func required(names ...string) edit {
	return func(s *schema) { s.Required = append(s.Required, names...) }
}

func oneOf(values ...string) edit {
	return func(s *schema) {
		s.Enum = nil
		for _, v := range values {
			raw, _ := json.Marshal(v) // a string always marshals
			s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: raw})
		}
	}
}

// property adds a property that the generator left out.
func property(name string, child schema) edit {
	return func(s *schema) {
		if s.Properties == nil {
			s.Properties = map[string]schema{}
		}
		s.Properties[name] = child
	}
}

// must adds a CEL rule; the path of its refusal is that of the node.
func must(rule, message string) edit { return mustAt("", rule, message) }

// mustAt adds a CEL rule whose refusal names a path below the node.
func mustAt(fieldPath, rule, message string) edit {
	return func(s *schema) {
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{
			Rule: rule, Message: message, FieldPath: fieldPath,
		})
	}
}

// refuse lets no value of an optional field pass. The field stays in the schema, so that a later version may allow it and
// a client is told no instead of losing it in silence.
func refuse(message string) edit {
	return func(s *schema) {
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{
			Rule: "false", Message: message, Reason: ptr.To(apiextensionsv1.FieldValueForbidden),
		})
	}
}
