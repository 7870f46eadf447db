package webhooks

import "testing"

func TestValidateProbes(t *testing.T) {
	const ports = `ports: [{name: web, port: 80}, {name: dns, port: 53, protocol: UDP}], `
	live := func(probe string) string { return `{` + ports + `probes: {liveness: {` + probe + `}}}` }
	const path = "spec.probes.liveness."
	runSpecCases(t, []specCase{
		{name: "HTTP by number", spec: live(`httpGet: {port: 8080, path: /, scheme: HTTPS, httpHeaders: [{name: Host, value: a}]}`)},
		{name: "HTTP by name", spec: live(`httpGet: {port: web}`)},
		{name: "TCP", spec: live(`tcpSocket: {port: web}`)},
		{name: "gRPC", spec: live(`grpc: {port: 9000, service: ""}`)},
		{name: "exec", spec: live(`exec: {command: ["true"]}`)},
		{name: "no handler", spec: live(`periodSeconds: 1`), want: []string{"spec.probes.liveness: Required value"}},
		{name: "two handlers", spec: live(`tcpSocket: {port: 1}, exec: {command: [a]}`), want: []string{"spec.probes.liveness: Forbidden"}},
		{name: "no command", spec: live(`exec: {}`), want: []string{path + "exec.command: Required value"}},
		{name: "a number out of range", spec: live(`httpGet: {port: 0}`), want: []string{path + "httpGet.port: Invalid value"}},
		{name: "a gRPC number out of range", spec: live(`grpc: {port: 70000}`), want: []string{path + "grpc.port: Invalid value"}},
		{name: "an unknown name", spec: live(`httpGet: {port: http}`), want: []string{path + "httpGet.port: Invalid value"}, says: "spec.ports"},
		{name: "a name of UDP", spec: live(`tcpSocket: {port: dns}`), want: []string{path + "tcpSocket.port: Invalid value"}, says: "TCP"},
		{name: "P07 a quoted number", spec: live(`httpGet: {port: "8080"}`), want: []string{path + "httpGet.port: Invalid value"}, says: "drop the quotes"},
		{name: "X02 another host by HTTP", spec: live(`httpGet: {port: 80, host: 169.254.169.254}`), want: []string{path + "httpGet.host: Forbidden"}},
		{name: "X02 another host by TCP", spec: live(`tcpSocket: {port: 80, host: 10.0.0.1}`), want: []string{path + "tcpSocket.host: Forbidden"}},
		{name: "a scheme", spec: live(`httpGet: {port: 80, scheme: http}`), want: []string{path + "httpGet.scheme: Unsupported value"}},
		{name: "a header", spec: live(`httpGet: {port: 80, httpHeaders: [{name: "a b"}]}`), want: []string{path + "httpGet.httpHeaders[0].name: Invalid value"}},
		{name: "C01 a field that API servers drop", spec: live(`httpGet: {port: 80, protocol: HTTP1}`), want: []string{path + "httpGet.protocol: Forbidden"}},
		{name: "C01 another one", spec: live(`grpc: {port: 80, service: "", mode: TLS}`), want: []string{path + "grpc.mode: Forbidden"}},
		{
			name: "negative numbers",
			spec: live(`tcpSocket: {port: 1}, initialDelaySeconds: -1, timeoutSeconds: -1, periodSeconds: -1, successThreshold: -1, failureThreshold: -1, terminationGracePeriodSeconds: -1`),
			want: []string{
				path + "initialDelaySeconds: Invalid value", path + "timeoutSeconds: Invalid value", path + "periodSeconds: Invalid value",
				path + "successThreshold: Invalid value", path + "failureThreshold: Invalid value", path + "terminationGracePeriodSeconds: Invalid value",
			},
		},
		{
			name: "successThreshold is for readiness",
			spec: `{probes: {liveness: {tcpSocket: {port: 1}, successThreshold: 2}, readiness: {tcpSocket: {port: 1}, successThreshold: 2}, startup: {tcpSocket: {port: 1}, successThreshold: 2}}}`,
			want: []string{path + "successThreshold: Invalid value", "spec.probes.startup.successThreshold: Invalid value"},
		},
		{
			name: "a grace period is not for readiness",
			spec: `{probes: {liveness: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}, readiness: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}, startup: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}}}`,
			want: []string{"spec.probes.readiness.terminationGracePeriodSeconds: Forbidden"},
		},
	})
}
