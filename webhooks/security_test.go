package webhooks

import "testing"

func TestValidateSecurityContext(t *testing.T) {
	const path = "spec.securityContext."
	ctx := func(fields string) string { return `{securityContext: {` + fields + `}}` }
	restricted := func(fields string) string {
		return `{securityProfile: Restricted, securityContext: {` + fields + `}}`
	}
	runSpecCases(t, []specCase{
		{name: "X02 privileged", spec: ctx(`privileged: true`), want: []string{path + "privileged: Forbidden"}},
		{name: "not privileged", spec: ctx(`privileged: false, readOnlyRootFilesystem: true`)},
		{name: "escalation under Baseline", spec: ctx(`allowPrivilegeEscalation: true`)},
		{
			name: "escalation under Restricted", spec: restricted(`allowPrivilegeEscalation: true`),
			want: []string{path + "allowPrivilegeEscalation: Forbidden"}, says: "Restricted",
		},
		{
			name: "the operator's default profile", spec: ctx(`allowPrivilegeEscalation: true`), opts: Options{DefaultSecurityProfile: "Restricted"},
			want: []string{path + "allowPrivilegeEscalation: Forbidden"},
		},
		{
			name: "a profile of its own wins", spec: `{securityProfile: Baseline, securityContext: {allowPrivilegeEscalation: true}}`,
			opts: Options{DefaultSecurityProfile: "Restricted"},
		},
		{
			name: "capabilities", spec: ctx(`capabilities: {add: [NET_BIND_SERVICE, NET_RAW, CHOWN, ALL, chown], drop: [KILL]}`),
			want: []string{path + "capabilities.add[1]: Unsupported value", path + "capabilities.add[3]: Unsupported value", path + "capabilities.add[4]: Unsupported value"},
		},
		{
			name: "capabilities under Restricted", spec: restricted(`capabilities: {add: [NET_BIND_SERVICE, CHOWN]}`),
			want: []string{path + "capabilities.add[1]: Unsupported value"}, says: `supported values: "NET_BIND_SERVICE"`,
		},
		{name: "dropping ALL under Restricted", spec: restricted(`capabilities: {drop: [ALL, KILL]}`)},
		{name: "dropping less under Restricted", spec: restricted(`capabilities: {drop: [KILL]}`), want: []string{path + "capabilities.drop: Required value"}},
		{name: "dropping nothing under Restricted", spec: restricted(`capabilities: {drop: []}`), want: []string{path + "capabilities.drop: Required value"}},
		{name: "procMount", spec: ctx(`procMount: Default`)},
		{name: "procMount unmasked", spec: ctx(`procMount: Unmasked`), want: []string{path + "procMount: Unsupported value"}},
		{name: "a host process", spec: ctx(`windowsOptions: {hostProcess: true}`), want: []string{path + "windowsOptions.hostProcess: Forbidden"}},
		{name: "SELinux", spec: ctx(`seLinuxOptions: {type: container_t, level: "s0:c1"}`)},
		{
			name: "SELinux user, role, type", spec: ctx(`seLinuxOptions: {user: a, role: b, type: spc_t}`),
			want: []string{path + "seLinuxOptions.type: Unsupported value", path + "seLinuxOptions.user: Forbidden", path + "seLinuxOptions.role: Forbidden"},
		},
		{name: "seccomp Localhost", spec: ctx(`seccompProfile: {type: Localhost, localhostProfile: profiles/a.json}`)},
		{name: "seccomp off", spec: ctx(`seccompProfile: {type: Unconfined}`), want: []string{path + "seccompProfile.type: Unsupported value"}},
		{name: "seccomp Localhost without file", spec: ctx(`seccompProfile: {type: Localhost}`), want: []string{path + "seccompProfile.localhostProfile: Required value"}},
		{name: "seccomp file of another type", spec: ctx(`seccompProfile: {type: RuntimeDefault, localhostProfile: a}`), want: []string{path + "seccompProfile.localhostProfile: Forbidden"}},
		{name: "seccomp file above its directory", spec: ctx(`seccompProfile: {type: Localhost, localhostProfile: a/../../b}`), want: []string{path + "seccompProfile.localhostProfile: Invalid value"}},
		{name: "AppArmor Localhost", spec: ctx(`appArmorProfile: {type: Localhost, localhostProfile: /usr/bin/app}`)},
		{name: "AppArmor off", spec: ctx(`appArmorProfile: {type: Unconfined}`), want: []string{path + "appArmorProfile.type: Unsupported value"}},
		{name: "AppArmor padded", spec: ctx(`appArmorProfile: {type: Localhost, localhostProfile: " a"}`), want: []string{path + "appArmorProfile.localhostProfile: Invalid value"}},
		{name: "root under Baseline", spec: ctx(`runAsUser: 0, runAsGroup: 0, runAsNonRoot: false`)},
		{
			name: "root under Restricted", spec: restricted(`runAsUser: 0, runAsGroup: 0, runAsNonRoot: false`),
			want: []string{path + "runAsUser: Invalid value", path + "runAsNonRoot: Invalid value"},
		},
		{
			name: "IDs out of range", spec: ctx(`runAsUser: -1, runAsGroup: 2147483648`),
			want: []string{path + "runAsGroup: Invalid value", path + "runAsUser: Invalid value"},
		},
	})
}

func TestValidatePodSecurityContext(t *testing.T) {
	const path = "spec.podSecurityContext."
	ctx := func(fields string) string { return `{podSecurityContext: {` + fields + `}}` }
	runSpecCases(t, []specCase{
		{name: "everything usual", spec: ctx(`runAsUser: 1000, fsGroup: 1000, supplementalGroups: [1, 2], fsGroupChangePolicy: OnRootMismatch, supplementalGroupsPolicy: Strict, seLinuxChangePolicy: Recursive`)},
		{name: "root under Restricted", spec: `{securityProfile: Restricted, podSecurityContext: {runAsUser: 0}}`, want: []string{path + "runAsUser: Invalid value"}},
		{
			name: "groups out of range", spec: ctx(`fsGroup: -1, supplementalGroups: [1, -1]`),
			want: []string{path + "fsGroup: Invalid value", path + "supplementalGroups[1]: Invalid value"},
		},
		{
			name: "policies", spec: ctx(`fsGroupChangePolicy: Never, supplementalGroupsPolicy: a, seLinuxChangePolicy: b`),
			want: []string{path + "fsGroupChangePolicy: Unsupported value", path + "supplementalGroupsPolicy: Unsupported value", path + "seLinuxChangePolicy: Unsupported value"},
		},
		{
			name: "sysctls", spec: ctx(`sysctls: [{name: net.ipv4.tcp_syncookies, value: "1"}, {name: kernel.msgmax, value: "1"}, {name: net.ipv4.tcp_syncookies, value: "0"}]`),
			want: []string{path + "sysctls[1].name: Unsupported value", path + "sysctls[2].name: Duplicate value"},
		},
		{name: "seccomp off", spec: ctx(`seccompProfile: {type: Unconfined}`), want: []string{path + "seccompProfile.type: Unsupported value"}},
		{name: "a host process", spec: ctx(`windowsOptions: {hostProcess: true}`), want: []string{path + "windowsOptions.hostProcess: Forbidden"}},
	})
}
