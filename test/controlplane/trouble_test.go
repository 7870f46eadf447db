package controlplane

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// admissionOff is a label of namespaces in which the webhooks judge nothing, as if they had been down.
const admissionOff = "admission.test/off"

func troubleSpecs() {
	Describe("in trouble", func() {
		crashLoopSpecs()
		invalidSpecs()
		podSpecs()
		refusalSpecs()
		contestSpecs()
	})
}

// podSpecs: the children are as they should be, and yet no pod runs.
func podSpecs() {
	It("says which quota leaves no room for a pod", func(ctx SpecContext) {
		ns := newNamespace(ctx, "quota")
		limit(ctx, ns, corev1.ResourcePods, "1")
		app := wrappers.MakeMyApp("web", ns).Size(2).Obj()
		create(ctx, app)
		reaches(ctx, app, "False "+v1beta1.ReasonQuotaExceeded)
		Expect(message(ctx, app)).To(ContainSubstring("exceeded quota: limit"))
		Eventually(ctx, func() int32 { return live[v1beta1.MyApp](ctx, app).Status.AvailableReplicas }).Should(BeEquivalentTo(1))
	})

	It("tells that Pod Security refuses the pods, and runs under the profile that it wants", func(ctx SpecContext) {
		ns := newNamespace(ctx, "restricted")
		kubectl(ctx, "label", "namespace", ns, "pod-security.kubernetes.io/enforce=restricted")
		app := wrappers.MakeMyApp("web", ns).Obj()
		create(ctx, app)
		reaches(ctx, app, "False "+v1beta1.ReasonPodSecurity)
		Expect(message(ctx, app)).To(ContainSubstring("runAsNonRoot"))
		mergePatch(ctx, app, `{"spec":{"securityProfile":"Restricted"}}`)
		reaches(ctx, app, rolledOut)
	})

	DescribeTable("names what keeps the pods from running", func(ctx SpecContext, app *wrappers.MyApp, reason, says string) {
		object := app.Obj()
		object.Namespace = newNamespace(ctx, "pods")
		create(ctx, object)
		reaches(ctx, object, "False "+reason)
		Expect(message(ctx, object)).To(ContainSubstring(says))
	},
		Entry("no node is large enough", wrappers.MakeMyApp("web", "").Requests(corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10000"),
		}), v1beta1.ReasonUnschedulable, "Insufficient cpu"),
		Entry("the image cannot be pulled", wrappers.MakeMyApp("web", "").PodAnnotation(cluster.Fault, "ImagePullBackOff"),
			v1beta1.ReasonImagePullBackOff, wrappers.Image),
		Entry("a Secret is missing", wrappers.MakeMyApp("web", "").PodAnnotation(cluster.Fault, "CreateContainerConfigError"),
			v1beta1.ReasonContainerConfigError, "simulated CreateContainerConfigError"),
		Entry("the container ends at once", wrappers.MakeMyApp("web", "").PodAnnotation(cluster.Fault, "CrashLoopBackOff"),
			v1beta1.ReasonCrashLoopBackOff, "exit code 1"),
	)
}

// limit sets a quota and waits until it is enforced: before that, everything of the kind is refused.
func limit(ctx context.Context, ns string, what corev1.ResourceName, amount string) {
	GinkgoHelper()
	quota := &corev1.ResourceQuota{ObjectMeta: named("limit", ns)}
	quota.Spec.Hard = corev1.ResourceList{what: resource.MustParse(amount)}
	create(ctx, quota)
	Eventually(ctx, func() corev1.ResourceList { return live[corev1.ResourceQuota](ctx, quota).Status.Hard }).Should(HaveKey(what))
}

// refusalSpecs: the API server refuses one child for a while.
func refusalSpecs() {
	It("keeps the Deployment while a quota refuses the Service, and makes the Service once it may", func(ctx SpecContext) {
		ns := newNamespace(ctx, "services")
		limit(ctx, ns, corev1.ResourceServices, "0")
		app := wrappers.MakeMyApp("web", ns).Port(80).Obj()
		create(ctx, app)
		reaches(ctx, app, "False "+v1beta1.ReasonQuotaExceeded)
		mergePatch(ctx, app, `{"spec":{"image":"registry.example.com/team/web:2.0"}}`)
		Eventually(ctx, func() string {
			return live[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Image
		}).Should(HaveSuffix(":2.0"))
		kubectl(ctx, "delete", "-n", ns, "resourcequota", "limit")
		reaches(ctx, app, rolledOut)
		Expect(exists[corev1.Service](ctx, app)).To(BeTrue())
	})

	It("waits for a node port that another Service holds", func(ctx SpecContext) {
		const port = 31234
		ns := newNamespace(ctx, "nodeport")
		holder := &corev1.Service{ObjectMeta: named("holder", ns)}
		holder.Spec.Type = corev1.ServiceTypeNodePort
		holder.Spec.Ports = []corev1.ServicePort{{Port: 80, NodePort: port}}
		app := wrappers.MakeMyApp("web", ns).NodePort(80, port).Obj()
		create(ctx, holder, app)
		reaches(ctx, app, "False "+v1beta1.ReasonNodePortAllocated)
		Expect(message(ctx, app)).To(ContainSubstring("spec.ports[0].nodePort"))
		Expect(plane.admin.Delete(ctx, holder)).To(Succeed())
		reaches(ctx, app, rolledOut)
		Expect(live[corev1.Service](ctx, app).Spec.Ports[0].NodePort).To(BeEquivalentTo(port))
	})

	It("goes on with all else while it may not touch Services, and recovers by itself", func(ctx SpecContext) {
		ns := newNamespace(ctx, "forbidden")
		role := live[rbacv1.ClusterRole](ctx, &rbacv1.ClusterRole{ObjectMeta: named("myapp-operator-manager", "")})
		before := role.DeepCopy()
		for i := range role.Rules {
			if role.Rules[i].Resources[0] == "services" {
				// What is being watched goes on being watched.
				role.Rules[i].Verbs = []string{"watch"}
			}
		}
		Expect(plane.admin.Update(ctx, role)).To(Succeed())
		restore := func() {
			before.ResourceVersion = ""
			Expect(plane.admin.Update(context.WithoutCancel(ctx), before)).To(Succeed())
		}
		DeferCleanup(restore)
		mayPatch := func() string {
			out, _ := plane.Kubectl(ctx, "auth", "can-i", "patch", "services", "-n", ns, "--as=x", "--as-group="+operatorGroup)
			return out
		}
		Eventually(ctx, mayPatch).Should(HavePrefix("no"))

		app, other := wrappers.MakeMyApp("web", ns).Port(80).Obj(), wrappers.MakeMyApp("worker", ns).Obj()
		create(ctx, app, other)
		reaches(ctx, app, "False "+v1beta1.ReasonForbidden)
		Expect(message(ctx, app)).To(ContainSubstring("services"))
		Expect(exists[appsv1.Deployment](ctx, app)).To(BeTrue())
		reaches(ctx, other, rolledOut)
		restore()
		reaches(ctx, app, rolledOut)
	})
}

// contestSpecs: an object of somebody else has a child's name.
func contestSpecs() {
	It("leaves a Service of somebody else alone, even when no value conflicts", func(ctx SpecContext) {
		ns := newNamespace(ctx, "foreign")
		app := wrappers.MakeMyApp("web", ns).Port(80).Obj()
		foreign := &corev1.Service{ObjectMeta: named("web", ns)}
		foreign.Spec.Type = corev1.ServiceTypeNodePort
		foreign.Spec.Ports = []corev1.ServicePort{{Port: 80}}
		create(ctx, foreign)
		since := mark(ctx)
		create(ctx, app)
		reaches(ctx, app, "False "+v1beta1.ReasonForeignObject)
		Expect(message(ctx, app)).To(And(ContainSubstring(`Service named "web"`), ContainSubstring(v1beta1.AnnotationAdopt)))
		Eventually(ctx, func() int32 { return live[appsv1.Deployment](ctx, app).Status.AvailableReplicas }).Should(BeEquivalentTo(1))
		Consistently(ctx, func() int {
			return len(requests(ctx, since, func(e cluster.Event) bool {
				return e.User == operatorUser && e.Namespace == ns && e.Resource == "services"
			}))
		}, "5s").Should(BeNumerically("<=", 2), "one apply that can only create, and one look")

		waitForCollector(ctx)
		Expect(plane.admin.Delete(ctx, app)).To(Succeed())
		Eventually(ctx, func() bool { return exists[appsv1.Deployment](ctx, app) }).Should(BeFalse())
		Expect(live[corev1.Service](ctx, app).ResourceVersion).To(Equal(foreign.ResourceVersion))
	})
}

// badSpec is a spec that the schema admits and the API server refuses in a child.
type badSpec struct {
	app *wrappers.MyApp
	// path is the field that the condition has to name.
	path string
}

func badSpecs(ns string) []badSpec {
	myApp := wrappers.MakeMyApp
	field := corev1.EnvVar{Name: "BAD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.bogus"}}}
	return []badSpec{
		{myApp("ports-twice", ns).Port(80).Port(80), "spec.ports"},
		{myApp("port-name", ns).Ports(corev1.ServicePort{Name: "UPPER", Port: 80}), "spec.ports[0].name"},
		{myApp("env-name", ns).Env("GOOD", "1").Env("A=B", "2"), "spec.envs[1].name"},
		{myApp("env-source", ns).Envs(field), "spec.envs[0].valueFrom.fieldRef.fieldPath"},
		{myApp("pod-label", ns).PodLabel("team", "not a label"), "spec.podLabels"},
	}
}

// invalidSpecs: what admission would have refused was stored while it was off.
func invalidSpecs() {
	It("T06 names the field of a spec that no child can have, once, and serves the others", func(ctx SpecContext) {
		bypass, err := json.Marshal(map[string]any{"webhooks": []any{map[string]any{
			"name":              "vmyapp.app.ydzs.io",
			"namespaceSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": admissionOff, "operator": "DoesNotExist"}}},
		}}})
		Expect(err).NotTo(HaveOccurred())
		configuration := kubectl(ctx, "get", "validatingwebhookconfigurations", "-o", "name")
		ns := newNamespace(ctx, "invalid")
		kubectl(ctx, "label", "namespace", ns, admissionOff+"=true")
		kubectl(ctx, "patch", firstLine(configuration), "--type=strategic", "-p", string(bypass))
		// The configuration takes a moment to arrive; a good one never needs it.
		bad := badSpecs(ns)
		Eventually(ctx, func() error { return plane.admin.Create(ctx, bad[0].app.Obj()) }).Should(Succeed())
		var good []client.Object
		for i, b := range bad {
			if i > 0 {
				create(ctx, b.app.Obj())
			}
			fine := wrappers.MakeMyApp("good-"+b.app.Obj().Name, ns).Port(80).Obj()
			create(ctx, fine)
			good = append(good, fine)
		}
		for i, b := range bad {
			reaches(ctx, b.app.Obj(), "False "+v1beta1.ReasonInvalidSpec)
			Expect(message(ctx, b.app.Obj())).To(ContainSubstring(b.path))
			reaches(ctx, good[i], rolledOut)
		}
		since := mark(ctx)
		Expect(pause(ctx, 20*time.Second)).To(Succeed())
		Expect(writes(ctx, since, operatorUser, ns)).To(BeEmpty())
	}, SpecTimeout(2*time.Minute))
}
