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
func checkNode(path string, s *schema) (faults []string) {
	say := func(wrong bool, fault string) {
		if wrong {
			faults = append(faults, fault)
		}
	}
	say(s.XPreserveUnknownFields != nil, "keeps unknown fields")
	say(s.Default != nil && !slices.Contains(keptDefaults, path), "has a default")
	say(s.Default != nil && strings.Contains(path, "[]"), "has a default inside a list element")
	say(s.AdditionalProperties != nil && s.MaxProperties == nil, "map without maxProperties")
	say(s.AdditionalProperties != nil && s.AdditionalProperties.Schema == nil, "map without a schema of its values")

	isNumber := s.Type == "integer" || s.Type == "number" || s.XIntOrString
	say(isNumber && (s.Minimum == nil || s.Maximum == nil), "number without minimum and maximum")
	switch {
	case s.Type == "string" || s.XIntOrString:
		say(s.MaxLength == nil && len(s.Enum) == 0, "string without maxLength or enum")
	case s.Type == "array":
		say(s.MaxItems == nil, "list without maxItems")
		say(s.Items == nil || s.Items.Schema == nil, "list without a schema of its elements")
	case s.Type == "object":
		say(s.Properties == nil && s.AdditionalProperties == nil, "object without properties")
	case s.Type != "integer" && s.Type != "number" && s.Type != "boolean":
		say(true, fmt.Sprintf("unknown type %q", s.Type))
	}
	return faults
}
