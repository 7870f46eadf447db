package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// O01: ports are one value. As a list with keys they would need a default inside each element, which `kubectl apply` would
// find changed for ever; and a key without a default is refused with the whole CRD.
func TestO01PortsAreOneValueWithoutDefaults(t *testing.T) {
	ports := rootSchema(t).Properties["spec"].Properties["ports"]
	if ports.XListType != nil && *ports.XListType != "atomic" || len(ports.XListMapKeys) > 0 {
		t.Errorf("spec.ports is merged by %v", ports.XListMapKeys)
	}
	walk(rootSchema(t), func(path string, s *schema) {
		if strings.HasPrefix(path, "spec.ports[]") && s.Default != nil {
			t.Errorf("%s has a default", path)
		}
		for _, key := range s.XListMapKeys {
			element := s.Items.Schema
			required := false
			for _, r := range element.Required {
				required = required || r == key
			}
			if element.Properties[key].Default == nil && !required {
				t.Errorf("%s: key %s may be missing, and the API server would refuse the CRD", path, key)
			}
		}
	})
}

// O01: one number under two protocols, the usual one left out, is stored as it was sent.
func TestO01ProtocolMayBeLeftOut(t *testing.T) {
	const spec = `{image: a, ports: [{name: tcp, port: 53}, {name: udp, port: 53, protocol: UDP}]}`
	s := newServer(t)
	got, errs := s.create(t, spec)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	want := s.read(t, bodyOf(t, "web", spec))["spec"].(map[string]any)["ports"]
	if diff := cmp.Diff(want, got["spec"].(map[string]any)["ports"]); diff != "" {
		t.Errorf("the ports are changed (-want +got):\n%s", diff)
	}
	if first := want.([]any)[0].(map[string]any); len(first) != 2 {
		t.Errorf("something is filled in: %v", first)
	}
}

// E08: an unquoted version number is no text either.
func TestE08FractionAsEnvValue(t *testing.T) {
	for _, value := range []string{"1.10", "8080", "true", "null"} {
		_, errs := newServer(t).create(t, `{image: a, envs: [{name: VER, value: `+value+`}]}`)
		if refused := len(errs) > 0 && paths(errs)[0] == "spec.envs[0].value"; refused != (value != "null") {
			t.Errorf("bare %s: %v", value, errs.ToAggregate())
		}
	}
}

// X02: no field of the API names another namespace, a node's file system or an address outside the cluster, but for those
// of Kubernetes' own affinity, which admission confines.
func TestX02NoFieldReachesOut(t *testing.T) {
	walk(rootSchema(t), func(path string, s *schema) {
		for name := range s.Properties {
			switch name {
			case "namespace", "hostPath", "hostNetwork", "hostPID", "hostIPC", "hostPort", "externalIPs", "nodeName", "externalName":
				t.Errorf("%s.%s", path, name)
			case "namespaces", "namespaceSelector":
				if !strings.Contains(path, "Affinity") {
					t.Errorf("%s.%s", path, name)
				}
			}
		}
	})
}
