package webhooks

import "testing"

func TestValidateResources(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "none", spec: `{}`},
		{name: "Q01 mixed spellings", spec: `{resources: {limits: {memory: 2048Mi, cpu: 1000m}, requests: {memory: 1.5Gi, cpu: "0.5"}}}`},
		{
			name: "Q03 thousandths of bytes",
			spec: `{resources: {limits: {memory: 512m}, requests: {memory: 512m}}}`,
			want: []string{"spec.resources.limits[memory]: Invalid value", "spec.resources.requests[memory]: Invalid value"},
			says: "Mi",
		},
		{
			name: "Q03 the same for storage",
			spec: `{resources: {limits: {ephemeral-storage: 1500m}}}`,
			want: []string{"spec.resources.limits[ephemeral-storage]: Invalid value"},
		},
		{name: "Q03 whole bytes that are written in thousandths", spec: `{resources: {limits: {memory: 512000m}}}`},
		{
			name: "Q04 a request above its limit by a unit slip",
			spec: `{resources: {requests: {memory: 256Mi}, limits: {memory: 256M}}}`,
			want: []string{"spec.resources.requests[memory]: Invalid value"},
			says: "268435456 > 256000000",
		},
		{name: "Q04 equal in other words", spec: `{resources: {requests: {cpu: "1.5"}, limits: {cpu: 1500m}}}`},
		{name: "Q06 a number", spec: `{resources: {requests: {cpu: 1}}}`},
		{
			name: "negative",
			spec: `{resources: {requests: {cpu: -1}, limits: {memory: -1Mi}}}`,
			want: []string{"spec.resources.limits[memory]: Invalid value", "spec.resources.requests[cpu]: Invalid value"},
		},
		{name: "the largest", spec: `{resources: {limits: {memory: 9E}, requests: {memory: 7Ei}}}`},
		{
			name: "unknown resources",
			spec: `{resources: {limits: {gpu: 1, storage: 1Gi, pods: 1, kubernetes.io/a: 1, hugepages-: 1, hugepages-x: 1, hugepages-0: 1, Example.com/a: 1}}}`,
			want: []string{
				"spec.resources.limits[Example.com/a]: Invalid value",
				"spec.resources.limits[gpu]: Invalid value", "spec.resources.limits[hugepages-]: Invalid value",
				"spec.resources.limits[hugepages-0]: Invalid value", "spec.resources.limits[hugepages-x]: Invalid value",
				"spec.resources.limits[kubernetes.io/a]: Invalid value", "spec.resources.limits[pods]: Invalid value",
				"spec.resources.limits[storage]: Invalid value",
				"spec.resources: Forbidden",
			},
		},
		{name: "an extended resource", spec: `{resources: {limits: {example.com/gpu: 2}, requests: {example.com/gpu: 2}}}`},
		{
			name: "half of an extended resource",
			spec: `{resources: {limits: {example.com/gpu: 500m}}}`,
			want: []string{"spec.resources.limits[example.com/gpu]: Invalid value"},
		},
		{
			name: "an extended resource below its limit",
			spec: `{resources: {limits: {example.com/gpu: 2}, requests: {example.com/gpu: 1}}}`,
			want: []string{"spec.resources.requests[example.com/gpu]: Invalid value"},
		},
		{
			name: "an extended resource without limit",
			spec: `{resources: {requests: {example.com/gpu: 1}}}`,
			want: []string{"spec.resources.limits[example.com/gpu]: Required value"},
		},
		{name: "huge pages", spec: `{resources: {limits: {hugepages-2Mi: 4Mi, memory: 1Gi}, requests: {hugepages-2Mi: 4Mi}}}`},
		{
			name: "huge pages below their limit",
			spec: `{resources: {limits: {hugepages-2Mi: 4Mi, memory: 1Gi}, requests: {hugepages-2Mi: 2Mi}}}`,
			want: []string{"spec.resources.requests[hugepages-2Mi]: Invalid value"},
		},
		{
			name: "huge pages that are not whole",
			spec: `{resources: {limits: {hugepages-2Mi: 3Mi, cpu: 1}}}`,
			want: []string{"spec.resources.limits[hugepages-2Mi]: Invalid value"},
		},
		{name: "huge pages alone", spec: `{resources: {limits: {hugepages-2Mi: 4Mi}}}`, want: []string{"spec.resources: Forbidden"}},
		{name: "claims", spec: `{resources: {claims: [{name: a}]}}`, want: []string{"spec.resources.claims: Forbidden"}},
	})
}
