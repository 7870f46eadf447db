package webhooks

import (
	"strings"
	"testing"
)

func TestValidateEnvs(t *testing.T) {
	runSpecCases(t, []specCase{
		{
			name: "E01 a duplicate",
			spec: `{envs: [{name: MODE, value: qa}, {name: REGION, value: eu}, {name: MODE, value: qa}]}`,
			want: []string{"spec.envs[2].name: Duplicate value"},
		},
		{name: "E04 variables that refer to others", spec: `{envs: [{name: ZONE, value: b}, {name: ADDR, value: "host-$(ZONE)"}, {name: A_LAST, value: "$(ADDR):80"}]}`},
		{
			name: "E07 relaxed names",
			spec: `{envs: [{name: 2fa.mode, value: "on"}, {name: "A=B", value: x}, {name: "", value: y}]}`,
			want: []string{"spec.envs[1].name: Invalid value", "spec.envs[2].name: Required value"},
		},
		{
			name: "control characters",
			spec: `{envs: [{name: "A\0B"}, {name: "A\nB"}, {name: "A B"}, {name: "Ä"}]}`,
			want: []string{"spec.envs[0].name: Invalid value", "spec.envs[1].name: Invalid value", "spec.envs[3].name: Invalid value"},
		},
		{
			name: "value beside valueFrom",
			spec: `{envs: [{name: A, value: x, valueFrom: {secretKeyRef: {name: s, key: k}}}]}`,
			want: []string{"spec.envs[0].value: Forbidden"},
		},
		{name: "E06 references", spec: `{envs: [{name: A, valueFrom: {secretKeyRef: {name: not-there-yet, key: token}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: k, optional: true}}}]}`},
		{
			name: "no source",
			spec: `{envs: [{name: A, valueFrom: {}}]}`,
			want: []string{"spec.envs[0].valueFrom: Required value"},
		},
		{
			name: "two sources",
			spec: `{envs: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}, configMapKeyRef: {name: s, key: k}}}]}`,
			want: []string{"spec.envs[0].valueFrom: Forbidden"},
		},
		{
			name: "references without name or key",
			spec: `{envs: [{name: A, valueFrom: {secretKeyRef: {key: k}}}, {name: B, valueFrom: {configMapKeyRef: {name: c, key: ""}}}]}`,
			want: []string{"spec.envs[0].valueFrom.secretKeyRef.name: Required value", "spec.envs[1].valueFrom.configMapKeyRef.key: Required value"},
		},
		{
			name: "references with impossible names",
			spec: `{envs: [{name: A, valueFrom: {secretKeyRef: {name: S, key: a/b}}}]}`,
			want: []string{"spec.envs[0].valueFrom.secretKeyRef.name: Invalid value", "spec.envs[0].valueFrom.secretKeyRef.key: Invalid value"},
		},
		{
			name: "a file",
			spec: `{envs: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]}`,
			want: []string{"spec.envs[0].valueFrom.fileKeyRef: Forbidden"},
		},
	})
}

func TestValidateDownwardAPI(t *testing.T) {
	env := func(source string) string { return `{envs: [{name: A, valueFrom: {` + source + `}}]}` }
	const path = "spec.envs[0].valueFrom."
	cases := []specCase{
		{name: "a label", spec: env(`fieldRef: {fieldPath: "metadata.labels['app.kubernetes.io/name']"}`)},
		{name: "an annotation", spec: env(`fieldRef: {apiVersion: v1, fieldPath: "metadata.annotations['Example.com/a']"}`)},
		{name: "all labels", spec: env(`fieldRef: {fieldPath: metadata.labels}`), want: []string{path + "fieldRef.fieldPath: Unsupported value"}},
		{name: "a label without key", spec: env(`fieldRef: {fieldPath: "metadata.labels['']"}`), want: []string{path + "fieldRef.fieldPath: Unsupported value"}},
		{name: "another field", spec: env(`fieldRef: {fieldPath: status.phase}`), want: []string{path + "fieldRef.fieldPath: Unsupported value"}},
		{name: "another version", spec: env(`fieldRef: {apiVersion: v2, fieldPath: metadata.name}`), want: []string{path + "fieldRef.apiVersion: Unsupported value"}},
		{name: "a limit", spec: env(`resourceFieldRef: {resource: limits.cpu, divisor: 1m}`)},
		{name: "a request", spec: env(`resourceFieldRef: {resource: requests.memory, divisor: 1Mi}`)},
		{name: "huge pages", spec: env(`resourceFieldRef: {resource: limits.hugepages-2Mi}`)},
		{name: "another resource", spec: env(`resourceFieldRef: {resource: limits.gpu}`), want: []string{path + "resourceFieldRef.resource: Invalid value"}},
		{name: "another container", spec: env(`resourceFieldRef: {containerName: x, resource: limits.cpu}`), want: []string{path + "resourceFieldRef.containerName: Forbidden"}},
		{name: "another divisor", spec: env(`resourceFieldRef: {resource: limits.cpu, divisor: 1Mi}`), want: []string{path + "resourceFieldRef.divisor: Invalid value"}},
	}
	for _, f := range podFields {
		cases = append(cases, specCase{name: f, spec: env(`fieldRef: {fieldPath: ` + f + `}`)})
	}
	runSpecCases(t, cases)
}

func TestValidateEnvFrom(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "one each", spec: `{envFrom: [{configMapRef: {name: c}}, {prefix: DB_, secretRef: {name: s}}]}`},
		{name: "none", spec: `{envFrom: [{}]}`, want: []string{"spec.envFrom[0]: Required value"}},
		{name: "both", spec: `{envFrom: [{configMapRef: {name: c}, secretRef: {name: s}}]}`, want: []string{"spec.envFrom[0]: Forbidden"}},
		{name: "no name", spec: `{envFrom: [{configMapRef: {}}]}`, want: []string{"spec.envFrom[0].configMapRef.name: Required value"}},
		{name: "a wrong name", spec: `{envFrom: [{secretRef: {name: a_b}}]}`, want: []string{"spec.envFrom[0].secretRef.name: Invalid value"}},
		{name: "a wrong prefix", spec: `{envFrom: [{prefix: "A=", secretRef: {name: s}}]}`, want: []string{"spec.envFrom[0].prefix: Invalid value"}},
	})
}

func TestMessagesShowNoValueOfAVariable(t *testing.T) {
	app := myApp(t, `{envs: [{name: A, value: hunter2}, {name: A, value: hunter2, valueFrom: {}}, {name: "B=", value: hunter2}]}`)
	if all := validate(app, Options{}).ToAggregate().Error(); strings.Contains(all, "hunter2") {
		t.Errorf("a value is shown: %s", all)
	}
}
