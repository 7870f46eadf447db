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
		{"no readiness probe, an autoscaler", `{` + quiet + `, ports: [{port: 80}], autoscaling: {maxReplicas: 2}}`, []string{"spec.probes.readiness"}},
		{"Z05 no CPU request", `{resources: {requests: {memory: 1Gi}}, autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 30}}`, []string{"spec.resources.requests.cpu"}},
		{"Z05 no requests at all", `{resources: {}, autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 30}}`, []string{"spec.resources.requests", "spec.resources.requests.cpu"}},
		{"Z05 a limit is a request", `{resources: {limits: {cpu: 1}}, autoscaling: {maxReplicas: 4}}`, nil},
		{"Z05 the default target", `{resources: {requests: {memory: 1Gi}}, autoscaling: {maxReplicas: 4}}`, []string{"spec.resources.requests.cpu"}},
		{"Z05 no memory request", `{` + quiet + `, autoscaling: {maxReplicas: 4, targetMemoryUtilizationPercentage: 30}}`, []string{"spec.resources.requests.memory"}},
		{"Z05 memory alone", `{resources: {requests: {memory: 1Gi}}, autoscaling: {maxReplicas: 4, targetMemoryUtilizationPercentage: 30}}`, nil},
		{"a budget that blocks", `{` + quiet + `, podDisruptionBudget: {maxUnavailable: 0}}`, []string{"spec.podDisruptionBudget"}},
		{"a claim", `{` + quiet + `, mounts: [{path: /a, emptyDir: {}}, {path: /b, persistentVolumeClaim: {claimName: b}}]}`, []string{"spec.mounts[1].persistentVolumeClaim"}},
		{"a claim that is only read", `{` + quiet + `, mounts: [{path: /b, readOnly: true, persistentVolumeClaim: {claimName: b}}]}`, nil},
		{"a claim under Recreate", `{` + quiet + `, rollout: {type: Recreate}, mounts: [{path: /b, persistentVolumeClaim: {claimName: b}}]}`, nil},
		{"S04 both fit", `{` + quiet + `, ports: [{port: 80}], service: {type: LoadBalancer, externalTrafficPolicy: Local, loadBalancerClass: internal}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []string
			for _, w := range warnings(myApp(t, c.spec)) {
				path, _, _ := strings.Cut(w, ":")
				paths = append(paths, path)
			}
			checkWarnings(t, warnings(myApp(t, c.spec)), "")
			if diff := cmp.Diff(c.paths, paths); diff != "" {
				t.Errorf("paths of warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// checkWarnings: each says the words and is short. The API server cuts warnings above 256 characters once they come to
// 4096 together.
func checkWarnings(t *testing.T, all []string, says string) {
	t.Helper()
	for _, w := range all {
		if len(w) > 256 {
			t.Errorf("%d characters: %s", len(w), w)
		}
		if !strings.Contains(w, says) {
			t.Errorf("a user sees %q, which does not say %q", w, says)
		}
	}
}
