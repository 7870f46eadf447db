package main

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/utils/ptr"
)

// Limits of Kubernetes itself, so that nothing is refused here which the children's own API would take.
const (
	maxName       = 253       // the name of an object, a key of a ConfigMap or Secret
	maxLabel      = 63        // the value of a label, the name of a port or container
	maxKey        = 253 + 64  // a qualified name: prefix, slash, name
	maxAnnotation = 256 << 10 // all annotations of an object together
	maxValue      = 32 << 10  // one environment variable or argument: the API's own choice, see spec.args
	maxPath       = 4096      // a file name
	maxID         = math.MaxInt32
	maxPort       = 65535
	// maxInt64 is the greatest integer that JSON readers agree on. Above it the API server's own parser falls back to
	// floating point, which Go's int64 cannot read.
	maxInt64 = 1<<53 - 1
)

// quantityPattern admits what resource.Quantity reads. The generated pattern takes a fraction as an exponent as well,
// which Go fails on: one such object would make the typed list of all MyApps fail. The exponent has at most two digits,
// since arithmetic on 1e999999999 would never end.
const quantityPattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`

// timePattern admits what Go reads as RFC 3339; the format date-time alone admits lower case and impossible zones.
const timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

// row holds edits of all nodes whose path ends with at.
type row struct {
	at    string
	edits []edit
}

func at(path string, edits ...edit) row { return row{path, edits} }

// table holds what markers cannot reach: limits and rules inside embedded types. Every row must match something. Only
// rules whose path is as exact as the validating webhook's belong here, since a schema is judged before any webhook; and
// only on the lowest node possible, since an unchanged node of a stored object is not judged again.
var table = slices.Concat(containerRows, blockRows)

// containerRows are those of the application itself: its name, its container and its Service, and the status.
var containerRows = []row{
	// A Service's name is a DNS label. The schema of the metadata may restrict the name and nothing else.
	at("metadata", property("name", schema{Type: "string", MaxLength: ptr.To[int64](maxLabel)})),

	at("envs[]", mustAt(".value", "!has(self.valueFrom) || !has(self.value) || self.value == ''",
		"cannot stand beside valueFrom")),
	at("envs[].name", minLength(1), maxLength(512)),
	at("envs[].value", maxLength(maxValue)),
	at("envs[].valueFrom", exactlyOne("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")),
	at("valueFrom.configMapKeyRef", required("name")),
	at("valueFrom.secretKeyRef", required("name")),
	at("valueFrom.fileKeyRef", refuse("a MyApp has no volume that could hold the file")),
	at("fieldRef.apiVersion", oneOf("v1")),
	at("fieldRef.fieldPath", minLength(1), maxLength(512)),
	at("resourceFieldRef.containerName", maxLength(maxLabel)),
	at("envFrom[]", exactlyOne("configMapRef", "secretRef")),
	at("envFrom[].prefix", maxLength(512)),
	at("envFrom[].configMapRef", required("name")),
	at("envFrom[].secretRef", required("name")),
	at("configMapRef.name", minLength(1)),
	at("secretRef.name", minLength(1)),
	at("configMapKeyRef.name", minLength(1)),
	at("configMapKeyRef.key", minLength(1)),
	at("secretKeyRef.name", minLength(1)),
	at("secretKeyRef.key", minLength(1)),
	at("imagePullSecrets[]", required("name")),
	at("imagePullSecrets[].name", minLength(1)),

	at("ports[].name", maxLength(maxLabel)),
	at("ports[].port", between(1, maxPort)),
	// 0 is what a Go client sends when the field is not set.
	at("ports[].targetPort", between(0, maxPort), must("type(self) in [int]",
		"must be the number of the pod's port, without quotes; names are not supported")),
	at("ports[].nodePort", between(1, maxPort)),
	at("ports[].protocol", oneOf("", "TCP", "UDP", "SCTP")),
	at("ports[].appProtocol", maxLength(maxKey)),

	at("podLabels{}", maxLength(maxLabel)),
	at("podAnnotations{}", maxLength(maxAnnotation)),
	at("service.annotations{}", maxLength(maxAnnotation)),

	at("spec.resources", withinLimit("cpu"), withinLimit("memory"), withinLimit("ephemeral-storage")),
	at("resources.claims", refuse("a MyApp has no resource claims")),

	at("probes.*", exactlyOne("exec", "httpGet", "tcpSocket", "grpc")),
	at("probes.liveness.successThreshold", between(0, 1)),
	at("probes.startup.successThreshold", between(0, 1)),
	at("probes.*.terminationGracePeriodSeconds", between(1, 86400)),
	at("probes.readiness.terminationGracePeriodSeconds", refuse("a readiness probe ends no container")),
	at("probes.*.exec", required("command")),
	at("exec.command", minItems(1)),
	at("exec.command[]", maxLength(maxValue)),
	at("httpGet.path", maxLength(2048)),
	at("httpGet.port", between(1, maxPort)),
	at("httpGet.scheme", oneOf("", "HTTP", "HTTPS")),
	at("httpGet.host", must("self == ''", "a probe goes to its own pod; set httpHeaders for a virtual host")),
	at("httpHeaders", maxItems(50)),
	at("httpHeaders[].name", minLength(1), maxLength(256)),
	at("httpHeaders[].value", maxLength(8192)),
	at("tcpSocket.port", between(1, maxPort)),
	at("tcpSocket.host", must("self == ''", "a probe goes to its own pod")),
	at("grpc.port", between(1, maxPort)),
	// An API server without the feature drops these fields, so that what is wanted and what is stored would never agree.
	at("httpGet.protocol", refuse("needs a feature of Kubernetes that is not on by default")),
	at("grpc.mode", refuse("needs a feature of Kubernetes that is not on by default")),

	// What follows is the Pod Security Standard "baseline", so that it holds without webhooks too.
	at("securityContext.privileged", must("!self", "a privileged container is not allowed")),
	at("securityContext.procMount", oneOf("Default")),
	at("capabilities.add[]", oneOf("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
		"NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT")),
	at("capabilities.drop[]", maxLength(maxLabel)),
	at("seccompProfile.type", oneOf("RuntimeDefault", "Localhost")),
	at("appArmorProfile.type", oneOf("RuntimeDefault", "Localhost")),
	at("seLinuxOptions.type", oneOf("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")),
	at("seLinuxOptions.user", must("self == ''", "setting the SELinux user is not allowed")),
	at("seLinuxOptions.role", must("self == ''", "setting the SELinux role is not allowed")),
	at("windowsOptions.hostProcess", must("!self", "a host process is not allowed")),
	at("sysctls[].name", oneOf("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range",
		"net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range",
		"net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
		"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem",
		"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem")),

	at("localhostProfile", maxLength(maxPath)),
	at("runAsUser", between(0, maxID)),
	at("runAsGroup", between(0, maxID)),
	at("fsGroup", between(0, maxID)),
	at("supplementalGroups[]", between(0, maxID)),
	at("fsGroupChangePolicy", oneOf("Always", "OnRootMismatch")),
	at("seLinuxChangePolicy", oneOf("MountOption", "Recursive")),
	at("supplementalGroupsPolicy", oneOf("Merge", "Strict")),
	at("gmsaCredentialSpec", maxLength(64<<10)),
	at("runAsUserName", maxLength(512)),

	// A string with a format lets lists through as well (the API server's validator skips the type then), but for one of
	// at least 1 and at most 0 elements.
	at("conditions[].lastTransitionTime", maxLength(40), pattern(timePattern), minItems(1), maxItems(0)),
}

// exactlyOne demands that one of several fields is set, and only one.
func exactlyOne(names ...string) edit {
	list, has := "", ""
	for i, name := range names {
		if i > 0 {
			list, has = list+", ", has+", "
		}
		list, has = list+name, has+fmt.Sprintf("has(self.%s)", name)
	}
	return must("["+has+"].filter(x, x).size() == 1", "must have exactly one of "+list)
}

// withinLimit demands that the request of a resource is not above its limit.
func withinLimit(resource string) edit {
	rule := fmt.Sprintf("!has(self.requests) || !has(self.limits) || !(%[1]q in self.requests) || !(%[1]q in self.limits)"+
		" || !isQuantity(string(self.requests[%[1]q])) || !isQuantity(string(self.limits[%[1]q]))"+
		" || !quantity(string(self.requests[%[1]q])).isGreaterThan(quantity(string(self.limits[%[1]q])))", resource)
	return mustAt(fmt.Sprintf(".requests['%s']", resource), rule, "must not be above the limit of "+resource)
}
