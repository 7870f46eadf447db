package webhooks

import "testing"

func TestValidateChildren(t *testing.T) {
	const everything = `{ports: [{port: 80}], ingress: {host: a.b, tls: {issuerRef: {name: ca}}}, autoscaling: {maxReplicas: 2}, podDisruptionBudget: {minAvailable: 1}, metrics: {}}`
	runSpecCases(t, []specCase{
		{name: "all made", spec: everything},
		{
			name: "none made", spec: everything,
			opts: Options{DisabledChildren: []string{"ingress", "certificate", "horizontalpodautoscaler", "poddisruptionbudget", "servicemonitor"}},
			want: []string{
				"spec.ingress: Forbidden", "spec.ingress.tls.issuerRef: Forbidden", "spec.autoscaling: Forbidden",
				"spec.podDisruptionBudget: Forbidden", "spec.metrics: Forbidden",
			},
			says: "this operator makes no Ingress (--disable-children); remove the field",
		},
		{name: "one not made, another asked for", spec: `{autoscaling: {maxReplicas: 2}}`, opts: Options{DisabledChildren: []string{"ingress"}}},
		{name: "a budget that is not wanted", spec: `{podDisruptionBudget: {disabled: true}}`, opts: Options{DisabledChildren: []string{"poddisruptionbudget"}}},
		{name: "nothing asked for", spec: `{}`, opts: Options{DisabledChildren: []string{"ingress", "poddisruptionbudget"}}},
	})
}
