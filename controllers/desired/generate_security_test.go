package desired

import (
	corev1 "k8s.io/api/core/v1"
)

// The security contexts here are those that admission accepts: what a profile forbids never comes out.

func (g generator) podSecurityContext(restricted bool) *corev1.PodSecurityContext {
	if g.maybe() {
		return nil
	}
	sc := &corev1.PodSecurityContext{
		RunAsUser: g.user(restricted), RunAsGroup: optional[int64](g, 0, 1000), RunAsNonRoot: g.nonRoot(restricted),
		FSGroup: optional[int64](g, 2000), SeccompProfile: g.seccomp(), SELinuxOptions: g.seLinux(),
		SupplementalGroups:  one(g, nil, []int64{}, []int64{3000}),
		FSGroupChangePolicy: optional(g, corev1.FSGroupChangeOnRootMismatch),
		AppArmorProfile:     g.appArmor(),
	}
	if g.maybe() {
		sc.Sysctls = []corev1.Sysctl{{Name: "net.ipv4.tcp_syncookies", Value: "1"}}
	}
	return sc
}

func (g generator) securityContext(restricted bool) *corev1.SecurityContext {
	if g.maybe() {
		return nil
	}
	sc := &corev1.SecurityContext{
		RunAsUser: g.user(restricted), RunAsNonRoot: g.nonRoot(restricted), SeccompProfile: g.seccomp(),
		SELinuxOptions: g.seLinux(), AppArmorProfile: g.appArmor(),
		ReadOnlyRootFilesystem: optional(g, true, false), Privileged: optional(g, false),
		ProcMount: optional(g, corev1.DefaultProcMount),
	}
	if restricted {
		sc.AllowPrivilegeEscalation = optional(g, false)
		sc.Capabilities = one(g, nil,
			&corev1.Capabilities{Add: []corev1.Capability{"NET_BIND_SERVICE"}},
			&corev1.Capabilities{Drop: []corev1.Capability{"KILL", "ALL"}})
		return sc
	}
	sc.AllowPrivilegeEscalation = optional(g, true, false)
	sc.Capabilities = one(g, nil,
		&corev1.Capabilities{Add: []corev1.Capability{"CHOWN", "SETUID"}, Drop: []corev1.Capability{}},
		&corev1.Capabilities{Drop: []corev1.Capability{"ALL"}})
	return sc
}

func (g generator) user(restricted bool) *int64 {
	if restricted {
		return optional[int64](g, 1000)
	}
	return optional[int64](g, 0, 1000)
}

func (g generator) nonRoot(restricted bool) *bool {
	if restricted {
		return optional(g, true)
	}
	return optional(g, true, false)
}

func (g generator) seccomp() *corev1.SeccompProfile {
	return one(g, nil,
		&corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		&corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: ptr("profiles/web.json")})
}

func (g generator) seLinux() *corev1.SELinuxOptions {
	return one(g, nil, &corev1.SELinuxOptions{Type: "container_t", Level: "s0:c1,c2"})
}

func (g generator) appArmor() *corev1.AppArmorProfile {
	return one(g, nil, &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault})
}
