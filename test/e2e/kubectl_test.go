//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// What config/default installs.
const (
	kubectlNamespace = "myapp-operator-system"
	operatorName     = "myapp-operator"
	servingSecret    = "myapp-operator-webhook-cert"
)

// kubectlSpecs: installed with make deploy, beside cert-manager.
func kubectlSpecs() {
	Describe("installed with kubectl", Ordered, func() {
		var ns string
		var app *v1beta1.MyApp

		BeforeAll(func(ctx SpecContext) {
			Expect(world.InstallCertManagerCRDs(ctx)).To(Succeed())
			stop, err := world.StartCertManager(ctx)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) {
				stop()
				for _, name := range cluster.CertManagerCRDs {
					Expect(world.RemoveCRD(ctx, name)).To(Succeed())
				}
			})
			ns = newNamespace(ctx, "web")
			app = makeWeb("web", ns)
		})

		It("W10 takes MyApps soon after it was installed, and until then says that it cannot be asked", func(ctx SpecContext) {
			Expect(world.make(ctx, "deploy", "IMG="+world.operator[version])).To(Succeed())
			early := 0
			Eventually(func() error {
				err := world.admin.Create(ctx, makeWeb("early", ns), client.DryRunAll)
				if err != nil {
					early++
					Expect(err).To(MatchError(apierrors.IsInternalError, "no refusal of this MyApp"))
					Expect(err).To(MatchError(ContainSubstring("failed calling webhook")))
				}
				return err
			}).WithContext(ctx).Should(Succeed())
			Expect(early).To(BeNumerically(">", 0), "the certificate takes a moment")
			rolledOut(ctx, kubectlNamespace, operatorName)
		})

		It("gets its certificate from cert-manager, and the API server trusts it", func(ctx SpecContext) {
			var secret corev1.Secret
			key := client.ObjectKey{Namespace: kubectlNamespace, Name: servingSecret}
			Expect(world.admin.Get(ctx, key, &secret)).To(Succeed())
			Eventually(bundles).WithContext(ctx).Should(And(HaveLen(2), HaveEach(secret.Data["ca.crt"])))
		})

		It("runs under Pod Security restricted with a root filesystem that is read-only", func(ctx SpecContext) {
			var namespace corev1.Namespace
			Expect(world.admin.Get(ctx, client.ObjectKey{Name: kubectlNamespace}, &namespace)).To(Succeed())
			Expect(namespace.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
			pods := operatorPods(ctx, kubectlNamespace)
			Expect(pods).To(HaveLen(2))
			for _, pod := range pods {
				Expect(*pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
				Expect(pod.Status.ContainerStatuses[0].RestartCount).To(BeZero())
			}
		})

		It("refuses a MyApp that cannot work, with 422 and the field", func(ctx SpecContext) {
			refused(ctx, wrappers.MakeMyApp("bad", ns).Image("not an image").Obj(), "spec.image")
		})

		It("runs a MyApp whose node port answers", func(ctx SpecContext) {
			Expect(world.admin.Create(ctx, app)).To(Succeed())
			runs(ctx, app)
			answers(ctx, app, "one")
			Expect(app.Status.Nodes).To(HaveLen(1))
		})

		It("goes on answering admission while its certificate is replaced", func(ctx SpecContext) {
			rotate(ctx, ns)
		})

		kindSpecs(func() string { return newNamespace(context.Background(), "kinds") })
		reasonSpecs(func() string { return ns })

		disruptionSpecs(func() string { return ns }, func(ctx context.Context) {
			Expect(world.make(ctx, "deploy", "IMG="+world.operator[nextVersion])).To(Succeed())
			rolledOut(ctx, kubectlNamespace, operatorName)
			Eventually(images).WithContext(ctx).WithArguments(kubectlNamespace).Should(HaveEach(world.operator[nextVersion]))
		})

		It("is not needed for deleting MyApps", func(ctx SpecContext) {
			plain, drained := pair(ctx, newNamespace(ctx, "alone"))
			removeOperator(ctx, kubectlNamespace)
			withoutOperator(ctx, plain, drained)
		})

		It("W05 goes back to the version before, and takes and runs MyApps", func(ctx SpecContext) {
			Expect(world.make(ctx, "deploy", "IMG="+world.operator[version])).To(Succeed())
			rolledOut(ctx, kubectlNamespace, operatorName)
			Eventually(images).WithContext(ctx).WithArguments(kubectlNamespace).Should(HaveEach(world.operator[version]))
			again := makeWeb("again", ns)
			Eventually(func() error { return world.admin.Create(ctx, again.DeepCopy()) }).WithContext(ctx).Should(Succeed())
			runs(ctx, again)
			refused(ctx, wrappers.MakeMyApp("bad", ns).Image("not an image").Obj(), "spec.image")
			gone(ctx, again)
		})

		It("W06 is removed with its MyApps by make undeploy", func(ctx SpecContext) {
			Expect(world.make(ctx, "undeploy")).To(Succeed())
			for _, kind := range []string{"namespaces", "clusterroles", "clusterrolebindings", "crds",
				"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
				out, err := world.Kubectl(ctx, "get", kind, "--output=name")
				Expect(err).NotTo(HaveOccurred())
				Expect(out).NotTo(ContainSubstring("myapp"))
			}
		})
	})
}

// bundles are the authorities that the API server trusts when it calls the operator.
func bundles(ctx context.Context) ([][]byte, error) {
	var mutating admissionv1.MutatingWebhookConfigurationList
	var validating admissionv1.ValidatingWebhookConfigurationList
	for _, list := range []client.ObjectList{&mutating, &validating} {
		if err := world.admin.List(ctx, list); err != nil {
			return nil, err
		}
	}
	var all [][]byte
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			all = append(all, w.ClientConfig.CABundle)
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			all = append(all, w.ClientConfig.CABundle)
		}
	}
	return all, nil
}

func operatorPods(ctx context.Context, ns string) []corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(world.admin.List(ctx, &pods, client.InNamespace(ns),
		client.MatchingLabels{"app.kubernetes.io/name": operatorName})).To(Succeed())
	return pods.Items
}

// images are those of the operator's pods.
func images(ctx context.Context, ns string) []string {
	var all []string
	for _, pod := range operatorPods(ctx, ns) {
		all = append(all, pod.Spec.Containers[0].Image)
	}
	return all
}

// rotate replaces the serving certificate under a stream of admission calls, each from beginning to end: a dry run asks
// both webhooks and stores nothing.
func rotate(ctx context.Context, ns string) {
	GinkgoHelper()
	key := client.ObjectKey{Namespace: kubectlNamespace, Name: servingSecret}
	var before, after corev1.Secret
	Expect(world.admin.Get(ctx, key, &before)).To(Succeed())
	admission := startStream(perSecond, func(ctx context.Context) error {
		app := wrappers.MakeMyApp("dry", ns).Obj()
		return world.admin.Create(ctx, app, client.DryRunAll)
	})
	// What cert-manager renews a certificate for is that its Secret is not what it should be.
	Expect(world.admin.Delete(ctx, before.DeepCopy())).To(Succeed())
	Eventually(func() (bool, error) {
		err := world.admin.Get(ctx, key, &after)
		return err == nil && !bytes.Equal(after.Data["tls.crt"], before.Data["tls.crt"]), client.IgnoreNotFound(err)
	}).WithContext(ctx).Should(BeTrue())
	Expect(after.Data["ca.crt"]).To(Equal(before.Data["ca.crt"]))
	// The kubelet writes a changed Secret into its pods within about a minute and a half; only then it is served.
	Eventually(servedBy).WithContext(ctx).WithArguments(after.Data["tls.crt"]).WithTimeout(3*time.Minute).Should(BeTrue(),
		"every pod of the operator serves the new certificate")
	time.Sleep(settle)
	made, failed := admission.stop()
	Expect(failed).To(BeEmpty())
	Expect(made).To(BeNumerically(">", 5*perSecond))
	AddReportEntry("admission calls while the certificate was replaced", fmt.Sprint(made))
}

// servedBy reports whether every pod of the operator serves this certificate to the API server.
func servedBy(ctx context.Context, certificate []byte) (bool, error) {
	for _, pod := range operatorPods(ctx, kubectlNamespace) {
		served, err := serving(ctx, net.JoinHostPort(pod.Status.PodIP, "9443"))
		if err != nil || !bytes.Equal(served, certificate[:min(len(served), len(certificate))]) {
			return false, err
		}
	}
	return true, nil
}

// serving is the certificate that an address serves, in PEM.
func serving(ctx context.Context, address string) ([]byte, error) {
	// Who it is for is the API server's to check; here it is only looked at.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}), nil
}
