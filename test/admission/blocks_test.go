package admission

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/test/wrappers"
)

// scheduled is a MyApp with one more line in its scheduling.
func scheduled(line string) string { return with("scheduling: {" + line + "}") }

var _ = Describe("A bad block of a MyApp", func() {
	DescribeTable("is refused with 422 and the path of its field", refused,
		Entry("mount without a source", with("mounts: [{path: /a}]"), "spec.mounts[0]", "exactly one of"),
		Entry("mount with two sources", with("mounts: [{path: /a, emptyDir: {}, configMap: {name: a}}]"), "spec.mounts[0]", "exactly one of"),
		Entry("mount at a relative path", with("mounts: [{path: a, emptyDir: {}}]"), "spec.mounts[0].path", "match"),
		Entry("mount that hides the image", with("mounts: [{path: /a, emptyDir: {}}, {path: /., emptyDir: {}}]"), "spec.mounts[1].path", "hide the whole image"),
		Entry("mount path with backsteps", with("mounts: [{path: /a/../b, emptyDir: {}}]"), "spec.mounts[0].path", "'..'"),
		Entry("two mounts at one path", with("mounts: [{path: /a, emptyDir: {}}, {path: /a/, emptyDir: {}}]"), "spec.mounts[1].path", "another mount"),
		Entry("subPath out of the volume", with("mounts: [{path: /a, subPath: ../b, emptyDir: {}}]"), "spec.mounts[0].subPath", "'..'"),
		Entry("X02 Secret of another namespace", with("mounts: [{path: /a, secret: {name: other/s}}]"), "spec.mounts[0].secret.name", "name"),
		Entry("X02 directory of the node", with("mounts: [{path: /a, hostPath: {path: /}}]"), "spec.mounts[0]", "exactly one of"),
		Entry("two items with one file name", with("mounts: [{path: /a, configMap: {name: a, items: [{key: a, path: a}, {key: b, path: ./a}]}}]"), "spec.mounts[0].configMap.items[1].path", "file name"),
		Entry("item of an alpha feature", with("mounts: [{path: /a, configMap: {name: a, items: [{key: a, path: a, user: 1}]}}]"), "spec.mounts[0].configMap.items[0].user", "feature"),
		Entry("negative size of a directory", with("mounts: [{path: /a, emptyDir: {sizeLimit: -1}}]"), "spec.mounts[0].emptyDir.sizeLimit", "negative"),

		Entry("ingress without ports", with("ingress: {host: shop.example.com}"), "spec.ingress", "tcp entry"),
		Entry("G01 ingress to a port that is not there", with(web+"\n  ingress: {host: shop.example.com, port: 8080}"), "spec.ingress.port", "spec.ports"),
		Entry("ingress for an address", with(web+"\n  ingress: {host: 10.0.0.1}"), "spec.ingress.host", "ip address"),
		Entry("ingress for half a wildcard", with(web+"\n  ingress: {host: 'a*.example.com'}"), "spec.ingress.host", "match"),
		Entry("ingress path that is another one", with(web+"\n  ingress: {host: a.b, path: /a/../b}"), "spec.ingress.path", "plain path"),
		Entry("ingress path that breaks out", with(web+"\n  ingress: {host: a.b, path: '/a;b', pathType: ImplementationSpecific}"), "spec.ingress.path", "match"),
		Entry("G03 class that is no name", with(web+"\n  ingress: {host: a.b, className: Nginx}"), "spec.ingress.className", "lower case"),
		Entry("G04 snippet", with(web+"\n  ingress: {host: a.b, annotations: {nginx.ingress.kubernetes.io/configuration-snippet: 'return 200;'}}"), "spec.ingress.annotations[nginx.ingress.kubernetes.io/configuration-snippet]", "administrators"),
		Entry("G04 value that breaks out", with(web+"\n  ingress: {host: a.b, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: '8m;}'}}"), "spec.ingress.annotations[nginx.ingress.kubernetes.io/proxy-body-size]", "braces"),
		Entry("G04 foreign prefix", with(web+"\n  ingress: {host: a.b, annotations: {example.com/a: b}}"), "spec.ingress.annotations[example.com/a]", "nginx.ingress.kubernetes.io/"),
		Entry("G03 class as an annotation", with(web+"\n  ingress: {host: a.b, annotations: {kubernetes.io/ingress.class: nginx}}"), "spec.ingress.annotations[kubernetes.io/ingress.class]", "classname"),
		Entry("certificate twice", with(web+"\n  ingress: {host: a.b, tls: {issuerRef: {name: ca}}, annotations: {cert-manager.io/issuer: ca}}"), "spec.ingress.annotations[cert-manager.io/issuer]", "tls.issuerref"),
		Entry("TLS from nowhere", with(web+"\n  ingress: {host: a.b, tls: {}}"), "spec.ingress.tls", "issuerref"),
		Entry("X02 certificate of another namespace", with(web+"\n  ingress: {host: a.b, tls: {secretName: other/tls}}"), "spec.ingress.tls.secretName", "name"),

		Entry("Z05 more pods at least than at most", with("autoscaling: {minReplicas: 5, maxReplicas: 2}"), "spec.autoscaling.minReplicas", "maxreplicas"),
		Entry("autoscaling to 0", with("autoscaling: {minReplicas: 0, maxReplicas: 2}"), "spec.autoscaling.minReplicas", "1"),
		Entry("scaling policy without time", with("autoscaling: {maxReplicas: 2, behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 0}]}}}"), "spec.autoscaling.behavior.scaleUp.policies[0].periodSeconds", "1"),
		Entry("Q06 bare fraction of tolerance", with("autoscaling: {maxReplicas: 2, behavior: {scaleUp: {tolerance: 0.1}}}"), "spec.autoscaling.behavior.scaleUp.tolerance", "string"),

		Entry("two budgets", with("podDisruptionBudget: {minAvailable: 1, maxUnavailable: 1}"), "spec.podDisruptionBudget.maxUnavailable", "minavailable"),
		Entry("budget above all pods", with("podDisruptionBudget: {minAvailable: 101%}"), "spec.podDisruptionBudget.minAvailable", "match"),

		Entry("rollout without room", with("rollout: {maxUnavailable: 0, maxSurge: 0%}"), "spec.rollout.maxUnavailable", "maxsurge"),
		Entry("Recreate in steps", with("rollout: {type: Recreate, maxSurge: 1}"), "spec.rollout.maxSurge", "recreate"),
		Entry("deadline before a pod can be available", with("rollout: {minReadySeconds: 60, progressDeadlineSeconds: 60}"), "spec.rollout.progressDeadlineSeconds", "minreadyseconds"),

		Entry("metrics without ports", with("metrics: {}"), "spec.metrics", "tcp entry"),
		Entry("metrics of a port that is not there", with(web+"\n  metrics: {port: 9090}"), "spec.metrics.port", "spec.ports"),
		Entry("metrics all the time", with(web+"\n  metrics: {interval: 0s}"), "spec.metrics.interval", "longer than 0"),

		Entry("label that no node has", scheduled("nodeSelector: {a b: c}"), "spec.scheduling.nodeSelector[a b]", "must"),
		Entry("priority class that is no name", scheduled("priorityClassName: High"), "spec.scheduling.priorityClassName", "lower case"),
		Entry("toleration without a key", scheduled("tolerations: [{operator: Equal, value: a}]"), "spec.scheduling.tolerations[0].operator", "exists"),
		Entry("alpha toleration", scheduled("tolerations: [{key: a, operator: Gt, value: '1'}]"), "spec.scheduling.tolerations[0].operator", "supported values"),
		Entry("node affinity without terms", scheduled("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"), "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", "at least 1"),
		Entry("node affinity by a word that is no number", scheduled("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [b]}]}]}}}"), "spec.scheduling.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values", "number"),
		Entry("X02 affinity to another namespace", scheduled("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [other]}]}}"), "spec.scheduling.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces", "namespace"),
		Entry("affinity by a bad label", scheduled("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {matchLabels: {a: b c}}}]}}"), "spec.scheduling.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels[a]", "label"),
		Entry("one constraint twice", scheduled("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]"), "spec.scheduling.topologySpreadConstraints[1]", "each pair"),
		Entry("domains beside a wish", scheduled("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]"), "spec.scheduling.topologySpreadConstraints[0].minDomains", "donotschedule"),
		Entry("key that is selected by already", scheduled("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [app.kubernetes.io/name]}]"), "spec.scheduling.topologySpreadConstraints[0].matchLabelKeys[0]", "labelselector"),
	)
})

var _ = Describe("A good block of a MyApp", func() {
	DescribeTable("is accepted", func(ctx context.Context, document string) {
		Expect(admin.Create(ctx, parse(document), client.DryRunAll)).To(Succeed())
	},
		Entry("Z02 size 0 beside autoscaling", with("size: 0\n  autoscaling: {minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 80}")),
		Entry("Z05 autoscaling without a request", with("autoscaling: {minReplicas: 1, maxReplicas: 4, targetCPUUtilizationPercentage: 30}\n  resources: {}")),
		Entry("G01 the first of several ports", with("ports: [{port: 8080}, {port: 9090}]\n  ingress: {host: shop.example.com}")),
		Entry("G04 ordinary annotation", with(web+"\n  ingress: {host: a.b, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}}")),
		Entry("S03 pinned node port beside an ingress", with("ports: [{port: 80, nodePort: 30080}]\n  ingress: {host: a.b}")),
		Entry("one mount below another", with("mounts: [{path: /a, emptyDir: {}}, {path: /a/b, emptyDir: {}}]")),
	)

	It("N01 is accepted beside every other one under a name of 63 characters", func(ctx SpecContext) {
		const name = "a23456789-123456789-123456789-123456789-123456789-123456789-123"
		Expect(admin.Create(ctx, wrappers.FullestHere(name, "default").Obj(), client.DryRunAll)).To(Succeed())
	})

	It("warns of what does not work as it looks", func(ctx SpecContext) {
		out, err := plane.KubectlStdin(ctx, `
apiVersion: app.ydzs.io/v1beta1
kind: MyApp
metadata: {name: risky}
spec:
  image: nginx:1.27
  autoscaling: {maxReplicas: 4, targetCPUUtilizationPercentage: 30, targetMemoryUtilizationPercentage: 30}
  podDisruptionBudget: {minAvailable: 1}
  mounts: [{path: /data, persistentVolumeClaim: {claimName: data}}]
`, "apply", "--dry-run=server", "-f", "-")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(And(
			ContainSubstring("spec.resources.requests.cpu"), ContainSubstring("spec.resources.requests.memory"),
			ContainSubstring("blocks every node drain"), ContainSubstring("spec.rollout.type to Recreate")))
	})
})

var _ = Describe("The fullest MyApp", func() {
	It("is unchanged by a second apply", func(ctx SpecContext) {
		app := wrappers.FullestHere("fullest", "default").Obj()
		document, err := yaml.Marshal(map[string]any{"apiVersion": app.APIVersion, "kind": app.Kind, "metadata": map[string]any{"name": app.Name}, "spec": app.Spec})
		Expect(err).NotTo(HaveOccurred())
		for _, want := range []string{"created", "unchanged"} {
			out, err := plane.KubectlStdin(ctx, string(document), "apply", "-f", "-")
			Expect(err).NotTo(HaveOccurred(), out)
			Expect(out).To(ContainSubstring("myapp.app.ydzs.io/fullest " + want))
		}
		Expect(admin.Delete(ctx, app)).To(Succeed())
	})
})
