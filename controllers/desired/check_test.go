package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckNamesWhatNoChildCarries(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"nothing": {"{ports: [{name: web, port: 80, nodePort: 30080}], probes: {readiness: {httpGet: {port: web}}, liveness: {exec: {command: [a]}}}}", nil},
		"S03 a node port of ClusterIP": {"{ports: [{port: 80}, {port: 81, nodePort: 30081}], service: {type: ClusterIP}}",
			[]string{"spec.ports[1].nodePort: a Service of type ClusterIP has no node ports"}},
		"G04 an annotation": {"{ports: [{port: 80}], service: {annotations: {lb.example.com/id: a, other.example.com/b: c}}}",
			[]string{"spec.service.annotations[other.example.com/b]: the operator does not allow this key"}},
		"probes of ports that are none": {"{ports: [{port: 80}, {port: 81}], probes: {readiness: {tcpSocket: {port: web}}, startup: {httpGet: {port: tcp-80}}}}",
			[]string{`spec.probes.readiness.tcpSocket.port: no entry of spec.ports is called "web"`,
				`spec.probes.startup.httpGet.port: no entry of spec.ports is called "tcp-80"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Check(Input{App: myApp(t, c.spec), Options: usual})); diff != "" {
				t.Errorf("what the condition names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestG04AnnotationsHoldWithoutAdmission(t *testing.T) {
	svc := service(myApp(t, "{ports: [{port: 80}], service: {annotations: {lb.example.com/id: a, other.example.com/b: c}}}"))
	if diff := cmp.Diff(map[string]string{"lb.example.com/id": "a"}, svc.Annotations); diff != "" {
		t.Errorf("annotations of the Service (-want +got):\n%s", diff)
	}
}
