package webhooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateBudget(t *testing.T) {
	runSpecCases(t, []specCase{
		{name: "nothing", spec: `{podDisruptionBudget: {}}`},
		{name: "numbers", spec: `{podDisruptionBudget: {minAvailable: 1}}`},
		{name: "percentages", spec: `{podDisruptionBudget: {maxUnavailable: 100%}}`},
		{name: "disabled", spec: `{podDisruptionBudget: {disabled: true}}`},
		{name: "both", spec: `{podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}}`, want: []string{"spec.podDisruptionBudget.maxUnavailable: Forbidden"}},
		{name: "disabled, but", spec: `{podDisruptionBudget: {disabled: true, minAvailable: 1}}`, want: []string{"spec.podDisruptionBudget.disabled: Forbidden"}},
		{name: "above all", spec: `{podDisruptionBudget: {minAvailable: 101%}}`, want: []string{"spec.podDisruptionBudget.minAvailable: Invalid value"}},
		{name: "below none", spec: `{podDisruptionBudget: {maxUnavailable: -1}}`, want: []string{"spec.podDisruptionBudget.maxUnavailable: Invalid value"}},
		{name: "a fraction", spec: `{podDisruptionBudget: {minAvailable: 0.5%}}`, want: []string{"spec.podDisruptionBudget.minAvailable: Invalid value"}, says: "25%"},
	})
}

func TestBudgetWarnings(t *testing.T) {
	const blocks, idle = "blocks every node drain", "protects nothing"
	for _, c := range []struct{ name, spec, says string }{
		{"none", `{size: 1}`, ""},
		{"the default with one pod", `{size: 1, podDisruptionBudget: {}}`, ""},
		{"disabled with one pod", `{size: 1, podDisruptionBudget: {disabled: true}}`, ""},
		{"one of three", `{size: 3, podDisruptionBudget: {maxUnavailable: 1}}`, ""},
		{"all but one", `{size: 3, podDisruptionBudget: {minAvailable: 2}}`, ""},
		{"all", `{size: 3, podDisruptionBudget: {minAvailable: 3}}`, blocks},
		{"more than there are", `{size: 3, podDisruptionBudget: {minAvailable: 4}}`, blocks},
		{"all by percentage", `{size: 3, podDisruptionBudget: {minAvailable: 100%}}`, blocks},
		{"all by rounding up", `{size: 3, podDisruptionBudget: {minAvailable: 67%}}`, blocks},
		{"not all by rounding up", `{size: 3, podDisruptionBudget: {minAvailable: 66%}}`, ""},
		{"none away", `{size: 3, podDisruptionBudget: {maxUnavailable: 0}}`, blocks},
		{"none away by percentage", `{size: 3, podDisruptionBudget: {maxUnavailable: 0%}}`, blocks},
		{"one away by rounding up", `{size: 3, podDisruptionBudget: {maxUnavailable: 1%}}`, ""},
		{"one pod that must stay", `{size: 1, podDisruptionBudget: {minAvailable: 1}}`, blocks},
		{"one pod that may go", `{size: 1, podDisruptionBudget: {maxUnavailable: 1}}`, idle},
		{"the size by default", `{podDisruptionBudget: {maxUnavailable: 1}}`, idle},
		{"Z02 stopped", `{size: 0, podDisruptionBudget: {minAvailable: 1}, autoscaling: {maxReplicas: 3}}`, ""},
		{"an autoscaler's minimum counts, not size", `{size: 1, autoscaling: {minReplicas: 2, maxReplicas: 4}, podDisruptionBudget: {minAvailable: 1}}`, ""},
		{"an autoscaler's minimum by default", `{size: 5, autoscaling: {maxReplicas: 5}, podDisruptionBudget: {minAvailable: 2}}`, blocks},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := budgetWarnings(&myApp(t, c.spec).Spec)
			if c.says == "" && len(got) > 0 || c.says != "" && len(got) != 1 {
				t.Fatalf("a user sees %q, want it to say %q", got, c.says)
			}
			checkWarnings(t, got, c.says)
		})
	}
}

func TestGuaranteed(t *testing.T) {
	for spec, want := range map[string]int32{
		`{}`: 1, `{size: 0}`: 0, `{size: 3}`: 3,
		`{size: 3, autoscaling: {maxReplicas: 5}}`:                 1,
		`{size: 1, autoscaling: {minReplicas: 2, maxReplicas: 5}}`: 2,
		`{size: 0, autoscaling: {minReplicas: 2, maxReplicas: 5}}`: 0,
	} {
		if diff := cmp.Diff(want, guaranteed(&myApp(t, spec).Spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}
