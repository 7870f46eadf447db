package webhooks

import "testing"

func TestValidatePorts(t *testing.T) {
	runSpecCases(t, []specCase{
		{
			name: "P01 one number under two protocols",
			spec: `{ports: [{name: dns-tcp, port: 5353, protocol: TCP}, {name: dns-udp, port: 5353, protocol: UDP}]}`,
		},
		{
			name: "P02 empty protocol equals TCP",
			spec: `{ports: [{name: a, port: 80, targetPort: 8080}, {name: b, port: 80, protocol: TCP, targetPort: 8081}]}`,
			want: []string{"spec.ports[1]: Duplicate value"},
			says: "80/TCP",
		},
		{
			name: "P02 swapped",
			spec: `{ports: [{name: b, port: 80, protocol: TCP, targetPort: 8081}, {name: a, port: 80, targetPort: 8080}]}`,
			want: []string{"spec.ports[1]: Duplicate value"},
		},
		{
			name: "P03 two ports lead to one target port",
			spec: `{ports: [{name: http, port: 80, targetPort: 8080}, {name: admin, port: 8081, targetPort: 8080}]}`,
		},
		{name: "P04 names may be left out", spec: `{ports: [{port: 8080}, {port: 9090}]}`},
		{name: "P04 one named, one not", spec: `{ports: [{port: 8080}, {name: b, port: 9090}]}`},
		{
			name: "P04 a name made up for another entry",
			spec: `{ports: [{name: tcp-80, port: 8080}, {port: 80}]}`,
			want: []string{"spec.ports[0].name: Duplicate value"},
			says: "made up for 80/TCP",
		},
		{
			name: "P04 a name made up for another entry, UDP",
			spec: `{ports: [{port: 53, protocol: UDP}, {name: udp-53, port: 53}]}`,
			want: []string{"spec.ports[1].name: Duplicate value"},
		},
		{name: "P04 such a name on its own port", spec: `{ports: [{name: tcp-80, port: 80}, {port: 81}]}`},
		{name: "P04 such a name alone", spec: `{ports: [{name: tcp-80, port: 8080}]}`},
		{
			name: "one name twice",
			spec: `{ports: [{name: web, port: 80}, {name: web, port: 81}]}`,
			want: []string{"spec.ports[1].name: Duplicate value"},
		},
		{
			name: "P07 a quoted number",
			spec: `{ports: [{name: web, port: 80, targetPort: "8080"}]}`,
			want: []string{"spec.ports[0].targetPort: Invalid value"},
			says: "drop the quotes",
		},
		{
			name: "P09 a named target port",
			spec: `{ports: [{name: web, port: 80, targetPort: http}, {name: alt, port: 81, targetPort: http}]}`,
			want: []string{"spec.ports[0].targetPort: Invalid value", "spec.ports[1].targetPort: Invalid value"},
			says: "use the number",
		},
		{
			name: "numbers out of range",
			spec: `{ports: [{port: 0}, {port: 65536, targetPort: 65536}, {port: 1, targetPort: -1, nodePort: -1}, {port: 65535, targetPort: 65535}]}`,
			want: []string{
				"spec.ports[0].port: Invalid value", "spec.ports[1].port: Invalid value", "spec.ports[1].targetPort: Invalid value",
				"spec.ports[2].targetPort: Invalid value", "spec.ports[2].nodePort: Invalid value",
			},
		},
		{
			name: "protocols",
			spec: `{ports: [{port: 1, protocol: SCTP}, {port: 2, protocol: udp}]}`,
			want: []string{"spec.ports[1].protocol: Unsupported value"},
			says: `"TCP", "UDP", "SCTP"`,
		},
		{
			name: "names",
			spec: `{ports: [{port: 1, name: Web}, {port: 2, name: a.b}, {port: 3, name: 1-a}, {port: 4, name: longer-than-the-fifteen-of-a-container-port}]}`,
			want: []string{"spec.ports[0].name: Invalid value", "spec.ports[1].name: Invalid value"},
		},
		{
			name: "appProtocol",
			spec: `{ports: [{port: 1, appProtocol: http}, {port: 2, appProtocol: kubernetes.io/h2c}, {port: 3, appProtocol: a b}]}`,
			want: []string{"spec.ports[2].appProtocol: Invalid value"},
		},
		{
			name: "one node port twice",
			spec: `{ports: [{port: 1, nodePort: 30001}, {port: 2, nodePort: 30001, protocol: UDP}, {port: 3, nodePort: 30001, protocol: TCP}]}`,
			want: []string{"spec.ports[2].nodePort: Duplicate value"},
		},
		{
			name: "S03 a node port under ClusterIP",
			spec: `{service: {type: ClusterIP}, ports: [{name: web, port: 80, nodePort: 30080}]}`,
			want: []string{"spec.ports[0].nodePort: Forbidden"},
			says: "nodePort 30080",
		},
		{name: "S03 no node port under ClusterIP", spec: `{service: {type: ClusterIP}, ports: [{name: web, port: 80}]}`},
	})
}
