package webhooks

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// The rules here are those of the Pod Security Standards "baseline" and, under the profile Restricted, "restricted". They
// judge the contexts as given; the profile fills in what they leave out, so only a contradiction can be wrong. The test
// compares the verdicts with Kubernetes' own evaluator.

func isRestricted(spec *v1beta1.MyAppSpec, opts Options) bool {
	profile := spec.SecurityProfile
	if profile == "" {
		profile = opts.DefaultSecurityProfile
	}
	return profile == v1beta1.SecurityProfileRestricted
}

const restrictedHint = "the security profile Restricted forbids it; remove it, or choose the profile Baseline"

func validateSecurityContext(path *field.Path, sc *corev1.SecurityContext, restricted bool) field.ErrorList {
	if sc == nil {
		return nil
	}
	var errs field.ErrorList
	if isTrue(sc.Privileged) {
		errs = append(errs, field.Forbidden(path.Child("privileged"), "a privileged container owns its node; remove it"))
	}
	if restricted && isTrue(sc.AllowPrivilegeEscalation) {
		errs = append(errs, field.Forbidden(path.Child("allowPrivilegeEscalation"), restrictedHint))
	}
	return slices.Concat(errs,
		validateCapabilities(path.Child("capabilities"), sc.Capabilities, restricted),
		oneOfIfSet(path.Child("procMount"), sc.ProcMount, corev1.DefaultProcMount),
		validateIdentity(path, sc.RunAsUser, sc.RunAsGroup, sc.RunAsNonRoot, restricted),
		validateConfinement(path, confinement{sc.SELinuxOptions, sc.WindowsOptions, sc.SeccompProfile, sc.AppArmorProfile}))
}

func validatePodSecurityContext(path *field.Path, sc *corev1.PodSecurityContext, restricted bool) field.ErrorList {
	if sc == nil {
		return nil
	}
	errs := slices.Concat(
		validateIdentity(path, sc.RunAsUser, sc.RunAsGroup, sc.RunAsNonRoot, restricted),
		groupID(path.Child("fsGroup"), sc.FSGroup),
		validateConfinement(path, confinement{sc.SELinuxOptions, sc.WindowsOptions, sc.SeccompProfile, sc.AppArmorProfile}),
		validateSysctls(path.Child("sysctls"), sc.Sysctls),
		oneOfIfSet(path.Child("fsGroupChangePolicy"), sc.FSGroupChangePolicy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch),
		oneOfIfSet(path.Child("supplementalGroupsPolicy"), sc.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict),
		oneOfIfSet(path.Child("seLinuxChangePolicy"), sc.SELinuxChangePolicy, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive))
	for i, group := range sc.SupplementalGroups {
		errs = append(errs, groupID(path.Child("supplementalGroups").Index(i), &group)...)
	}
	return errs
}

// addable are the capabilities that a container runtime grants anyway.
var addable = []corev1.Capability{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID",
	"SETPCAP", "SETUID", "SYS_CHROOT",
}

func validateCapabilities(path *field.Path, c *corev1.Capabilities, restricted bool) field.ErrorList {
	if c == nil {
		return nil
	}
	allowed := addable
	if restricted {
		allowed = []corev1.Capability{"NET_BIND_SERVICE"}
	}
	var errs field.ErrorList
	for i, add := range c.Add {
		errs = append(errs, oneOf(path.Child("add").Index(i), add, allowed...)...)
	}
	// The profile drops ALL unless a list is given, be it an empty one.
	if restricted && c.Drop != nil && !slices.Contains(c.Drop, "ALL") {
		errs = append(errs, field.Required(path.Child("drop"), "the security profile Restricted drops ALL; add ALL or remove drop"))
	}
	return errs
}

// validateIdentity judges whom the processes run as; both levels of security context say it in the same fields.
func validateIdentity(path *field.Path, user, group *int64, nonRoot *bool, restricted bool) field.ErrorList {
	errs := groupID(path.Child("runAsGroup"), group)
	if user != nil {
		errs = append(errs, userID(path.Child("runAsUser"), *user, restricted)...)
	}
	if restricted && nonRoot != nil && !*nonRoot {
		errs = append(errs, field.Invalid(path.Child("runAsNonRoot"), false, restrictedHint))
	}
	return errs
}

func userID(path *field.Path, user int64, restricted bool) field.ErrorList {
	switch {
	case len(validation.IsValidUserID(user)) > 0:
		return field.ErrorList{field.Invalid(path, user, "must be a user ID from 0 to 2147483647")}
	case restricted && user == 0:
		return field.ErrorList{field.Invalid(path, user, restrictedHint)}
	default:
		return nil
	}
}

func groupID(path *field.Path, group *int64) field.ErrorList {
	if group == nil || len(validation.IsValidGroupID(*group)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *group, "must be a group ID from 0 to 2147483647")}
}

// confinement is what holds a container back, in the fields that both levels of security context have.
type confinement struct {
	seLinux  *corev1.SELinuxOptions
	windows  *corev1.WindowsSecurityContextOptions
	seccomp  *corev1.SeccompProfile
	appArmor *corev1.AppArmorProfile
}

func validateConfinement(path *field.Path, c confinement) field.ErrorList {
	errs := slices.Concat(
		validateSELinux(path.Child("seLinuxOptions"), c.seLinux),
		validateSeccomp(path.Child("seccompProfile"), c.seccomp),
		validateAppArmor(path.Child("appArmorProfile"), c.appArmor))
	if c.windows != nil && isTrue(c.windows.HostProcess) {
		errs = append(errs, field.Forbidden(path.Child("windowsOptions", "hostProcess"), "a host process owns its node; remove it"))
	}
	return errs
}

func validateSELinux(path *field.Path, o *corev1.SELinuxOptions) field.ErrorList {
	if o == nil {
		return nil
	}
	errs := oneOf(path.Child("type"), o.Type, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
	if o.User != "" {
		errs = append(errs, field.Forbidden(path.Child("user"), "could leave the container's confinement; remove it"))
	}
	if o.Role != "" {
		errs = append(errs, field.Forbidden(path.Child("role"), "could leave the container's confinement; remove it"))
	}
	return errs
}

func validateSeccomp(path *field.Path, p *corev1.SeccompProfile) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := oneOf(path.Child("type"), p.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault)
	file := path.Child("localhostProfile")
	errs = append(errs, localhostProfile(file, p.Type == corev1.SeccompProfileTypeLocalhost, p.LocalhostProfile)...)
	if f := p.LocalhostProfile; f != nil && (strings.HasPrefix(*f, "/") || slices.Contains(strings.Split(*f, "/"), "..")) {
		errs = append(errs, field.Invalid(file, *f, "must be a path below the node's directory of profiles; remove a leading / and every .."))
	}
	return errs
}

func validateAppArmor(path *field.Path, p *corev1.AppArmorProfile) field.ErrorList {
	if p == nil {
		return nil
	}
	errs := oneOf(path.Child("type"), p.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault)
	return append(errs, localhostProfile(path.Child("localhostProfile"), p.Type == corev1.AppArmorProfileTypeLocalhost, p.LocalhostProfile)...)
}

// localhostProfile: the name of a node's own profile goes with the type Localhost, and with no other.
func localhostProfile(path *field.Path, wanted bool, profile *string) field.ErrorList {
	switch {
	case wanted && (profile == nil || strings.TrimSpace(*profile) == ""):
		return field.ErrorList{field.Required(path, "the type Localhost needs the name of a profile on the node")}
	case wanted && strings.TrimSpace(*profile) != *profile:
		return field.ErrorList{field.Invalid(path, *profile, "must not begin or end with white space")}
	case !wanted && profile != nil:
		return field.ErrorList{field.Forbidden(path, "goes with the type Localhost only; remove it")}
	default:
		return nil
	}
}

// safeSysctls are those that stay within one pod.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
	"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
	"net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_wmem",
}

func validateSysctls(path *field.Path, sysctls []corev1.Sysctl) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, s := range sysctls {
		at := path.Index(i).Child("name")
		if seen.Has(s.Name) {
			errs = append(errs, duplicate(at, s.Name, "is set twice; remove one entry"))
			continue
		}
		seen.Insert(s.Name)
		errs = append(errs, oneOf(at, s.Name, safeSysctls...)...)
	}
	return errs
}

func isTrue(b *bool) bool { return b != nil && *b }
