package controllers

import (
	"sync"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// monitorSchema is what an apply to a ServiceMonitor needs to know of its schema: the owner references are merged by UID
// and the selector is one value. The rest follows from the values themselves: maps are merged by key, lists are one value.
const monitorSchema typed.YAMLObject = `
types:
- name: ServiceMonitor
  map:
    fields:
    - name: metadata
      type:
        map:
          fields:
          - name: ownerReferences
            type:
              list:
                elementType: {namedType: deduced}
                elementRelationship: associative
                keys: [uid]
          elementType: {namedType: deduced}
    - name: spec
      type:
        map:
          fields:
          - name: selector
            type:
              map:
                elementType: {namedType: deduced}
                elementRelationship: atomic
          elementType: {namedType: deduced}
    elementType: {namedType: deduced}
- name: deduced
  scalar: untyped
  list: {elementType: {namedType: deduced}, elementRelationship: atomic}
  map: {elementType: {namedType: deduced}, elementRelationship: separable}
`

var monitorParser = sync.OnceValues(func() (*typed.Parser, error) { return typed.NewParser(monitorSchema) })

// extractServiceMonitor returns what a manager applied. The API of ServiceMonitors comes without apply configurations and
// without a function that does this.
func extractServiceMonitor(live *monitoringv1.ServiceMonitor, manager string) (*monitoringv1.ServiceMonitor, error) {
	parser, err := monitorParser()
	if err != nil {
		return nil, err
	}
	owned := &monitoringv1.ServiceMonitor{}
	if err := managedfields.ExtractInto(live, parser.Type("ServiceMonitor"), manager, owned, ""); err != nil {
		return nil, err
	}
	owned.APIVersion, owned.Kind = monitoringv1.SchemeGroupVersion.String(), monitoringv1.ServiceMonitorsKind
	owned.Name, owned.Namespace = live.Name, live.Namespace
	return owned, nil
}
