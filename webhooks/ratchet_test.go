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
			name:   "W01 mounts reordered",
			before: `{mounts: [{path: /data, emptyDir: {}}, {path: /data/, configMap: {name: A}}]}`,
			after:  `{mounts: [{path: /data/, configMap: {name: A}}, {path: /data, emptyDir: {}}]}`,
			kept:   []string{"spec.mounts[0].configMap.name: Invalid value", "spec.mounts[1].path: Duplicate value"},
		},
		{
			name:       "W01 one more mount at the same path",
			before:     `{mounts: [{path: /data, emptyDir: {}}, {path: /data/, emptyDir: {}}]}`,
			after:      `{mounts: [{path: /data, emptyDir: {}}, {path: /data/, emptyDir: {}}, {path: //data, emptyDir: {}}]}`,
			kept:       []string{"spec.mounts[1].path: Duplicate value"},
			introduced: []string{"spec.mounts[2].path: Duplicate value"},
		},
		{
			name:   "W01 an item inserted before the problem",
			before: `{mounts: [{path: /a, secret: {name: s, items: [{key: a b, path: a}]}}]}`,
			after:  `{mounts: [{path: /b, emptyDir: {}}, {path: /a, secret: {name: s, items: [{key: c, path: c}, {key: a b, path: a}]}}]}`,
			kept:   []string{"spec.mounts[1].secret.items[1].key: Invalid value"},
		},
		{
			name:   "W01 tolerations and constraints reordered",
			before: `{scheduling: {tolerations: [{key: a, operator: In}, {key: b}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}]}}`,
			after:  `{scheduling: {tolerations: [{key: b}, {key: a, operator: In}], topologySpreadConstraints: [{maxSkew: 2, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}]}}`,
			kept:   []string{"spec.scheduling.tolerations[1].operator: Unsupported value", "spec.scheduling.topologySpreadConstraints[1]: Duplicate value"},
		},
		{
			name:       "G04 W01 a stored snippet gets another value",
			before:     `{ports: [{port: 80}], ingress: {host: a.b, annotations: {nginx.ingress.kubernetes.io/server-snippet: a}}}`,
			after:      `{ports: [{port: 80}], ingress: {host: a.b, annotations: {nginx.ingress.kubernetes.io/server-snippet: b}}}`,
			introduced: []string{"spec.ingress.annotations[nginx.ingress.kubernetes.io/server-snippet]: Invalid value"},
		},
		{
			name:       "G01 the Ingress loses its port",
			before:     `{ports: [{port: 80}], ingress: {host: a.b, port: 80}}`,
			after:      `{ports: [{port: 81}], ingress: {host: a.b, port: 80}}`,
			introduced: []string{"spec.ingress.port: Invalid value"},
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
