package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
	"ydzs.io/myapp-operator/test/wrappers"
)

// What admission lets through, the API server has to take as children, or the MyApp would be accepted and then stuck. So
// blocks are put together at random from right and wrong parts, and the API server is the judge of what passes.

// part makes a random piece of YAML in flow style.
type part func(r *rand.Rand) string

// oneOf picks one of several pieces; one that is given several times is picked more often.
func oneOf(pieces ...string) part {
	return func(r *rand.Rand) string { return pieces[r.IntN(len(pieces))] }
}

// fields is an object in which each field is there or not. A name that ends with '!' is always there.
func fields(of map[string]part) part {
	return func(r *rand.Rand) string {
		text := "{"
		for _, name := range slices.Sorted(maps.Keys(of)) {
			key, always := strings.CutSuffix(name, "!")
			if always || r.IntN(3) == 0 {
				text += key + ": " + of[name](r) + ", "
			}
		}
		return text + "}"
	}
}

func list(atMost int, element part) part {
	return func(r *rand.Rand) string {
		text := "["
		for range r.IntN(atMost + 1) {
			text += element(r) + ", "
		}
		return text + "]"
	}
}

var (
	anyName    = oneOf("a", "a", "settings", "b.c", "A", "a/b", "''")
	anyKey     = oneOf("app", "app", "example.com/tier", "kubernetes.io/hostname", "pod-template-hash", "app.kubernetes.io/name", "a b", "''")
	anyValue   = oneOf("web", "web", "''", "a b")
	anyShare   = oneOf("0", "1", "2", "5000", "0%", "1%", "50%", "100%", "101%", "150%", "'1'", "-1", "a%", "01%")
	anySeconds = oneOf("0", "1", "60", "600", "1800", "3600", "3601", "-1")

	anyExpression = func(operators ...string) part {
		return fields(map[string]part{
			"key!": anyKey, "operator!": oneOf(operators...), "values": oneOf("[web]", "[web]", "[web, api]", "['1']", "[]", "['a b']"),
		})
	}
	anySelector = fields(map[string]part{
		"matchLabels":      fields(map[string]part{"app": anyValue, "pod-template-hash": anyValue, "a b": anyValue}),
		"matchExpressions": list(2, anyExpression("In", "NotIn", "Exists", "Exists", "DoesNotExist", "Gt")),
	})
	anyKeys    = oneOf("[pod-template-hash]", "[app]", "[app, app]", "[app.kubernetes.io/name]", "[]", "[a b]")
	anyPodTerm = fields(map[string]part{
		"topologyKey!": anyKey, "labelSelector": anySelector, "matchLabelKeys": anyKeys, "mismatchLabelKeys": anyKeys,
		"namespaces": oneOf("[]", "[other]"), "namespaceSelector": oneOf("{}"),
	})
	anyWeight      = oneOf("1", "50", "100", "0", "101")
	anyPodAffinity = fields(map[string]part{
		"requiredDuringSchedulingIgnoredDuringExecution":  list(1, anyPodTerm),
		"preferredDuringSchedulingIgnoredDuringExecution": list(1, fields(map[string]part{"weight!": anyWeight, "podAffinityTerm!": anyPodTerm})),
	})
	anyNodeTerm = fields(map[string]part{
		"matchExpressions": list(2, anyExpression("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Is")),
		"matchFields":      list(1, fields(map[string]part{"key!": oneOf("metadata.name", "metadata.name", "metadata.uid"), "operator!": oneOf("In", "NotIn", "Exists"), "values!": oneOf("[node-1]", "[node-1]", "[A]", "[]", "[a, b]")})),
	})
	anyScheduling = fields(map[string]part{
		"nodeSelector": fields(map[string]part{"app": anyValue, "a b": anyValue}),
		"tolerations": list(2, fields(map[string]part{
			"key": anyKey, "operator": oneOf("Exists", "Equal", "''", "Gt", "In"), "value": anyValue,
			"effect": oneOf("NoExecute", "NoExecute", "NoSchedule", "''", "Never"), "tolerationSeconds": oneOf("0", "60", "-1"),
		})),
		"affinity": fields(map[string]part{
			"podAffinity": anyPodAffinity, "podAntiAffinity": anyPodAffinity,
			"nodeAffinity": fields(map[string]part{
				"requiredDuringSchedulingIgnoredDuringExecution":  fields(map[string]part{"nodeSelectorTerms!": list(2, anyNodeTerm)}),
				"preferredDuringSchedulingIgnoredDuringExecution": list(1, fields(map[string]part{"weight!": anyWeight, "preference!": anyNodeTerm})),
			}),
		}),
		"topologySpreadConstraints": list(2, fields(map[string]part{
			"maxSkew!": oneOf("1", "1", "5", "0"), "topologyKey!": anyKey, "whenUnsatisfiable!": oneOf("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway", "Wait"),
			"labelSelector": anySelector, "minDomains": oneOf("1", "3", "0"), "nodeAffinityPolicy": oneOf("Honor", "Ignore", "No"),
			"nodeTaintsPolicy": oneOf("Honor", "Ignore", "No"), "matchLabelKeys": anyKeys,
		})),
		"priorityClassName": oneOf("high", "high", "High", "''"),
	})
	anyFiles = fields(map[string]part{
		"name!": anyName, "optional": oneOf("true", "false"), "defaultMode": oneOf("0", "420", "511", "512"),
		"items": list(2, fields(map[string]part{
			"key!": oneOf("a", "b", "a.b", "a b", "''"), "path!": oneOf("a", "b", "c/d", "./a", "..a", "../a", "/a", "''"), "mode": oneOf("0", "511", "-1", "512"), "user": oneOf("1"),
		})),
	})
	anyMount = fields(map[string]part{
		"path!": oneOf("/a", "/b", "/a/b", "/tmp", "/tmp/", "/", "//", "a", "/a:b", "/a/../b"), "subPath": oneOf("a", "a/b", "/a", "../a", "''"),
		"readOnly": oneOf("true", "false"), "emptyDir": fields(map[string]part{"medium": oneOf("Memory", "''", "HugePages"), "sizeLimit": oneOf("1Mi", "0", "0.5Gi", "-1", "1e1.5")}),
		"configMap": anyFiles, "secret": anyFiles, "persistentVolumeClaim": fields(map[string]part{"claimName!": anyName}),
	})
	anyIngress = fields(map[string]part{
		"host!": oneOf("a.b", "a.b", "shop.example.com", "'*.example.com'", "'*'", "10.0.0.1", "010.1.1.1", "A.b", "a..b"),
		"path":  oneOf("/", "/a", "/a/", "/a//b", "/a/..", "'/%2f'", "a", "/a b", "/ü", "''"), "pathType": oneOf("Prefix", "Exact", "ImplementationSpecific", "Regex"),
		"className": oneOf("nginx", "a.b", "Nginx", "a/b", "''"), "port": oneOf("80", "80", "81"),
		"annotations": fields(map[string]part{"nginx.ingress.kubernetes.io/a": oneOf("b", "b;"), "nginx.ingress.kubernetes.io/a/b": oneOf("c"), "kubernetes.io/ingress.class": oneOf("nginx")}),
		"tls":         fields(map[string]part{"secretName": anyName, "issuerRef": fields(map[string]part{"name!": anyName, "kind": oneOf("Issuer", "ClusterIssuer", "Other")})}),
	})
	anyRules = fields(map[string]part{
		"stabilizationWindowSeconds": anySeconds, "selectPolicy": oneOf("Max", "Min", "Disabled", "None"), "tolerance": newer(oneOf("'0.1'", "1", "100m", "'-1'", "0")),
		"policies": list(2, fields(map[string]part{"type!": oneOf("Pods", "Percent", "Nodes"), "value!": oneOf("1", "100", "0"), "periodSeconds!": oneOf("1", "60", "1800", "0", "1801")})),
	})
	anyAutoscaling = fields(map[string]part{
		"minReplicas": oneOf("1", "2", "0"), "maxReplicas!": oneOf("1", "3", "5000", "0"), "targetCPUUtilizationPercentage": oneOf("1", "1000", "0"),
		"targetMemoryUtilizationPercentage": oneOf("1", "1000", "0"), "behavior": fields(map[string]part{"scaleUp": anyRules, "scaleDown": anyRules}),
	})
	anyBudget  = fields(map[string]part{"minAvailable": anyShare, "maxUnavailable": anyShare, "disabled": oneOf("true", "false")})
	anyRollout = fields(map[string]part{
		"type": oneOf("RollingUpdate", "Recreate", "Fast"), "maxUnavailable": anyShare, "maxSurge": anyShare, "minReadySeconds": anySeconds,
		"progressDeadlineSeconds": anySeconds, "revisionHistoryLimit": oneOf("0", "100", "-1"), "restartOnConfigChange": oneOf("true", "false"),
	})
	blocksOf = map[string]part{
		"mounts": list(3, anyMount), "ingress": anyIngress, "autoscaling": anyAutoscaling, "podDisruptionBudget": anyBudget, "scheduling": anyScheduling, "rollout": anyRollout,
	}
)

// newer is a field that the oldest API server does not know, and that stays away from there.
func newer(p part) part {
	if wrappers.OldServer() {
		return oneOf("null")
	}
	return p
}

var _ = Describe("Children of what admission lets through", func() {
	BeforeEach(func(ctx SpecContext) {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "default"}}
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1}
		for _, object := range []client.Object{account, class} {
			Expect(client.IgnoreAlreadyExists(admin.Create(ctx, object))).To(Succeed())
		}
	})

	for _, block := range slices.Sorted(maps.Keys(blocksOf)) {
		It("are taken by the API server: "+block, func(ctx SpecContext) {
			const rounds = 80
			r, admitted := rand.New(rand.NewPCG(1, 2)), 0
			for range rounds {
				text := blocksOf[block](r)
				app := parse(with("size: " + oneOf("0", "1", "3")(r) + "\n  ports: [{port: 80}]\n  " + block + ": " + text))
				err := admin.Create(ctx, app, client.DryRunAll)
				if apierrors.IsInvalid(err) {
					continue
				}
				Expect(err).NotTo(HaveOccurred(), text)
				admitted++
				typed := &v1beta1.MyApp{}
				Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(app.Object, typed)).To(Succeed(), text)
				expectChildren(ctx, typed, text)
			}
			GinkgoWriter.Printf("%d of %d are admitted\n", admitted, rounds)
			Expect(admitted).To(And(BeNumerically(">", rounds/20), BeNumerically("<", rounds*19/20)), "the others show little")
		})
	}
})

// expectChildren sends every child, and a pod of the Deployment, to the API server and stores none.
func expectChildren(ctx context.Context, app *v1beta1.MyApp, text string) {
	GinkgoHelper()
	app.Name, app.UID = "children", types.UID("6b0e8a52-3c0f-4b53-9d0e-0d3b6b0e8a52")
	in := desired.Input{App: app, Options: desired.Options{IngressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes}}
	deployment := desired.Deployment(in, nil)
	children := []runtime.ApplyConfiguration{deployment, desired.Service(in, nil)}
	if c := desired.Ingress(in, nil); c != nil {
		children = append(children, c)
	}
	if c := desired.HorizontalPodAutoscaler(in, nil); c != nil {
		children = append(children, c)
	}
	if c := desired.PodDisruptionBudget(in, nil); c != nil {
		children = append(children, c)
	}
	for _, c := range children {
		Expect(admin.Apply(ctx, c, client.DryRunAll, client.FieldOwner(v1beta1.OperatorName))).To(Succeed(), "%s makes\n%s", text, inJSON(c))
	}
	Expect(admin.Create(ctx, podOf(deployment), client.DryRunAll)).To(Succeed(), text)
}

// podOf is a pod as the Deployment's ReplicaSet makes it. What is wrong with a pod alone shows nowhere else.
func podOf(d *appsv1ac.DeploymentApplyConfiguration) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{}
	Expect(json.Unmarshal([]byte(inJSON(d.Spec.Template)), pod)).To(Succeed())
	pod.Namespace, pod.GenerateName = "default", "children-"
	pod.Labels["pod-template-hash"] = "0123456789"
	return pod
}

func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(raw)
}
