package webhooks

import "testing"

func TestValidateNodeAffinity(t *testing.T) {
	const required = "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	const preferred = "spec.scheduling.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
	demand := func(term string) string {
		return `{scheduling: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [` + term + `]}}}}}`
	}
	wish := func(term string) string {
		return `{scheduling: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [` + term + `]}}}}`
	}
	runSpecCases(t, []specCase{
		{
			name: "all operators",
			spec: demand(`{matchExpressions: [{key: a, operator: In, values: [b]}, {key: a, operator: NotIn, values: [b, ""]}, {key: a, operator: Exists}, {key: a, operator: DoesNotExist}, {key: a, operator: Gt, values: ["1"]}, {key: a, operator: Lt, values: ["9"]}]}, {}`),
		},
		{name: "a node by its name", spec: demand(`{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}`)},
		{name: "no term", spec: demand(``), want: []string{required + ": Required value"}},
		{
			name: "values",
			spec: demand(`{matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [b]}, {key: a, operator: Gt, values: [b]}, {key: a, operator: Lt, values: ["1", "2"]}, {key: a b, operator: In, values: [c d]}]}`),
			want: []string{
				required + "[0].matchExpressions[0].values: Required value", required + "[0].matchExpressions[1].values: Forbidden",
				required + "[0].matchExpressions[2].values: Invalid value", required + "[0].matchExpressions[3].values: Invalid value",
				required + "[0].matchExpressions[4].key: Invalid value", required + "[0].matchExpressions[4].values[0]: Invalid value",
			},
		},
		{name: "an unknown operator", spec: demand(`{matchExpressions: [{key: a, operator: Equals}]}`), want: []string{required + "[0].matchExpressions[0].operator: Unsupported value"}},
		{
			name: "fields",
			spec: demand(`{matchFields: [{key: metadata.uid, operator: Exists, values: [a, b]}, {key: metadata.name, operator: In, values: [A]}]}`),
			want: []string{
				required + "[0].matchFields[0].key: Unsupported value", required + "[0].matchFields[0].operator: Unsupported value",
				required + "[0].matchFields[0].values: Required value", required + "[0].matchFields[1].values[0]: Invalid value",
			},
		},
		{name: "a wish that no node grants", spec: wish(`{weight: 100, preference: {matchExpressions: [{key: a, operator: In, values: [b c]}]}}`)},
		{
			name: "weights",
			spec: wish(`{weight: 0, preference: {}}, {weight: 101, preference: {matchExpressions: [{key: "", operator: Exists}]}}`),
			want: []string{preferred + "[0].weight: Invalid value", preferred + "[1].weight: Invalid value", preferred + "[1].preference.matchExpressions[0].key: Invalid value", preferred + "[1].preference.matchExpressions[0].key: Invalid value"},
		},
	})
}

func TestValidatePodAffinity(t *testing.T) {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	spec := func(field, terms string) string {
		return `{scheduling: {affinity: {podAntiAffinity: {` + field + `: [` + terms + `]}}}}`
	}
	const at = "spec.scheduling.affinity.podAntiAffinity."
	const host = `topologyKey: kubernetes.io/hostname`
	runSpecCases(t, []specCase{
		{
			name: "all set",
			spec: spec(required, `{`+host+`, labelSelector: {matchLabels: {app: web}, matchExpressions: [{key: a, operator: NotIn, values: [b]}]}, matchLabelKeys: [pod-template-hash], mismatchLabelKeys: [app]}`),
		},
		{name: "no place", spec: spec(required, `{}`), want: []string{at + required + "[0].topologyKey: Required value"}},
		{name: "no label of a node", spec: spec(required, `{topologyKey: a b}`), want: []string{at + required + "[0].topologyKey: Invalid value"}},
		{
			name: "X02 another namespace",
			spec: spec(required, `{`+host+`, namespaces: [other], namespaceSelector: {}}`),
			want: []string{at + required + "[0].namespaces: Forbidden", at + required + "[0].namespaceSelector: Forbidden"},
			says: "outside its own namespace",
		},
		{
			name: "keys without a selector",
			spec: spec(required, `{`+host+`, matchLabelKeys: [a], mismatchLabelKeys: [b]}`),
			want: []string{at + required + "[0].matchLabelKeys: Forbidden", at + required + "[0].mismatchLabelKeys: Forbidden"},
		},
		{
			name: "keys that contradict each other",
			spec: spec(required, `{`+host+`, labelSelector: {matchExpressions: [{key: a, operator: Exists}]}, matchLabelKeys: [a, b], mismatchLabelKeys: [b]}`),
			want: []string{at + required + "[0].matchLabelKeys[0]: Invalid value", at + required + "[0].matchLabelKeys[1]: Invalid value"},
		},
		{
			name: "a wish",
			spec: spec(preferred, `{weight: 0, podAffinityTerm: {`+host+`, labelSelector: {matchLabels: {a: b c}}}}`),
			want: []string{at + preferred + "[0].weight: Invalid value", at + preferred + "[0].podAffinityTerm.labelSelector.matchLabels[a]: Invalid value"},
		},
		{
			name: "affinity is judged like anti-affinity",
			spec: `{scheduling: {affinity: {podAffinity: {` + required + `: [{}]}}}}`,
			want: []string{"spec.scheduling.affinity.podAffinity." + required + "[0].topologyKey: Required value"},
		},
	})
}
