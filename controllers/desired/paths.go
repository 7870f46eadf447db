package desired

import (
	"regexp"
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
		if m.app == "spec.envs" {
			rest = envIndex(rest, app)
		}
		return m.app + rest
	}
	return strings.ToLower(kind) + ": " + path
}

type pathMapping struct{ child, app string }

// paths are tried in order, so the longer prefix stands first.
var paths = map[string][]pathMapping{
	"Deployment": {
		{"spec.template.spec.containers[0].livenessProbe", "spec.probes.liveness"},
		{"spec.template.spec.containers[0].readinessProbe", "spec.probes.readiness"},
		{"spec.template.spec.containers[0].startupProbe", "spec.probes.startup"},
		{"spec.template.spec.containers[0].lifecycle", "spec.shutdownDelaySeconds"},
		{"spec.template.spec.containers[0].ports", "spec.ports"},
		{"spec.template.spec.containers[0].env", "spec.envs"},
		{"spec.template.spec.containers[0].", "spec."},
		{"spec.template.spec.securityContext", "spec.podSecurityContext"},
		{"spec.template.spec.imagePullSecrets", "spec.imagePullSecrets"},
		{"spec.template.spec.serviceAccountName", "spec.serviceAccountName"},
		{"spec.template.spec.terminationGracePeriodSeconds", "spec.terminationGracePeriodSeconds"},
		{"spec.template.metadata.labels", "spec.podLabels"},
		{"spec.template.labels", "spec.podLabels"},
		{"spec.template.metadata.annotations", "spec.podAnnotations"},
		{"spec.template.annotations", "spec.podAnnotations"},
		{"spec.replicas", "spec.size"},
		{"spec.selector", "metadata.name"},
		{"metadata.labels", "metadata.name"},
		{"metadata.name", "metadata.name"},
	},
	"Service": {
		{"spec.ports", "spec.ports"},
		{"spec.selector", "metadata.name"},
		{"spec.", "spec.service."},
		{"metadata.annotations", "spec.service.annotations"},
		{"metadata.labels", "metadata.name"},
		{"metadata.name", "metadata.name"},
	},
}

// endsElement tells whether the prefix ends where a path element ends: `env` must not match `envFrom`.
func endsElement(prefix, rest string) bool {
	return rest == "" || strings.HasSuffix(prefix, ".") || rest[0] == '.' || rest[0] == '['
}

var leadingIndex = regexp.MustCompile(`^\[(\d+)\]`)

// envIndex turns the index of a container variable into that of the MyApp's entry: entries that a later one of the same
// name replaces are not in the container.
func envIndex(rest string, app *v1beta1.MyApp) string {
	m := leadingIndex.FindStringSubmatch(rest)
	if m == nil {
		return rest
	}
	rendered, _ := strconv.Atoi(m[1])
	last := map[string]int{}
	for i, e := range app.Spec.Envs {
		last[e.Name] = i
	}
	for i, e := range app.Spec.Envs {
		if last[e.Name] != i {
			continue
		}
		if rendered == 0 {
			return "[" + strconv.Itoa(i) + "]" + rest[len(m[0]):]
		}
		rendered--
	}
	return rest
}
