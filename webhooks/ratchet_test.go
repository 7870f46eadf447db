package webhooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateUpdate(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		introduced, kept    []string
	}{
		{
			name:   "W01 another field changes",
			before: `{size: 1, envs: [{name: MODE, value: a}, {name: MODE, value: b}]}`,
			after:  `{size: 2, envs: [{name: MODE, value: a}, {name: MODE, value: b}]}`,
			kept:   []string{"spec.envs[1].name: Duplicate value"},
		},
		{
			name:       "W01 a third duplicate",
			before:     `{envs: [{name: MODE, value: a}, {name: MODE, value: b}]}`,
			after:      `{envs: [{name: MODE, value: a}, {name: MODE, value: b}, {name: MODE, value: c}]}`,
			kept:       []string{"spec.envs[1].name: Duplicate value"},
			introduced: []string{"spec.envs[2].name: Duplicate value"},
		},
		{
			name:       "W01 one duplicate in another's place",
			before:     `{envs: [{name: MODE}, {name: MODE}]}`,
			after:      `{envs: [{name: ZONE}, {name: ZONE}]}`,
			introduced: []string{"spec.envs[1].name: Duplicate value"},
		},
		{
			name:   "E01 the clean-up of a stored duplicate",
			before: `{envs: [{name: MODE, value: qa}, {name: REGION, value: eu}, {name: MODE, value: qa}]}`,
			after:  `{envs: [{name: MODE, value: qa}, {name: REGION, value: eu}]}`,
		},
		{
			name:   "W01 an entry inserted before the problem",
			before: `{ports: [{name: web, port: 80, targetPort: http}]}`,
			after:  `{ports: [{name: tls, port: 443}, {name: web, port: 80, targetPort: http}]}`,
			kept:   []string{"spec.ports[1].targetPort: Invalid value"},
		},
		{
			name:   "W01 entries reordered",
			before: `{ports: [{name: web, port: 80}, {name: web, port: 81}, {name: X, port: 82}]}`,
			after:  `{ports: [{name: X, port: 82}, {name: web, port: 81}, {name: web, port: 80}]}`,
			kept:   []string{"spec.ports[0].name: Invalid value", "spec.ports[2].name: Duplicate value"},
		},
		{
			name:       "W01 the same value in another field",
			before:     `{podSecurityContext: {seccompProfile: {type: Unconfined}}}`,
			after:      `{securityContext: {seccompProfile: {type: Unconfined}}}`,
			introduced: []string{"spec.securityContext.seccompProfile.type: Unsupported value"},
		},
		{
			name:       "W01 the field itself changes, and is still wrong",
			before:     `{image: "Team/web:1"}`,
			after:      `{image: "Team/web:2"}`,
			introduced: []string{"spec.image: Invalid value"},
		},
		{
			name:   "Q03 a stored one can be edited elsewhere",
			before: `{size: 1, resources: {limits: {memory: 512m}}}`,
			after:  `{size: 3, resources: {limits: {memory: 512m}}}`,
			kept:   []string{"spec.resources.limits[memory]: Invalid value"},
		},
		{
			name:       "a stricter profile",
			before:     `{securityContext: {runAsUser: 0}}`,
			after:      `{securityProfile: Restricted, securityContext: {runAsUser: 0}}`,
			introduced: []string{"spec.securityContext.runAsUser: Invalid value"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			introduced, kept := validateUpdate(myApp(t, c.before), myApp(t, c.after), Options{})
			if diff := cmp.Diff(c.introduced, problems(introduced)); diff != "" {
				t.Errorf("new problems (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.kept, problems(kept)); diff != "" {
				t.Errorf("old problems (-want +got):\n%s", diff)
			}
		})
	}
}
