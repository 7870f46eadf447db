package webhooks

import "testing"

func TestValidateScheduling(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "nothing", spec: `{scheduling: {affinity: {nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {}}}}`},
		{name: "labels of nodes", spec: `{scheduling: {nodeSelector: {kubernetes.io/os: linux, disk: ""}, priorityClassName: high.v1}}`},
		{
			name: "no labels of nodes",
			spec: `{scheduling: {nodeSelector: {a b: c, d: e f}, priorityClassName: High}}`,
			want: []string{"spec.scheduling.nodeSelector[a b]: Invalid value", "spec.scheduling.nodeSelector[d]: Invalid value", "spec.scheduling.priorityClassName: Invalid value"},
		},
	})
}

func TestValidateTolerations(t *testing.T) {
	with := func(toleration string) string { return `{scheduling: {tolerations: [` + toleration + `]}}` }
	runSpecCases(t, []specCase{
		{name: "a value", spec: with(`{key: example.com/gpu, value: a, effect: NoSchedule}`)},
		{name: "any value, for a while", spec: with(`{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}`)},
		{name: "everything", spec: with(`{operator: Exists}`)},
		{name: "no key", spec: with(`{operator: Equal, value: a}`), want: []string{"spec.scheduling.tolerations[0].operator: Invalid value"}, says: "must be Exists"},
		{name: "a key", spec: with(`{key: a b, operator: Exists}`), want: []string{"spec.scheduling.tolerations[0].key: Invalid value"}},
		{name: "a value that no taint has", spec: with(`{key: a, value: b c}`), want: []string{"spec.scheduling.tolerations[0].value: Invalid value"}},
		{name: "a value beside Exists", spec: with(`{key: a, operator: Exists, value: b}`), want: []string{"spec.scheduling.tolerations[0].value: Forbidden"}},
		{name: "an alpha operator", spec: with(`{key: a, operator: Gt, value: "1"}`), want: []string{"spec.scheduling.tolerations[0].operator: Forbidden"}, says: "alpha"},
		{name: "an unknown operator", spec: with(`{key: a, operator: In}`), want: []string{"spec.scheduling.tolerations[0].operator: Unsupported value"}},
		{name: "an unknown effect", spec: with(`{key: a, effect: Never}`), want: []string{"spec.scheduling.tolerations[0].effect: Unsupported value"}},
		{name: "seconds beside another effect", spec: with(`{key: a, tolerationSeconds: 1}`), want: []string{"spec.scheduling.tolerations[0].tolerationSeconds: Forbidden"}},
	})
}

func TestValidateSpread(t *testing.T) {
	with := func(constraints string) string {
		return `{scheduling: {topologySpreadConstraints: [` + constraints + `]}}`
	}
	const zone = `maxSkew: 1, topologyKey: topology.kubernetes.io/zone`
	const at = "spec.scheduling.topologySpreadConstraints[0]."
	runSpecCases(t, []specCase{
		{name: "all set", spec: with(`{` + zone + `, whenUnsatisfiable: DoNotSchedule, minDomains: 2, nodeAffinityPolicy: Honor, nodeTaintsPolicy: Ignore, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}`)},
		{name: "the MyApp's own pods", spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [pod-template-hash]}`)},
		{name: "one key, two policies", spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway}, {` + zone + `, whenUnsatisfiable: DoNotSchedule}`)},
		{
			name: "one pair twice",
			spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}`),
			want: []string{"spec.scheduling.topologySpreadConstraints[1]: Duplicate value"},
			says: "{topology.kubernetes.io/zone, ScheduleAnyway}",
		},
		{
			name: "nothing set", spec: with(`{}`),
			want: []string{at + "maxSkew: Invalid value", at + "topologyKey: Required value", at + "whenUnsatisfiable: Unsupported value"},
		},
		{
			name: "policies and a key", spec: with(`{maxSkew: 1, topologyKey: a b, whenUnsatisfiable: ScheduleAnyway, nodeAffinityPolicy: a, nodeTaintsPolicy: b}`),
			want: []string{at + "topologyKey: Invalid value", at + "nodeAffinityPolicy: Unsupported value", at + "nodeTaintsPolicy: Unsupported value"},
		},
		{
			name: "domains", spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway, minDomains: 0}`),
			want: []string{at + "minDomains: Invalid value", at + "minDomains: Forbidden"},
		},
		{
			name: "a key of the selector", spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [app, a, a, b c]}`),
			want: []string{at + "matchLabelKeys[0]: Invalid value", at + "matchLabelKeys[2]: Invalid value", at + "matchLabelKeys[3]: Invalid value"},
		},
		{
			name: "a key of the operator's selector", spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [app.kubernetes.io/name]}`),
			want: []string{at + "matchLabelKeys[0]: Invalid value"},
		},
		{
			name: "a selector", spec: with(`{` + zone + `, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a b: c}, matchExpressions: [{key: a, operator: In}, {key: b, operator: Exists, values: [c]}, {key: d, operator: Gt, values: ["1"]}]}}`),
			want: []string{
				at + "labelSelector.matchLabels[a b]: Invalid value", at + "labelSelector.matchExpressions[0].values: Required value",
				at + "labelSelector.matchExpressions[1].values: Forbidden", at + "labelSelector.matchExpressions[2].operator: Invalid value",
			},
		},
	})
}
