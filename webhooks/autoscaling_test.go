package webhooks

import "testing"

func TestValidateAutoscaling(t *testing.T) {
	with := func(behavior string) string { return `{autoscaling: {maxReplicas: 2, behavior: ` + behavior + `}}` }
	runSpecCases(t, []specCase{
		{name: "Z05 bounds", spec: `{autoscaling: {minReplicas: 1, maxReplicas: 1}}`},
		{name: "Z05 bounds the wrong way round", spec: `{autoscaling: {minReplicas: 5, maxReplicas: 2}}`, want: []string{"spec.autoscaling.minReplicas: Invalid value"}, says: "maxReplicas"},
		{name: "Z02 size 0 beside autoscaling", spec: `{size: 0, autoscaling: {minReplicas: 2, maxReplicas: 5}}`},
		{name: "Z03 any size beside autoscaling", spec: `{size: 7, autoscaling: {minReplicas: 2, maxReplicas: 5}}`},
		{
			name: "numbers below 1",
			spec: `{autoscaling: {minReplicas: 0, targetCPUUtilizationPercentage: 0, targetMemoryUtilizationPercentage: -1}}`,
			want: []string{
				"spec.autoscaling.minReplicas: Invalid value", "spec.autoscaling.maxReplicas: Invalid value",
				"spec.autoscaling.targetCPUUtilizationPercentage: Invalid value", "spec.autoscaling.targetMemoryUtilizationPercentage: Invalid value",
			},
		},
		{name: "behavior", spec: with(`{scaleUp: {stabilizationWindowSeconds: 3600, selectPolicy: Disabled, tolerance: "0.05", policies: [{type: Percent, value: 900, periodSeconds: 1800}]}, scaleDown: {}}`)},
		{name: "an empty list of policies", spec: with(`{scaleUp: {policies: []}}`), want: []string{"spec.autoscaling.behavior.scaleUp.policies: Required value"}},
		{
			name: "rules",
			spec: with(`{scaleDown: {stabilizationWindowSeconds: 3601, selectPolicy: Best, tolerance: "-0.1"}}`),
			want: []string{
				"spec.autoscaling.behavior.scaleDown.stabilizationWindowSeconds: Invalid value", "spec.autoscaling.behavior.scaleDown.selectPolicy: Unsupported value",
				"spec.autoscaling.behavior.scaleDown.tolerance: Invalid value",
			},
		},
		{
			name: "policies",
			spec: with(`{scaleUp: {stabilizationWindowSeconds: -1, policies: [{type: Pods, value: 1, periodSeconds: 1}, {type: Nodes, value: 0, periodSeconds: 0}, {type: Pods, value: 1, periodSeconds: 1801}]}}`),
			want: []string{
				"spec.autoscaling.behavior.scaleUp.stabilizationWindowSeconds: Invalid value", "spec.autoscaling.behavior.scaleUp.policies[1].type: Unsupported value",
				"spec.autoscaling.behavior.scaleUp.policies[1].value: Invalid value", "spec.autoscaling.behavior.scaleUp.policies[1].periodSeconds: Invalid value",
				"spec.autoscaling.behavior.scaleUp.policies[2].periodSeconds: Invalid value",
			},
		},
	})
}
