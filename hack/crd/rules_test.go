package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	psa "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// TestRefused: what schema and rules refuse on their own, and the field that the answer names. Every spec has an image.
func TestRefused(t *testing.T) {
	cases := map[string]struct{ spec, want string }{
		"empty image":       {`{image: ""}`, "spec.image"},
		"image too long":    {`{image: "` + strings.Repeat("a", 1025) + `"}`, "spec.image"},
		"no image":          {`{size: 1}`, "spec.image"},
		"negative size":     {`{size: -1}`, "spec.size"},
		"absurd size":       {`{size: 5001}`, "spec.size"},
		"fractional size":   {`{size: 1.5}`, "spec.size"},
		"size is no number": {`{size: many}`, "spec.size"},

		"empty env name":           {`{envs: [{name: A}, {name: ""}]}`, "spec.envs[1].name"},
		"E08 number as env value":  {`{envs: [{name: PORT, value: 8080}]}`, "spec.envs[0].value"},
		"E08 boolean as env value": {`{envs: [{name: DEBUG, value: true}]}`, "spec.envs[0].value"},
		"value beside valueFrom":   {`{envs: [{name: A}, {name: B, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`, "spec.envs[1].value"},
		"no source":                {`{envs: [{name: A, valueFrom: {}}]}`, "spec.envs[0].valueFrom"},
		"two sources":              {`{envs: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: s, key: k}}}]}`, "spec.envs[0].valueFrom"},
		"source without a name":    {`{envs: [{name: A, valueFrom: {configMapKeyRef: {key: k}}}]}`, "spec.envs[0].valueFrom.configMapKeyRef.name"},
		"file as a source":         {`{envs: [{name: A, valueFrom: {fileKeyRef: {key: k, path: p, volumeName: v}}}]}`, "spec.envs[0].valueFrom.fileKeyRef"},
		"envFrom without a source": {`{envFrom: [{prefix: P_}]}`, "spec.envFrom[0]"},
		"envFrom with two sources": {`{envFrom: [{secretRef: {name: a}, configMapRef: {name: b}}]}`, "spec.envFrom[0]"},
		"envFrom without a name":   {`{envFrom: [{secretRef: {}}]}`, "spec.envFrom[0].secretRef.name"},
		"pull secret with no name": {`{imagePullSecrets: [{}]}`, "spec.imagePullSecrets[0].name"},
		"too many envs":            {`{envs: [` + strings.Repeat(`{name: A}, `, 201) + `]}`, "spec.envs"},

		"port 0":                 {`{ports: [{port: 0}]}`, "spec.ports[0].port"},
		"port 65536":             {`{ports: [{port: 80}, {port: 65536}]}`, "spec.ports[1].port"},
		"node port 0":            {`{ports: [{port: 80, nodePort: 0}]}`, "spec.ports[0].nodePort"},
		"node port 70000":        {`{ports: [{port: 80, nodePort: 70000}]}`, "spec.ports[0].nodePort"},
		"P09 named target port":  {`{ports: [{port: 80, targetPort: http}]}`, "spec.ports[0].targetPort"},
		"P07 quoted target port": {`{ports: [{port: 80, targetPort: "8080"}]}`, "spec.ports[0].targetPort"},
		"target port 70000":      {`{ports: [{port: 80, targetPort: 70000}]}`, "spec.ports[0].targetPort"},
		"long target port":       {`{ports: [{port: 80, targetPort: ` + strings.Repeat("a", 64) + `}]}`, "spec.ports[0].targetPort"},
		"lower case protocol":    {`{ports: [{port: 80, protocol: tcp}]}`, "spec.ports[0].protocol"},

		"service without ports":     {`{service: {type: ClusterIP}}`, "spec.service"},
		"service with no port left": {`{service: {type: ClusterIP}, ports: []}`, "spec.service"},
		"unknown type":              {`{ports: [{port: 80}], service: {type: ExternalName}}`, "spec.service.type"},

		"Q04 request above limit": {`{resources: {requests: {memory: 256Mi}, limits: {memory: 256M}}}`, "spec.resources.requests[memory]"},
		"CPU request above limit": {`{resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}}`, "spec.resources.requests[cpu]"},
		"storage above limit":     {`{resources: {requests: {ephemeral-storage: 2Gi}, limits: {ephemeral-storage: 1Gi}}}`, "spec.resources.requests[ephemeral-storage]"},
		"fraction as exponent":    {`{resources: {limits: {memory: "1e1.5"}}}`, "spec.resources.limits.memory"},
		"endless exponent":        {`{resources: {limits: {memory: "1e999999999"}}}`, "spec.resources.limits.memory"},
		"Q06 fraction not quoted": {`{resources: {requests: {cpu: 0.5}}}`, "spec.resources.requests.cpu"},
		"resource claims":         {`{resources: {claims: [{name: gpu}]}}`, "spec.resources.claims"},

		"probe without a handler":    {`{probes: {liveness: {periodSeconds: 5}}}`, "spec.probes.liveness"},
		"probe with two handlers":    {`{probes: {startup: {exec: {command: [a]}, tcpSocket: {port: 80}}}}`, "spec.probes.startup"},
		"exec without a command":     {`{probes: {readiness: {exec: {}}}}`, "spec.probes.readiness.exec.command"},
		"liveness succeeds twice":    {`{probes: {liveness: {tcpSocket: {port: 80}, successThreshold: 2}}}`, "spec.probes.liveness.successThreshold"},
		"startup succeeds twice":     {`{probes: {startup: {tcpSocket: {port: 80}, successThreshold: 2}}}`, "spec.probes.startup.successThreshold"},
		"readiness with a grace":     {`{probes: {readiness: {tcpSocket: {port: 80}, terminationGracePeriodSeconds: 5}}}`, "spec.probes.readiness.terminationGracePeriodSeconds"},
		"probe of another host":      {`{probes: {liveness: {httpGet: {port: 80, host: 10.0.0.1}}}}`, "spec.probes.liveness.httpGet.host"},
		"TCP probe of another host":  {`{probes: {readiness: {tcpSocket: {port: 80, host: db}}}}`, "spec.probes.readiness.tcpSocket.host"},
		"alpha protocol of a probe":  {`{probes: {liveness: {httpGet: {port: 80, protocol: HTTP2}}}}`, "spec.probes.liveness.httpGet.protocol"},
		"alpha mode of a gRPC probe": {`{probes: {liveness: {grpc: {port: 80, mode: TLS}}}}`, "spec.probes.liveness.grpc.mode"},

		"mount without a source":       {`{mounts: [{path: /a}]}`, "spec.mounts[0]"},
		"mount with two sources":       {`{mounts: [{path: /a, emptyDir: {}, secret: {name: s}}]}`, "spec.mounts[0]"},
		"relative mount path":          {`{mounts: [{path: a, emptyDir: {}}]}`, "spec.mounts[0].path"},
		"mount path with a colon":      {`{mounts: [{path: "/a:b", emptyDir: {}}]}`, "spec.mounts[0].path"},
		"mount at the root":            {`{mounts: [{path: //, emptyDir: {}}]}`, "spec.mounts[0].path"},
		"mount without a name":         {`{mounts: [{path: /a, configMap: {}}]}`, "spec.mounts[0].configMap.name"},
		"item without a path":          {`{mounts: [{path: /a, secret: {name: s, items: [{key: a}]}}]}`, "spec.mounts[0].secret.items[0].path"},
		"item with an empty key":       {`{mounts: [{path: /a, secret: {name: s, items: [{key: "", path: a}]}}]}`, "spec.mounts[0].secret.items[0].key"},
		"item's mode":                  {`{mounts: [{path: /a, secret: {name: s, items: [{key: a, path: a, mode: 512}]}}]}`, "spec.mounts[0].secret.items[0].mode"},
		"alpha owner of an item":       {`{mounts: [{path: /a, configMap: {name: s, items: [{key: a, path: a, user: 1}]}}]}`, "spec.mounts[0].configMap.items[0].user"},
		"negative size of a directory": {`{mounts: [{path: /a, emptyDir: {sizeLimit: -1Mi}}]}`, "spec.mounts[0].emptyDir.sizeLimit"},
		"unknown medium":               {`{mounts: [{path: /a, emptyDir: {medium: HugePages}}]}`, "spec.mounts[0].emptyDir.medium"},
		"claim without a name":         {`{mounts: [{path: /a, persistentVolumeClaim: {}}]}`, "spec.mounts[0].persistentVolumeClaim.claimName"},

		"ingress without ports":      {`{ingress: {host: a.b}}`, "spec.ingress"},
		"ingress without a TCP port": {`{ports: [{port: 53, protocol: UDP}], ingress: {host: a.b}}`, "spec.ingress"},
		"ingress without a host":     {`{ports: [{port: 80}], ingress: {}}`, "spec.ingress.host"},
		"host that is an address":    {`{ports: [{port: 80}], ingress: {host: 10.0.0.1}}`, "spec.ingress.host"},
		"host with capital letters":  {`{ports: [{port: 80}], ingress: {host: Shop.example.com}}`, "spec.ingress.host"},
		"path that breaks out":       {`{ports: [{port: 80}], ingress: {host: a.b, path: "/a;b"}}`, "spec.ingress.path"},
		"unknown type of path":       {`{ports: [{port: 80}], ingress: {host: a.b, pathType: Regex}}`, "spec.ingress.pathType"},
		"TLS from nowhere":           {`{ports: [{port: 80}], ingress: {host: a.b, tls: {}}}`, "spec.ingress.tls"},
		"unknown kind of issuer":     {`{ports: [{port: 80}], ingress: {host: a.b, tls: {issuerRef: {name: a, kind: Other}}}}`, "spec.ingress.tls.issuerRef.kind"},

		"Z05 bounds the wrong way":     {`{autoscaling: {minReplicas: 5, maxReplicas: 2}}`, "spec.autoscaling.minReplicas"},
		"autoscaling without a bound":  {`{autoscaling: {}}`, "spec.autoscaling.maxReplicas"},
		"autoscaling from 0":           {`{autoscaling: {minReplicas: 0, maxReplicas: 2}}`, "spec.autoscaling.minReplicas"},
		"target of 0 %":                {`{autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 0}}`, "spec.autoscaling.targetCPUUtilizationPercentage"},
		"long stabilization":           {`{autoscaling: {maxReplicas: 2, behavior: {scaleUp: {stabilizationWindowSeconds: 3601}}}}`, "spec.autoscaling.behavior.scaleUp.stabilizationWindowSeconds"},
		"unknown choice of policies":   {`{autoscaling: {maxReplicas: 2, behavior: {scaleUp: {selectPolicy: Best}}}}`, "spec.autoscaling.behavior.scaleUp.selectPolicy"},
		"no policies":                  {`{autoscaling: {maxReplicas: 2, behavior: {scaleDown: {policies: []}}}}`, "spec.autoscaling.behavior.scaleDown.policies"},
		"unknown type of policy":       {`{autoscaling: {maxReplicas: 2, behavior: {scaleDown: {policies: [{type: Nodes, value: 1, periodSeconds: 1}]}}}}`, "spec.autoscaling.behavior.scaleDown.policies[0].type"},
		"long period":                  {`{autoscaling: {maxReplicas: 2, behavior: {scaleDown: {policies: [{type: Pods, value: 1, periodSeconds: 1801}]}}}}`, "spec.autoscaling.behavior.scaleDown.policies[0].periodSeconds"},
		"negative tolerance":           {`{autoscaling: {maxReplicas: 2, behavior: {scaleDown: {tolerance: "-0.1"}}}}`, "spec.autoscaling.behavior.scaleDown.tolerance"},
		"Q06 tolerance without quotes": {`{autoscaling: {maxReplicas: 2, behavior: {scaleDown: {tolerance: 0.1}}}}`, "spec.autoscaling.behavior.scaleDown.tolerance"},

		"two budgets":           {`{podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}}`, "spec.podDisruptionBudget.maxUnavailable"},
		"budget without budget": {`{podDisruptionBudget: {minAvailable: 1, disabled: true}}`, "spec.podDisruptionBudget.disabled"},
		"budget of 101 %":       {`{podDisruptionBudget: {minAvailable: 101%}}`, "spec.podDisruptionBudget.minAvailable"},
		"quoted budget":         {`{podDisruptionBudget: {maxUnavailable: "1"}}`, "spec.podDisruptionBudget.maxUnavailable"},
		"negative budget":       {`{podDisruptionBudget: {maxUnavailable: -1}}`, "spec.podDisruptionBudget.maxUnavailable"},

		"Recreate in steps":       {`{rollout: {type: Recreate, maxSurge: 1}}`, "spec.rollout.maxSurge"},
		"Recreate with some left": {`{rollout: {type: Recreate, maxUnavailable: 1}}`, "spec.rollout.maxUnavailable"},
		"rollout without room":    {`{rollout: {maxSurge: 0%, maxUnavailable: 0}}`, "spec.rollout.maxUnavailable"},
		"more missing than all":   {`{rollout: {maxUnavailable: 101%}}`, "spec.rollout.maxUnavailable"},
		"surge with a fraction":   {`{rollout: {maxSurge: 1.5%}}`, "spec.rollout.maxSurge"},
		"deadline too early":      {`{rollout: {minReadySeconds: 60, progressDeadlineSeconds: 60}}`, "spec.rollout.progressDeadlineSeconds"},
		"default deadline early":  {`{rollout: {minReadySeconds: 600}}`, "spec.rollout.progressDeadlineSeconds"},

		"metrics without a TCP port": {`{ports: [{port: 53, protocol: UDP}], metrics: {}}`, "spec.metrics"},
		"interval of 0":              {`{ports: [{port: 80}], metrics: {interval: 0s}}`, "spec.metrics.interval"},
		"interval without a unit":    {`{ports: [{port: 80}], metrics: {interval: "30"}}`, "spec.metrics.interval"},
		"relative metrics path":      {`{ports: [{port: 80}], metrics: {path: metrics}}`, "spec.metrics.path"},

		"long label of a node":       {`{scheduling: {nodeSelector: {disk: ` + strings.Repeat("a", 64) + `}}}`, "spec.scheduling.nodeSelector.disk"},
		"toleration without a key":   {`{scheduling: {tolerations: [{operator: Equal}]}}`, "spec.scheduling.tolerations[0].operator"},
		"toleration with a value":    {`{scheduling: {tolerations: [{key: a, operator: Exists, value: b}]}}`, "spec.scheduling.tolerations[0].value"},
		"toleration for a while":     {`{scheduling: {tolerations: [{key: a, tolerationSeconds: 1}]}}`, "spec.scheduling.tolerations[0].tolerationSeconds"},
		"alpha toleration":           {`{scheduling: {tolerations: [{key: a, operator: Gt, value: "1"}]}}`, "spec.scheduling.tolerations[0].operator"},
		"unknown effect":             {`{scheduling: {tolerations: [{key: a, effect: Never}]}}`, "spec.scheduling.tolerations[0].effect"},
		"no term of a node":          {demand(`nodeAffinity`, `{nodeSelectorTerms: []}`), "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
		"operator without values":    {demand(`nodeAffinity`, `{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}`), "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values"},
		"Gt with two values":         {demand(`nodeAffinity`, `{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ["1", "2"]}]}]}`), "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values"},
		"unknown field of a node":    {demand(`nodeAffinity`, `{nodeSelectorTerms: [{matchFields: [{key: metadata.uid, operator: In, values: [a]}]}]}`), "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key"},
		"weight of 0":                {`{scheduling: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}}}`, "spec.scheduling.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
		"X02 pods of another place":  {demand(`podAntiAffinity`, `[{topologyKey: a, namespaces: [b]}]`), "spec.scheduling.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces"},
		"X02 pods of any namespace":  {demand(`podAffinity`, `[{topologyKey: a, namespaceSelector: {}}]`), "spec.scheduling.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector"},
		"no topology":                {demand(`podAffinity`, `[{topologyKey: ""}]`), "spec.scheduling.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"},
		"values beside Exists":       {demand(`podAffinity`, `[{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}]`), "spec.scheduling.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values"},
		"Gt over the labels of pods": {demand(`podAffinity`, `[{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}}]`), "spec.scheduling.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].operator"},
		"skew of 0":                  {`{scheduling: {topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}}`, "spec.scheduling.topologySpreadConstraints[0].maxSkew"},
		"unknown action":             {`{scheduling: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: Wait}]}}`, "spec.scheduling.topologySpreadConstraints[0].whenUnsatisfiable"},
		"domains beside a wish":      {`{scheduling: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]}}`, "spec.scheduling.topologySpreadConstraints[0].minDomains"},

		"privileged container": {`{securityContext: {privileged: true}}`, "spec.securityContext.privileged"},
		"reserved name label":  {`{podLabels: {app.kubernetes.io/name: x}}`, "spec.podLabels[app.kubernetes.io/name]"},
		"reserved managed-by":  {`{podLabels: {app.kubernetes.io/managed-by: x}}`, "spec.podLabels[app.kubernetes.io/managed-by]"},
		"reserved instance":    {`{podLabels: {app.kubernetes.io/instance: x}}`, "spec.podLabels[app.kubernetes.io/instance]"},
		"long label value":     {`{podLabels: {team: ` + strings.Repeat("a", 64) + `}}`, "spec.podLabels.team"},
	}
	s := newServer(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := tc.spec
			if !strings.Contains(spec, "image:") && name != "no image" {
				spec = `{image: nginx, ` + spec[1:]
			}
			_, errs := s.create(t, spec)
			if diff := cmp.Diff([]string{tc.want}, paths(errs)); diff != "" {
				t.Errorf("the answer must name one field (-want +got):\n%s%v", diff, errs.ToAggregate())
			}
		})
	}
}

// demand is a spec that demands a kind of affinity.
func demand(kind, terms string) string {
	return `{scheduling: {affinity: {` + kind + `: {requiredDuringSchedulingIgnoredDuringExecution: ` + terms + `}}}}`
}

func TestRefusedNames(t *testing.T) {
	s := newServer(t)
	for _, name := range []string{"a.b", "1st", strings.Repeat("a", 64)} {
		errs := s.judge(s.read(t, bodyOf(t, name, "{image: a}")), nil)
		if diff := cmp.Diff([]string{"metadata.name"}, paths(errs)); diff != "" {
			t.Errorf("no Service could be called %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLoadBalancerClassStays(t *testing.T) {
	const at = "spec.service.loadBalancerClass"
	service := func(s string) string { return `{image: a, ports: [{port: 80}], service: ` + s + `}` }
	s := newServer(t)
	for _, tc := range []struct {
		old, new string
		want     []string
	}{
		{`{type: LoadBalancer, loadBalancerClass: a}`, `{type: LoadBalancer, loadBalancerClass: a, sessionAffinity: ClientIP}`, nil},
		{`{type: LoadBalancer, loadBalancerClass: a}`, `{type: LoadBalancer, loadBalancerClass: b}`, []string{at}},
		{`{type: LoadBalancer, loadBalancerClass: a}`, `{type: LoadBalancer}`, []string{at}},
		{`{type: LoadBalancer}`, `{type: LoadBalancer, loadBalancerClass: a}`, []string{at}},
		{`{type: LoadBalancer, loadBalancerClass: a}`, `{type: NodePort}`, nil},
		{`{type: ClusterIP}`, `{type: LoadBalancer, loadBalancerClass: a}`, nil},
	} {
		old, errs := s.create(t, service(tc.old))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		changed, _ := s.create(t, service(tc.new))
		if diff := cmp.Diff(tc.want, paths(s.judge(changed, old))); diff != "" {
			t.Errorf("from %s to %s (-want +got):\n%s", tc.old, tc.new, diff)
		}
	}
}

// TestStorable: what is right, and what only the validating webhook judges, either because it alone can name the
// element of a list or because objects that are stored so must stay editable.
func TestStorable(t *testing.T) {
	cases := map[string]string{
		"design":                   `{size: 2, image: "nginx:1.7.9", ports: [{port: 80, targetPort: 80, nodePort: 30002}]}`,
		"Z01 zero":                 `{image: a, size: 0}`,
		"Q04 equal":                `{image: a, resources: {requests: {cpu: "1.5"}, limits: {cpu: 1500m}}}`,
		"Q06 number":               `{image: a, resources: {requests: {cpu: 1, memory: 1048576}}}`,
		"extended resource":        `{image: a, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: "1"}}}`,
		"nothing in resources":     `{image: a, resources: {limits: {}, requests: {}}}`,
		"empty value, valueFrom":   `{image: a, envs: [{name: A, value: "", valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`,
		"target port of Go":        `{image: a, ports: [{port: 80, targetPort: 0}]}`,
		"protocol of a template":   `{image: a, ports: [{port: 80, protocol: ""}]}`,
		"class of a template":      `{image: a, ports: [{port: 80}], service: {loadBalancerClass: ""}}`,
		"E01 duplicate envs":       `{image: a, envs: [{name: MODE, value: qa}, {name: MODE, value: qa}]}`,
		"E07 odd env names":        `{image: a, envs: [{name: 2fa.mode, value: "on"}]}`,
		"P02 duplicate ports":      `{image: a, ports: [{port: 80}, {port: 80, protocol: TCP}]}`,
		"duplicate port names":     `{image: a, ports: [{port: 80, name: a}, {port: 81, name: a}]}`,
		"S03 node port, ClusterIP": `{image: a, ports: [{port: 80, nodePort: 30080}], service: {type: ClusterIP}}`,
		"Q03 milli-bytes":          `{image: a, resources: {limits: {memory: 512m}}}`,
		"worst case of the rules":  worstCase(),
		"Z02 0 and autoscaling":    `{image: a, size: 0, autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80}}`,
		"empty blocks":             `{image: a, mounts: [], podDisruptionBudget: {}, rollout: {}, scheduling: {affinity: {}, tolerations: [], topologySpreadConstraints: []}}`,
		"number and percentage":    `{image: a, podDisruptionBudget: {minAvailable: 5001}, rollout: {maxUnavailable: 100%, maxSurge: 400%}}`,
		"no surge":                 `{image: a, rollout: {maxSurge: 0}}`,
		"none missing":             `{image: a, rollout: {maxUnavailable: 0}}`,
		"a port without protocol":  `{image: a, ports: [{port: 80, protocol: ""}], ingress: {host: "*.example.com", path: /a, tls: {secretName: b}}, metrics: {interval: 1h30m}}`,
		"duplicate mounts":         `{image: a, mounts: [{path: /a, emptyDir: {}}, {path: /a/, emptyDir: {}}]}`,
		"Q01 sizes in any words":   `{image: a, mounts: [{path: /a, emptyDir: {sizeLimit: 0.5Gi}}, {path: /b, emptyDir: {sizeLimit: 1048576}}]}`,
		"all tolerations":          `{image: a, scheduling: {tolerations: [{operator: Exists}, {key: a, value: b, effect: NoExecute, tolerationSeconds: -1}]}}`,
		"a wish for any label":     `{image: a, scheduling: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Lt, values: ["1"]}]}}]}}}}`,
	}
	s := newServer(t)
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			if _, errs := s.create(t, spec); len(errs) > 0 {
				t.Errorf("refused: %v", errs.ToAggregate())
			}
		})
	}
}

// TestStoredByEarlierVersions: O07. OLM checks every stored MyApp against the schema of a new version before it installs
// it, so a field that becomes required or narrower would stop the upgrade. testdata/stored only ever grows.
func TestStoredByEarlierVersions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "stored", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	s := newServer(t)
	for _, file := range files {
		t.Run("O07 "+filepath.Base(file), func(t *testing.T) {
			spec, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			object, errs := s.create(t, string(spec))
			if len(errs) > 0 {
				t.Errorf("an upgrade would be refused: %v", errs.ToAggregate())
			}
			var sent map[string]any
			if err := yaml.Unmarshal(spec, &sent); err != nil {
				t.Fatal(err)
			}
			for name := range sent {
				if _, kept := object["spec"].(map[string]any)[name]; !kept {
					t.Errorf("spec.%s would be lost", name)
				}
			}
		})
	}
}

// worstCase has as many of everything that rules look at as the schema allows, so that their real cost is seen.
func worstCase() string {
	var envs, from, labels strings.Builder
	for i := range 200 {
		fmt.Fprintf(&envs, "{name: E%d, valueFrom: {secretKeyRef: {name: %s, key: k}}}, ", i, strings.Repeat("s", 253))
	}
	for i := range 50 {
		fmt.Fprintf(&from, "{prefix: P%d_, secretRef: {name: s}}, ", i)
		fmt.Fprintf(&labels, "example.com/l%d: %s, ", i, strings.Repeat("v", 63))
	}
	probe := "{httpGet: {port: 80, host: ''}}"
	return fmt.Sprintf(`{image: a, envs: [%s], envFrom: [%s], podLabels: {%s}, podAnnotations: {%s}, probes: {liveness: %s, readiness: %s, startup: %s}, mounts: [%s], scheduling: %s}`,
		&envs, &from, &labels, &labels, probe, probe, probe, many(50, `{path: /a, emptyDir: {sizeLimit: 1Mi}}`), worstScheduling())
}

// worstScheduling has ten of everything at each of its levels: a hundred would be more than a request may hold.
func worstScheduling() string {
	expressions := many(10, `{key: a, operator: In, values: [b]}`)
	term := `{topologyKey: a, labelSelector: {matchExpressions: [` + expressions + `]}}`
	terms, wishes := many(10, term), many(10, `{weight: 1, podAffinityTerm: `+term+`}`)
	pods := `{requiredDuringSchedulingIgnoredDuringExecution: [` + terms + `], preferredDuringSchedulingIgnoredDuringExecution: [` + wishes + `]}`
	return fmt.Sprintf(`{tolerations: [%s], topologySpreadConstraints: [%s], affinity: {podAffinity: %s, podAntiAffinity: %s, nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}}`,
		many(50, `{key: a, value: b}`), many(20, `{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule, minDomains: 1}`), pods, pods,
		many(10, `{matchExpressions: [`+expressions+`]}`))
}

func many(n int, element string) string { return strings.Repeat(element+", ", n) }

// TestDefaults: one default, and none inside a list element.
func TestDefaults(t *testing.T) {
	const spec = `{image: a, ports: [{port: 80}], envs: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}],
		imagePullSecrets: [{name: s}], envFrom: [{configMapRef: {name: c}}], probes: {liveness: {grpc: {port: 80}}}}`
	s := newServer(t)
	got, errs := s.create(t, spec)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	want := s.read(t, bodyOf(t, "web", `{size: 1, `+spec[1:]))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the API server changes more than the size (-want +got):\n%s", diff)
	}
}

// TestPodSecurityBaseline compares the schema with Kubernetes' own judgement of the same pod.
func TestPodSecurityBaseline(t *testing.T) {
	values := map[string][]string{
		`{securityContext: {privileged: %s}}`:                       {"true", "false"},
		`{securityContext: {procMount: %s}}`:                        {"Default", "Unmasked"},
		`{securityContext: {capabilities: {add: [%s]}}}`:            {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "NET_RAW", "NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "ALL", "chown"},
		`{securityContext: {capabilities: {drop: [%s]}}}`:           {"ALL", "NET_RAW"},
		`{podSecurityContext: {sysctls: [{name: %s, value: "1"}]}}`: {"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem", "kernel.msgmax", "net.core.somaxconn", "fs.mqueue.msg_max"},
		`{probes: {liveness: {httpGet: {port: 80, host: %s}}}}`:     {`""`, "10.0.0.1", "169.254.169.254"},
		`{probes: {startup: {tcpSocket: {port: 80, host: %s}}}}`:    {`""`, "10.0.0.1"},
	}
	for _, level := range []string{"securityContext", "podSecurityContext"} {
		at := func(s string) string { return "{" + level + ": {" + s + "}}" }
		values[at(`seccompProfile: {type: %s}`)] = []string{"RuntimeDefault", "Localhost", "Unconfined"}
		values[at(`appArmorProfile: {type: %s}`)] = []string{"RuntimeDefault", "Localhost", "Unconfined"}
		values[at(`seLinuxOptions: {type: %s}`)] = []string{`""`, "container_t", "container_init_t", "container_kvm_t", "container_engine_t", "spc_t"}
		values[at(`seLinuxOptions: {user: %s}`)] = []string{`""`, "system_u"}
		values[at(`seLinuxOptions: {role: %s}`)] = []string{`""`, "sysadm_r"}
		values[at(`windowsOptions: {hostProcess: %s}`)] = []string{"true", "false"}
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, baseline := newServer(t), psa.LevelVersion{Level: psa.LevelBaseline, Version: psa.LatestVersion()}
	for format, list := range values {
		for _, value := range list {
			object, errs := s.create(t, `{image: a, `+fmt.Sprintf(format, value)[1:])
			spec := podOf(t, object)
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(baseline, &metav1.ObjectMeta{}, spec))
			if admitted := len(errs) == 0; admitted != result.Allowed {
				t.Errorf(format+": schema admits: %v, Pod Security baseline: %v %s %v", value, admitted, result.Allowed, result.ForbiddenDetail(), errs.ToAggregate())
			}
		}
	}
}

// podOf is the part of a MyApp's pod that Pod Security looks at, straight from the spec.
func podOf(t *testing.T, object map[string]any) *corev1.PodSpec {
	t.Helper()
	app, err := decode(object)
	if err != nil {
		t.Fatal(err)
	}
	c := corev1.Container{Name: "app", SecurityContext: app.Spec.SecurityContext}
	if p := app.Spec.Probes; p != nil {
		c.LivenessProbe, c.StartupProbe = p.Liveness, p.Startup
	}
	return &corev1.PodSpec{SecurityContext: app.Spec.PodSecurityContext, Containers: []corev1.Container{c}}
}
