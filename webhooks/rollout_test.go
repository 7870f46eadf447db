package webhooks

import "testing"

func TestValidateRollout(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "nothing", spec: `{rollout: {}}`},
		{name: "all set", spec: `{rollout: {type: RollingUpdate, maxUnavailable: 25%, maxSurge: 150%, minReadySeconds: 5, progressDeadlineSeconds: 6, revisionHistoryLimit: 0, restartOnConfigChange: true}}`},
		{name: "Recreate", spec: `{rollout: {type: Recreate, minReadySeconds: 5}}`},
		{
			name: "Recreate with steps",
			spec: `{rollout: {type: Recreate, maxUnavailable: 0, maxSurge: 0}}`,
			want: []string{"spec.rollout.maxUnavailable: Forbidden", "spec.rollout.maxSurge: Forbidden"},
			says: "choose RollingUpdate",
		},
		{name: "no surge", spec: `{rollout: {maxSurge: 0}}`},
		{name: "none missing", spec: `{rollout: {maxUnavailable: 0%}}`},
		{name: "neither", spec: `{rollout: {maxUnavailable: 0%, maxSurge: 0}}`, want: []string{"spec.rollout.maxUnavailable: Invalid value"}, says: "maxSurge"},
		{
			name: "percentages",
			spec: `{rollout: {maxUnavailable: 101%, maxSurge: 10000%}}`,
			want: []string{"spec.rollout.maxUnavailable: Invalid value", "spec.rollout.maxSurge: Invalid value"},
			says: "100%",
		},
		{
			name: "neither number nor percentage",
			spec: `{rollout: {maxUnavailable: half, maxSurge: "1"}}`,
			want: []string{"spec.rollout.maxUnavailable: Invalid value", "spec.rollout.maxSurge: Invalid value"},
			says: "drop the quotes",
		},
		{
			name: "negative numbers",
			spec: `{rollout: {maxUnavailable: -1, maxSurge: -1, minReadySeconds: -1, revisionHistoryLimit: -1}}`,
			want: []string{
				"spec.rollout.maxUnavailable: Invalid value", "spec.rollout.maxSurge: Invalid value",
				"spec.rollout.minReadySeconds: Invalid value", "spec.rollout.revisionHistoryLimit: Invalid value",
			},
		},
		{name: "an unknown type", spec: `{rollout: {type: BlueGreen}}`, want: []string{"spec.rollout.type: Unsupported value"}},
		{name: "a deadline that passes first", spec: `{rollout: {minReadySeconds: 60, progressDeadlineSeconds: 60}}`, want: []string{"spec.rollout.progressDeadlineSeconds: Invalid value"}},
		{name: "the default deadline passes first", spec: `{rollout: {minReadySeconds: 600}}`, want: []string{"spec.rollout.progressDeadlineSeconds: Invalid value"}, says: "600"},
		{name: "it does not", spec: `{rollout: {minReadySeconds: 599}}`},
	})
}
