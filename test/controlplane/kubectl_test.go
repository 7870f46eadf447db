package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// What people do to a MyApp with kubectl.
func kubectlSpecs() {
	Describe("under kubectl", Ordered, func() {
		var ns string
		var app *v1beta1.MyApp

		BeforeAll(func(ctx SpecContext) {
			ns = newNamespace(ctx, "kubectl")
			app = wrappers.MakeMyApp("nginx-app", ns).Obj()
		})

		It("makes the first manifest run, and applies it twice for nothing", func(ctx SpecContext) {
			manifest := fmt.Sprintf(`
apiVersion: app.ydzs.io/v1beta1
kind: MyApp
metadata: {name: nginx-app, namespace: %s}
spec:
  size: 2
  image: nginx:1.7.9
  ports:
    - {port: 80, targetPort: 80, nodePort: 30002}`, ns)
			apply := func() string {
				out, err := plane.KubectlStdin(ctx, manifest, "apply", "-f", "-")
				Expect(err).NotTo(HaveOccurred())
				return out
			}
			Expect(apply()).To(ContainSubstring("myapp.app.ydzs.io/nginx-app created"))
			kubectl(ctx, "wait", "-n", ns, "--for=condition=Ready", "--timeout=30s", "myapp/nginx-app")
			Expect(kubectl(ctx, "get", "-n", ns, "myapp,deploy,svc", "--no-headers")).To(And(
				MatchRegexp(`myapp.app.ydzs.io/nginx-app +True +2 +2 +nginx:1.7.9 `),
				MatchRegexp(`deployment.apps/nginx-app +2/2 +2 +2 `),
				MatchRegexp(`service/nginx-app +NodePort .* 80:30002/TCP `)))

			since := mark(ctx)
			Expect(apply()).To(ContainSubstring("myapp.app.ydzs.io/nginx-app unchanged"))
			Expect(requests(ctx, since, func(e cluster.Event) bool {
				return isWrite(e) && e.Namespace == ns && (e.User == operatorUser || e.Resource == "myapps")
			})).To(BeEmpty())
		})

		It("makes every sample run, and applies all of them twice for nothing", func(ctx SpecContext) {
			ns := newNamespace(ctx, "samples")
			root, err := cluster.Root()
			Expect(err).NotTo(HaveOccurred())
			waitForCollector(ctx)
			// The first sample pins the node port that the manifest above has.
			kubectl(ctx, "delete", "-n", app.Namespace, "myapp/nginx-app", "--wait")
			Eventually(ctx, func() bool { return exists[corev1.Service](ctx, app) }).Should(BeFalse())
			apply := func() string { return kubectl(ctx, "apply", "-n", ns, "-k", filepath.Join(root, "config", "samples")) }
			Expect(strings.Count(apply(), "created")).To(Equal(3))
			kubectl(ctx, "wait", "-n", ns, "--for=condition=Ready", "--timeout=30s", "myapps", "--all")
			since := mark(ctx)
			again := apply()
			Expect(strings.Count(again, "unchanged")).To(Equal(3), again)
			Expect(requests(ctx, since, func(e cluster.Event) bool {
				return isWrite(e) && e.Namespace == ns && (e.User == operatorUser || e.Resource == "myapps")
			})).To(BeEmpty())
			kubectl(ctx, "delete", "-n", ns, "myapps", "--all")
			Eventually(ctx, func() bool {
				return exists[corev1.Service](ctx, wrappers.MakeMyApp("nginx-app", ns).Obj())
			}).Should(BeFalse())
			create(ctx, wrappers.MakeMyApp("nginx-app", app.Namespace).Size(2).Port(80).Obj())
			reaches(ctx, app, rolledOut)
		})

		It("rolls a change of variables and resources out once", func(ctx SpecContext) {
			web := wrappers.MakeMyApp("once", ns).Size(2).Port(80).Obj()
			create(ctx, web)
			reaches(ctx, web, rolledOut)
			mergePatch(ctx, web, `{"spec":{"envs":[{"name":"A","value":"b"}],"resources":{"requests":{"cpu":"10m"}}}}`)
			reaches(ctx, web, rolledOut)
			container := live[appsv1.Deployment](ctx, web).Spec.Template.Spec.Containers[0]
			Expect(container.Env).To(Equal([]corev1.EnvVar{{Name: "A", Value: "b"}}))
			Expect(container.Resources.Requests.Cpu().String()).To(Equal("10m"))
			var sets appsv1.ReplicaSetList
			Expect(plane.admin.List(ctx, &sets, client.InNamespace(ns), client.MatchingLabels(v1beta1.SelectorLabels("once")))).To(Succeed())
			Expect(sets.Items).To(HaveLen(2), "the change made more than one revision")
		})

		It("Z09 scales, and tells the scale subresource its selector", func(ctx SpecContext) {
			kubectl(ctx, "scale", "-n", ns, "myapp/nginx-app", "--replicas=3")
			reaches(ctx, app, rolledOut)
			Expect(live[appsv1.Deployment](ctx, app).Spec.Replicas).To(HaveValue(BeEquivalentTo(3)))

			var scale autoscalingv1.Scale
			raw := kubectl(ctx, "get", "--raw", "/apis/app.ydzs.io/v1beta1/namespaces/"+ns+"/myapps/nginx-app/scale")
			Expect(json.Unmarshal([]byte(raw), &scale)).To(Succeed())
			Expect(scale.Status.Replicas).To(BeEquivalentTo(3))
			pods := kubectl(ctx, "get", "pods", "-n", ns, "-l", scale.Status.Selector, "-o", "jsonpath={.items[*].metadata.name}")
			Expect(live[v1beta1.MyApp](ctx, app).Status.Nodes).To(HaveLen(3))
			for _, pod := range live[v1beta1.MyApp](ctx, app).Status.Nodes {
				Expect(pods).To(ContainSubstring(pod))
			}

			kubectl(ctx, "scale", "-n", ns, "myapp/nginx-app", "--replicas=0")
			reaches(ctx, app, "True "+v1beta1.ReasonScaledToZero)
			Expect(kubectl(ctx, "get", "pods", "-n", ns, "-l", scale.Status.Selector, "-o", "name")).To(BeEmpty())
			kubectl(ctx, "scale", "-n", ns, "myapp/nginx-app", "--replicas=2")
			reaches(ctx, app, rolledOut)
		})

		It("leaves a rollout restart alone", func(ctx SpecContext) {
			before := replicaSets(ctx, app)
			since := mark(ctx)
			kubectl(ctx, "rollout", "restart", "-n", ns, "deployment/nginx-app")
			kubectl(ctx, "rollout", "status", "-n", ns, "deployment/nginx-app", "--timeout=30s")
			// More passes, with nothing to change for them and then with something.
			kubectl(ctx, "label", "-n", ns, "myapp/nginx-app", "team=web")
			reaches(ctx, app, rolledOut)
			Consistently(ctx, func() []cluster.Event {
				return requests(ctx, since, func(e cluster.Event) bool {
					return e.User == operatorUser && e.Namespace == ns && e.Resource == "deployments"
				})
			}, "3s").Should(BeEmpty())
			kubectl(ctx, "scale", "-n", ns, "myapp/nginx-app", "--replicas=4")
			reaches(ctx, app, rolledOut)

			d := live[appsv1.Deployment](ctx, app)
			Expect(d.Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
			Expect(d.Spec.Template.Annotations).To(HaveKey("kubectl.kubernetes.io/restartedAt"))
			Expect(replicaSets(ctx, app)).To(Equal(before+1), "more than one rollout")
		})
	})
}

// replicaSets counts the rollouts that the MyApp's Deployment has seen.
func replicaSets(ctx context.Context, app client.Object) int {
	GinkgoHelper()
	var all appsv1.ReplicaSetList
	Expect(plane.admin.List(ctx, &all, client.InNamespace(app.GetNamespace()),
		client.MatchingLabels(v1beta1.SelectorLabels(app.GetName())))).To(Succeed())
	return len(all.Items)
}
