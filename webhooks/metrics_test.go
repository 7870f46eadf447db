package webhooks

import "testing"

func TestValidateMetrics(t *testing.T) {
	with := func(metrics string) string {
		return `{ports: [{port: 80}, {port: 9090}, {port: 53, protocol: UDP}], metrics: ` + metrics + `}`
	}
	runSpecCases(t, []specCase{
		{name: "the first port", spec: with(`{}`)},
		{name: "all set", spec: with(`{port: 9090, path: "/metrics?a=b", interval: 1m30s}`)},
		{name: "no port", spec: `{metrics: {}}`, want: []string{"spec.metrics: Forbidden"}, says: "spec.ports"},
		{name: "an unknown port", spec: with(`{port: 81}`), want: []string{"spec.metrics.port: Invalid value"}},
		{name: "a UDP port", spec: with(`{port: 53}`), want: []string{"spec.metrics.port: Invalid value"}},
		{name: "a relative path", spec: with(`{path: metrics}`), want: []string{"spec.metrics.path: Invalid value"}},
		{name: "a blank in the path", spec: with(`{path: "/a b"}`), want: []string{"spec.metrics.path: Invalid value"}},
		{name: "intervals in order", spec: with(`{interval: 1h0m1s}`)},
		{name: "intervals out of order", spec: with(`{interval: 1s1h}`), want: []string{"spec.metrics.interval: Invalid value"}},
		{name: "a fraction", spec: with(`{interval: 1.5s}`), want: []string{"spec.metrics.interval: Invalid value"}},
		{name: "no unit", spec: with(`{interval: "30"}`), want: []string{"spec.metrics.interval: Invalid value"}},
		{name: "no time", spec: with(`{interval: 0m0s}`), want: []string{"spec.metrics.interval: Invalid value"}, says: "longer than 0"},
	})
}
