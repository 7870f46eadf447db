package main

import (
	"fmt"
	"math"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// keptDefaults are the only defaults that the schema may set. A default inside a list element would make every second
// `kubectl apply` a write, since lists of a custom resource are atomic in a merge patch; those of embedded types are the
// empty values which Go assumes anyway.
var keptDefaults = []string{"spec.size"}

// transform bounds every value of the CRD's schemas, applies the table and drops the generated defaults. It reports rows
// of the table that match nothing, and whatever is still wrong afterwards.
func transform(crd *apiextensionsv1.CustomResourceDefinition) error {
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return fmt.Errorf("version %s has no schema", v.Name)
		}
		root := v.Schema.OpenAPIV3Schema
		if unused := applyTable(root); len(unused) > 0 {
			return fmt.Errorf("version %s: nothing matches the rows %q", v.Name, unused)
		}
		walk(root, func(path string, s *schema) {
			if !slices.Contains(keptDefaults, path) {
				s.Default = nil
			}
			bound(s)
		})
		if faults := check(root); len(faults) > 0 {
			return fmt.Errorf("version %s: %q", v.Name, faults)
		}
	}
	return nil
}

// applyTable applies every row in order and returns those that match nothing.
func applyTable(root *schema) (unused []string) {
	for _, r := range table {
		hit := false
		walk(root, func(path string, s *schema) {
			if !matches(r.at, path) {
				return
			}
			hit = true
			for _, e := range r.edits {
				e(s)
			}
		})
		if !hit {
			unused = append(unused, r.at)
		}
	}
	return unused
}

// bound fills in the limits that neither a marker nor the table has set.
func bound(s *schema) {
	switch {
	case s.XIntOrString:
		boundIntOrString(s)
	case s.Type == "string" && len(s.Enum) == 0:
		fill(&s.MaxLength, maxName)
	case s.Type == "integer":
		fill(&s.Minimum, 0)
		if s.Format == "int64" {
			fill(&s.Maximum, maxInt64)
		} else {
			fill(&s.Maximum, math.MaxInt32)
		}
	case s.Type == "array":
		fill(&s.MaxItems, 100)
	case s.AdditionalProperties != nil:
		fill(&s.MaxProperties, 50)
	}
}

// boundIntOrString tells quantities from numbers that may be a name or a percentage: of the generated ones they alone
// have a pattern.
func boundIntOrString(s *schema) {
	if s.Pattern != "" && s.Pattern != percentPattern && s.Pattern != surgePattern {
		s.Pattern = quantityPattern
		fill(&s.MaxLength, 64)
		fill(&s.Minimum, -maxInt64)
		fill(&s.Maximum, maxInt64)
		return
	}
	fill(&s.MaxLength, maxLabel)
	fill(&s.Minimum, 0)
	fill(&s.Maximum, math.MaxInt32)
}

// fill sets a missing limit.
func fill[N int64 | float64](limit **N, n N) {
	if *limit == nil {
		*limit = ptr.To(n)
	}
}
