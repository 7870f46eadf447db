package admission

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

var _ = Describe("With the webhooks installed and the operator gone", func() {
	It("W04 all is as ever but that MyApps can be neither made nor changed", func(ctx SpecContext) {
		dead, err := cluster.StartAPIServer(cluster.Options{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(dead.Stop()).To(Succeed()) })
		user, err := client.New(dead.Config(), client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		app := wrappers.MakeMyApp("shop", "default").Port(80).Obj()
		Expect(user.Create(ctx, app)).To(Succeed())

		ports, err := cluster.FreePorts(1)
		Expect(err).NotTo(HaveOccurred())
		authority, err := cluster.NewAuthority()
		Expect(err).NotTo(HaveOccurred())
		manifest, err := cluster.LocalWebhooks(ports[0], authority.PEM())
		Expect(err).NotTo(HaveOccurred())
		out, err := dead.KubectlStdin(ctx, string(manifest), "apply", "-f", "-")
		Expect(err).NotTo(HaveOccurred(), out)
		other := wrappers.MakeMyApp("other", "default").Obj()
		Eventually(func() error { return user.Create(ctx, other.DeepCopy(), client.DryRunAll) }).WithTimeout(10 * time.Second).
			Should(MatchError(ContainSubstring("vmyapp.app.ydzs.io")))
		app.Labels = map[string]string{"team": "web"}
		Expect(user.Update(ctx, app.DeepCopy())).To(MatchError(ContainSubstring("vmyapp.app.ydzs.io")))

		pod := corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "plain"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27"}}},
		}
		meta := metav1.ObjectMeta{Name: "plain", Namespace: "default", Labels: pod.Labels}
		for _, object := range []client.Object{
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
			&corev1.Pod{ObjectMeta: meta, Spec: pod.Spec},
			&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}, Template: pod}},
		} {
			Expect(user.Create(ctx, object)).To(Succeed(), "%T", object)
		}

		By("what runs goes on: its status, its scale and its end need no admission")
		app = &v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"}}
		Expect(user.Get(ctx, client.ObjectKeyFromObject(app), app)).To(Succeed())
		app.Status.Replicas = 1
		Expect(user.Status().Update(ctx, app)).To(Succeed())
		out, err = dead.Kubectl(ctx, "scale", "myapp/shop", "--replicas=3")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(user.Delete(ctx, app)).To(Succeed())
	})
})
