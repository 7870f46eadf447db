package desired

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// pathCase is a path of a child and the MyApp's field that it comes from.
type pathCase struct{ name, kind, child, want string }

// blockPaths are those of the optional blocks.
func blockPaths() []pathCase {
	const pod, hpa, rule = "spec.template.spec.", "HorizontalPodAutoscaler", "spec.rules[0].http.paths[0]."
	return []pathCase{
		{"mounts are sorted by path", "Deployment", pod + "containers[0].volumeMounts[0].mountPath", "spec.mounts[1].path"},
		{"volumes are sorted by name", "Deployment", pod + "volumes[0].configMap.name", "spec.mounts[1].configMap.name"},
		{"node selector", "Deployment", pod + "nodeSelector", "spec.scheduling.nodeSelector"},
		{"tolerations", "Deployment", pod + "tolerations[0].effect", "spec.scheduling.tolerations[0].effect"},
		{"affinity", "Deployment", pod + "affinity.podAffinity", "spec.scheduling.affinity.podAffinity"},
		{"spread", "Deployment", pod + "topologySpreadConstraints[1].maxSkew", "spec.scheduling.topologySpreadConstraints[1].maxSkew"},
		{"priority", "Deployment", pod + "priorityClassName", "spec.scheduling.priorityClassName"},
		{"surge", "Deployment", "spec.strategy.rollingUpdate.maxSurge", "spec.rollout.maxSurge"},
		{"strategy", "Deployment", "spec.strategy.type", "spec.rollout.type"},
		{"ready seconds", "Deployment", "spec.minReadySeconds", "spec.rollout.minReadySeconds"},
		{"deadline", "Deployment", "spec.progressDeadlineSeconds", "spec.rollout.progressDeadlineSeconds"},
		{"history", "Deployment", "spec.revisionHistoryLimit", "spec.rollout.revisionHistoryLimit"},
		{"host", "Ingress", "spec.rules[0].host", "spec.ingress.host"},
		{"path", "Ingress", rule + "path", "spec.ingress.path"},
		{"path type", "Ingress", rule + "pathType", "spec.ingress.pathType"},
		{"backend", "Ingress", rule + "backend.service.port", "spec.ingress.port"},
		{"TLS secret", "Ingress", "spec.tls[0].secretName", "spec.ingress.tls.secretName"},
		{"TLS host", "Ingress", "spec.tls[0].hosts[0]", "spec.ingress.host"},
		{"class", "Ingress", "spec.ingressClassName", "spec.ingress.className"},
		{"Ingress annotation", "Ingress", "metadata.annotations[a]", "spec.ingress.annotations[a]"},
		{"anything else of an Ingress", "Ingress", "spec.defaultBackend", "spec.ingress"},
		{"certificate's name", "Certificate", "spec.dnsNames[0]", "spec.ingress.host"},
		{"issuer", "Certificate", "spec.issuerRef.name", "spec.ingress.tls.issuerRef.name"},
		{"metric", hpa, "spec.metrics[0].resource.target", "spec.autoscaling"},
		{"bound", hpa, "spec.minReplicas", "spec.autoscaling.minReplicas"},
		{"budget", "PodDisruptionBudget", "spec.minAvailable", "spec.podDisruptionBudget.minAvailable"},
		{"interval", "ServiceMonitor", "spec.endpoints[0].interval", "spec.metrics.interval"},
	}
}

func TestSpecPath(t *testing.T) {
	const container = "spec.template.spec.containers[0]."
	app := myApp(t, `
envs: [{name: A}, {name: B}, {name: A}, {name: C}]
ports: [{name: a, port: 80, targetPort: 8080}, {name: b, port: 81, targetPort: 8080}, {name: c, port: 82}]
imagePullSecrets: [{name: x}, {name: x}, {name: y}]
mounts: [{path: /b, emptyDir: {}}, {path: /a, configMap: {name: x}}]`)
	cases := []pathCase{
		{"livenessProbe", "Deployment", container + "livenessProbe.httpGet.port", "spec.probes.liveness.httpGet.port"},
		{"readinessProbe", "Deployment", container + "readinessProbe.periodSeconds", "spec.probes.readiness.periodSeconds"},
		{"startupProbe", "Deployment", container + "startupProbe", "spec.probes.startup"},
		{"lifecycle", "Deployment", container + "lifecycle.preStop.sleep.seconds", "spec.shutdownDelaySeconds"},
		{"container port", "Deployment", container + "ports[0].containerPort", "spec.ports[0].targetPort"},
		{"container port after a shared one", "Deployment", container + "ports[1].protocol", "spec.ports[2].protocol"},
		{"container ports", "Deployment", container + "ports", "spec.ports"},
		{"env", "Deployment", container + "env", "spec.envs"},
		{"env that is the last of its name", "Deployment", container + "env[0].name", "spec.envs[1].name"},
		{"env after a replaced one", "Deployment", container + "env[1].valueFrom.fieldRef.fieldPath", "spec.envs[2].valueFrom.fieldRef.fieldPath"},
		{"env after both", "Deployment", container + "env[2].name", "spec.envs[3].name"},
		{"env out of range", "Deployment", container + "env[9].name", "spec.envs[9].name"},
		{"envFrom is not env", "Deployment", container + "envFrom[0].prefix", "spec.envFrom[0].prefix"},
		{"image", "Deployment", container + "image", "spec.image"},
		{"imagePullPolicy", "Deployment", container + "imagePullPolicy", "spec.imagePullPolicy"},
		{"command", "Deployment", container + "command[0]", "spec.command[0]"},
		{"args", "Deployment", container + "args", "spec.args"},
		{"resources", "Deployment", container + "resources.limits[cpu]", "spec.resources.limits[cpu]"},
		{"container security context", "Deployment", container + "securityContext.runAsUser", "spec.securityContext.runAsUser"},
		{"pod security context", "Deployment", "spec.template.spec.securityContext.sysctls[0].name", "spec.podSecurityContext.sysctls[0].name"},
		{"imagePullSecrets", "Deployment", "spec.template.spec.imagePullSecrets[1].name", "spec.imagePullSecrets[2].name"},
		{"serviceAccountName", "Deployment", "spec.template.spec.serviceAccountName", "spec.serviceAccountName"},
		{"grace period", "Deployment", "spec.template.spec.terminationGracePeriodSeconds", "spec.terminationGracePeriodSeconds"},
		{"pod labels", "Deployment", "spec.template.labels", "spec.podLabels"},
		{"pod labels in metadata", "Deployment", "spec.template.metadata.labels[a]", "spec.podLabels[a]"},
		{"pod annotations", "Deployment", "spec.template.annotations", "spec.podAnnotations"},
		{"pod annotations in metadata", "Deployment", "spec.template.metadata.annotations", "spec.podAnnotations"},
		{"replicas", "Deployment", "spec.replicas", "spec.size"},
		{"selector", "Deployment", "spec.selector.matchLabels", "metadata.name"},
		{"labels", "Deployment", "metadata.labels", "metadata.name"},
		{"name", "Deployment", "metadata.name", "metadata.name"},
		{"unknown", "Deployment", "spec.paused", "deployment: spec.paused"},
		{"element, not prefix", "Deployment", "spec.replicasMore", "deployment: spec.replicasMore"},
		{"Service ports", "Service", "spec.ports[1].nodePort", "spec.ports[1].nodePort"},
		{"Service selector", "Service", "spec.selector", "metadata.name"},
		{"Service type", "Service", "spec.type", "spec.service.type"},
		{"Service traffic policy", "Service", "spec.externalTrafficPolicy", "spec.service.externalTrafficPolicy"},
		{"N02 Service name", "Service", "metadata.name", "metadata.name"},
		{"Service labels", "Service", "metadata.labels", "metadata.name"},
		{"Service annotations", "Service", "metadata.annotations[a]", "spec.service.annotations[a]"},
		{"unknown of a Service", "Service", "metadata.finalizers", "service: metadata.finalizers"},
		{"unknown kind", "Secret", "data", "secret: data"},
	}
	cases = append(cases, blockPaths()...)
	used := map[string]bool{}
	for _, c := range cases {
		for _, m := range paths[c.kind] {
			if rest, ok := strings.CutPrefix(c.child, m.child); ok && endsElement(m.child, rest) {
				used[c.kind+m.child] = true
				break
			}
		}
		t.Run(c.name, func(t *testing.T) {
			if got := SpecPath(c.kind, c.child, app); got != c.want {
				t.Errorf("a refusal of %s of the %s tells the user to look at %s, want %s", c.child, c.kind, got, c.want)
			}
		})
	}
	for kind, all := range paths {
		for _, m := range all {
			if !used[kind+m.child] {
				t.Errorf("no case for %s of %s, or an earlier line of the table hides it", m.child, kind)
			}
		}
	}
}

// withoutChildPath are the fields whose value the API server cannot refuse in a child.
var withoutChildPath = []string{"securityProfile", "deletionPolicy"}

func TestEveryFieldOfTheSpecIsReached(t *testing.T) {
	container := reflect.TypeFor[corev1.Container]()
	for field := range reflect.TypeFor[v1beta1.MyAppSpec]().Fields() {
		name := jsonName(field)
		// The line `containers[0].` holds for fields that a container has under the same name.
		reached := slices.ContainsFunc(slices.Collect(container.Fields()), func(f reflect.StructField) bool { return jsonName(f) == name })
		for _, m := range slices.Concat(slices.Collect(maps.Values(paths))...) {
			reached = reached || m.app == "spec."+name || strings.HasPrefix(m.app, "spec."+name+".")
		}
		if reached == slices.Contains(withoutChildPath, name) {
			t.Errorf("spec.%s: a refusal of what it renders to would be told in terms of a child; add it to the table of paths", name)
		}
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
