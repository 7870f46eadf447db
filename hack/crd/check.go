package main

import (
	"fmt"
	"slices"
	"strings"
)

// check lists everything in a schema that has no bound, or that would make a stored object differ from the applied one.
func check(root *schema) (faults []string) {
	walk(root, func(path string, s *schema) {
		for _, fault := range checkNode(path, s) {
			faults = append(faults, fmt.Sprintf("%s: %s", path, fault))
		}
	})
	return faults
}

// checkNode judges one node. The metadata belongs to the API server, which has its own limits.
func checkNode(path string, s *schema) []string {
	return slices.Concat(
		when(s.XPreserveUnknownFields != nil, "keeps unknown fields"),
		when(s.Default != nil && !slices.Contains(keptDefaults, path), "has a default"),
		when(s.Default != nil && strings.Contains(path, "[]"), "has a default inside a list element"),
		checkNumber(s), checkMap(s), checkType(s))
}

func checkNumber(s *schema) []string {
	isNumber := s.Type == "integer" || s.Type == "number" || s.XIntOrString
	return when(isNumber && (s.Minimum == nil || s.Maximum == nil), "number without minimum and maximum")
}

func checkMap(s *schema) []string {
	values := s.AdditionalProperties
	return slices.Concat(
		when(values != nil && s.MaxProperties == nil, "map without maxProperties"),
		when(values != nil && values.Schema == nil, "map without a schema of its values"))
}

func checkType(s *schema) []string {
	switch {
	case s.XIntOrString || s.Type == "string":
		return when(s.MaxLength == nil && len(s.Enum) == 0, "string without maxLength or enum")
	case s.Type == "array":
		return slices.Concat(
			when(s.MaxItems == nil, "list without maxItems"),
			when(s.Items == nil || s.Items.Schema == nil, "list without a schema of its elements"))
	case s.Type == "object":
		return when(s.Properties == nil && s.AdditionalProperties == nil, "object without properties")
	default:
		known := []string{"integer", "number", "boolean"}
		return when(!slices.Contains(known, s.Type), fmt.Sprintf("unknown type %q", s.Type))
	}
}

// when is a list of one fault, or of none.
func when(wrong bool, fault string) []string {
	if wrong {
		return []string{fault}
	}
	return nil
}
