package webhooks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	const quiet = `resources: {requests: {cpu: 1}}`
	for _, c := range []struct {
		name, spec string
		paths      []string
	}{
		{"a careful MyApp", `{size: 3, ` + quiet + `, ports: [{port: 80, nodePort: 30002}], probes: {readiness: {tcpSocket: {port: 80}}}}`, nil},
		{"no requests", `{}`, []string{"spec.resources.requests"}},
		{"a limit is a request", `{resources: {limits: {memory: 1Gi}}}`, nil},
		{"M01 no tag beside a registry's port", `{image: "registry.example.com:5000/team/web", ` + quiet + `}`, []string{"spec.image"}},
		{"the tag latest", `{image: "nginx:latest", ` + quiet + `}`, []string{"spec.image"}},
		{"the tag latest with a digest", `{image: "nginx:latest@sha256:` + strings.Repeat("0", 64) + `", ` + quiet + `}`, nil},
		{"no readiness probe", `{size: 2, ` + quiet + `, ports: [{port: 80}]}`, []string{"spec.probes.readiness"}},
		{"no readiness probe, one pod", `{size: 1, ` + quiet + `, ports: [{port: 80}]}`, nil},
		{"no readiness probe, no ports", `{size: 2, ` + quiet + `}`, nil},
		{"a node port outside", `{` + quiet + `, ports: [{port: 80, nodePort: 8080}]}`, []string{"spec.ports[0].nodePort"}},
		{"S04 a policy that ClusterIP has not", `{` + quiet + `, ports: [{port: 80}], service: {type: ClusterIP, externalTrafficPolicy: Local}}`, []string{"spec.service.externalTrafficPolicy"}},
		{"S04 a class that NodePort has not", `{` + quiet + `, ports: [{port: 80}], service: {loadBalancerClass: internal}}`, []string{"spec.service.loadBalancerClass"}},
		{"S04 both fit", `{` + quiet + `, ports: [{port: 80}], service: {type: LoadBalancer, externalTrafficPolicy: Local, loadBalancerClass: internal}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, w := range warnings(myApp(t, c.spec)) {
				path, _, _ := strings.Cut(w, ":")
				paths = append(paths, path)
				// The API server cuts warnings above 256 characters once they come to 4096 together.
				if len(w) > 256 {
					t.Errorf("%d characters: %s", len(w), w)
				}
			}
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Errorf("paths of warnings (-want +got):\n%s", diff)
			}
		})
	}
}
