package desired

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// SpecPath translates a field path of a child, as the API server names it in a refusal, into the path of the MyApp's own
// field that the value came from. A path that no field of the MyApp leads to is returned with the child's kind in front.
//
// The tables below are the builders read backwards; a builder that maps a new field adds its line here.
func SpecPath(kind, path string, app *v1beta1.MyApp) string {
	for _, m := range paths[kind] {
		rest, ok := strings.CutPrefix(path, m.child)
		if !ok || !endsElement(m.child, rest) {
			continue
		}
		if m.rest != nil {
			rest = m.rest(rest, app)
		}
		return m.app + rest
	}
	return strings.ToLower(kind) + ": " + path
}

// pathMapping leads from the prefix of a child's path to that of the MyApp's. rest rewrites what follows the prefix; nil
// keeps it.
type pathMapping struct {
	child, app string
	rest       func(rest string, app *v1beta1.MyApp) string
}

// paths are tried in order, so the longer prefix stands first.
var paths = map[string][]pathMapping{
	"Deployment": {
		{"spec.template.spec.containers[0].livenessProbe", "spec.probes.liveness", nil},
		{"spec.template.spec.containers[0].readinessProbe", "spec.probes.readiness", nil},
		{"spec.template.spec.containers[0].startupProbe", "spec.probes.startup", nil},
		{"spec.template.spec.containers[0].lifecycle", "spec.shutdownDelaySeconds", whole},
		{"spec.template.spec.containers[0].ports", "spec.ports", portRest},
		{"spec.template.spec.containers[0].env", "spec.envs", envRest},
		{"spec.template.spec.containers[0].volumeMounts", "spec.mounts", mountRest},
		{"spec.template.spec.containers[0].", "spec.", nil},
		{"spec.template.spec.volumes", "spec.mounts", volumeRest},
		{"spec.template.spec.nodeSelector", "spec.scheduling.nodeSelector", nil},
		{"spec.template.spec.tolerations", "spec.scheduling.tolerations", nil},
		{"spec.template.spec.affinity", "spec.scheduling.affinity", nil},
		{"spec.template.spec.topologySpreadConstraints", "spec.scheduling.topologySpreadConstraints", nil},
		{"spec.template.spec.priorityClassName", "spec.scheduling.priorityClassName", nil},
		{"spec.template.spec.securityContext", "spec.podSecurityContext", nil},
		{"spec.template.spec.imagePullSecrets", "spec.imagePullSecrets", pullSecretRest},
		{"spec.template.spec.serviceAccountName", "spec.serviceAccountName", nil},
		{"spec.template.spec.terminationGracePeriodSeconds", "spec.terminationGracePeriodSeconds", nil},
		{"spec.template.metadata.labels", "spec.podLabels", nil},
		{"spec.template.labels", "spec.podLabels", nil},
		{"spec.template.metadata.annotations", "spec.podAnnotations", nil},
		{"spec.template.annotations", "spec.podAnnotations", nil},
		{"spec.strategy.rollingUpdate", "spec.rollout", nil},
		{"spec.strategy", "spec.rollout", nil},
		{"spec.minReadySeconds", "spec.rollout.minReadySeconds", nil},
		{"spec.progressDeadlineSeconds", "spec.rollout.progressDeadlineSeconds", nil},
		{"spec.revisionHistoryLimit", "spec.rollout.revisionHistoryLimit", nil},
		{"spec.replicas", "spec.size", whole},
		{"spec.selector", "metadata.name", whole},
		{"metadata.labels", "metadata.name", whole},
		{"metadata.name", "metadata.name", whole},
	},
	"Service": {
		{"spec.ports", "spec.ports", nil},
		{"spec.selector", "metadata.name", whole},
		{"spec.", "spec.service.", nil},
		{"metadata.annotations", "spec.service.annotations", nil},
		{"metadata.labels", "metadata.name", whole},
		{"metadata.name", "metadata.name", whole},
	},
	"Ingress": {
		{"spec.rules[0].host", "spec.ingress.host", nil},
		{"spec.rules[0].http.paths[0].path", "spec.ingress.path", nil},
		{"spec.rules[0].http.paths[0].pathType", "spec.ingress.pathType", nil},
		{"spec.rules[0].http.paths[0].backend", "spec.ingress.port", whole},
		{"spec.tls[0].secretName", "spec.ingress.tls.secretName", nil},
		{"spec.tls[0].hosts", "spec.ingress.host", whole},
		{"spec.ingressClassName", "spec.ingress.className", nil},
		{"metadata.annotations", "spec.ingress.annotations", nil},
		{"spec", "spec.ingress", whole},
	},
	"Certificate": {
		{"spec.dnsNames", "spec.ingress.host", whole},
		{"spec.", "spec.ingress.tls.", nil},
	},
	"HorizontalPodAutoscaler": {
		{"spec.metrics", "spec.autoscaling", whole},
		{"spec.", "spec.autoscaling.", nil},
	},
	"PodDisruptionBudget": {
		{"spec.", "spec.podDisruptionBudget.", nil},
	},
	"ServiceMonitor": {
		{"spec.endpoints[0]", "spec.metrics", nil},
	},
}

// endsElement tells whether the prefix ends where a path element ends: `env` must not match `envFrom`.
func endsElement(prefix, rest string) bool {
	return rest == "" || strings.HasSuffix(prefix, ".") || rest[0] == '.' || rest[0] == '['
}

// whole drops what follows: the MyApp's field has no parts.
func whole(string, *v1beta1.MyApp) string { return "" }

// The lists below are rendered without some of the MyApp's entries, so that their indexes differ.

// envRest: entries that a later one of the same name replaces are not in the container.
func envRest(rest string, app *v1beta1.MyApp) string {
	last := map[string]int{}
	for i, e := range app.Spec.Envs {
		last[e.Name] = i
	}
	var origins []int
	for i, e := range app.Spec.Envs {
		if last[e.Name] == i {
			origins = append(origins, i)
		}
	}
	return reindex(rest, origins)
}

// portRest: several Service ports may lead to one port of the container, whose number is the first one's targetPort.
func portRest(rest string, app *v1beta1.MyApp) string {
	rest = reindex(rest, firsts(app.Spec.Ports, containerPortKey))
	return strings.Replace(rest, ".containerPort", ".targetPort", 1)
}

// pullSecretRest: a Secret named twice is rendered once.
func pullSecretRest(rest string, app *v1beta1.MyApp) string {
	return reindex(rest, firsts(app.Spec.ImagePullSecrets, pullSecretKey))
}

// mountRest and volumeRest: mounts are rendered sorted, and one volume stands for all mounts of a source.
func mountRest(rest string, app *v1beta1.MyApp) string {
	mounts := sortedMounts(app.Spec)
	var origins []int
	for _, i := range firsts(mounts, mountPath) {
		origins = append(origins, mountIndex(app, mounts[i]))
	}
	return strings.Replace(reindex(rest, origins), ".mountPath", ".path", 1)
}

func volumeRest(rest string, app *v1beta1.MyApp) string {
	mounts := distinctVolumes(app.Spec)
	var origins []int
	for _, m := range mounts {
		origins = append(origins, mountIndex(app, m))
	}
	return reindex(rest, origins)
}

func mountIndex(app *v1beta1.MyApp, m v1beta1.Mount) int {
	return slices.IndexFunc(app.Spec.Mounts, func(o v1beta1.Mount) bool { return o.Path == m.Path })
}

var leadingIndex = regexp.MustCompile(`^\[(\d+)\]`)

// reindex replaces the index of a rendered element by that of the entry that it came from.
func reindex(rest string, origins []int) string {
	m := leadingIndex.FindStringSubmatch(rest)
	if m == nil {
		return rest
	}
	if i, err := strconv.Atoi(m[1]); err == nil && i < len(origins) {
		return "[" + strconv.Itoa(origins[i]) + "]" + rest[len(m[0]):]
	}
	return rest
}
