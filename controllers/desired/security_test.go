package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A MyApp's own contexts are laid over the profile's, field by field.
func TestSecurityContexts(t *testing.T) {
	const (
		baselinePod  = "{seccompProfile: {type: RuntimeDefault}}"
		baseline     = "{allowPrivilegeEscalation: false}"
		restrictedPd = "{runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}"
		restricted   = "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}"
	)
	cases := []struct{ name, spec, pod, container string }{
		{"Baseline", "{}", baselinePod, baseline},
		{"Restricted", "securityProfile: Restricted", restrictedPd, restricted},
		{"Baseline, empty contexts", "{podSecurityContext: {}, securityContext: {}}", baselinePod, baseline},
		{"Restricted, empty contexts", "{securityProfile: Restricted, podSecurityContext: {}, securityContext: {}}", restrictedPd, restricted},
		{"Baseline, other fields", "{podSecurityContext: {fsGroup: 2}, securityContext: {runAsUser: 1}}",
			"{fsGroup: 2, seccompProfile: {type: RuntimeDefault}}", "{allowPrivilegeEscalation: false, runAsUser: 1}"},
		{"Baseline, the same fields", "{podSecurityContext: {seccompProfile: {type: Localhost, localhostProfile: p}}, securityContext: {allowPrivilegeEscalation: true}}",
			"{seccompProfile: {type: Localhost, localhostProfile: p}}", "{allowPrivilegeEscalation: true}"},
		{"Restricted, other fields", "{securityProfile: Restricted, podSecurityContext: {runAsUser: 1}, securityContext: {runAsGroup: 2}}",
			"{runAsNonRoot: true, runAsUser: 1, seccompProfile: {type: RuntimeDefault}}",
			"{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsGroup: 2, capabilities: {drop: [ALL]}}"},
		{"Restricted, writable root", "{securityProfile: Restricted, securityContext: {readOnlyRootFilesystem: false}}",
			restrictedPd, "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: false, capabilities: {drop: [ALL]}}"},
		{"Restricted, a capability added", "{securityProfile: Restricted, securityContext: {capabilities: {add: [NET_BIND_SERVICE]}}}",
			restrictedPd, "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}}"},
		{"Restricted, other capabilities dropped", "{securityProfile: Restricted, securityContext: {capabilities: {drop: [ALL, KILL]}}}",
			restrictedPd, "{allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL, KILL]}}"},
		{"stored without admission: privileged", "securityContext: {privileged: true}", baselinePod, "{privileged: true}"},
		{"stored without admission: SYS_ADMIN", "securityContext: {capabilities: {add: [CHOWN, SYS_ADMIN]}}",
			baselinePod, "{capabilities: {add: [CHOWN, SYS_ADMIN]}}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			app := myApp(t, c.spec)
			if diff := cmp.Diff(parsed(t, c.pod), parsed(t, yamlOf(t, pod(app).SecurityContext))); diff != "" {
				t.Errorf("security context of the pod (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(parsed(t, c.container), parsed(t, yamlOf(t, containerOf(app).SecurityContext))); diff != "" {
				t.Errorf("security context of the container (-want +got):\n%s", diff)
			}
		})
	}
}

func parsed(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRestrictedHasAWritableTmp(t *testing.T) {
	app := myApp(t, "securityProfile: Restricted")
	if diff := cmp.Diff(parsed(t, "[{name: tmp, emptyDir: {}}]"), parsed(t, yamlOf(t, pod(app).Volumes))); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(parsed(t, "[{name: tmp, mountPath: /tmp}]"), parsed(t, yamlOf(t, containerOf(app).VolumeMounts))); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	if v := pod(myApp(t, "")).Volumes; v != nil {
		t.Errorf("Baseline pods get volumes: %v", v)
	}
}

func TestTokenIsMountedOnlyOnRequest(t *testing.T) {
	without, with := pod(myApp(t, "")), pod(myApp(t, "serviceAccountName: web"))
	if a := without.AutomountServiceAccountToken; a == nil || *a {
		t.Error("a pod without serviceAccountName carries the token of the namespace's default account")
	}
	if a := with.AutomountServiceAccountToken; (a != nil && !*a) || *with.ServiceAccountName != "web" {
		t.Errorf("serviceAccountName web gives no token of web: %s", yamlOf(t, with))
	}
}
