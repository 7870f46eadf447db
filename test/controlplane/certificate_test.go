package controlplane

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

const shopHost = "shop.example.com"

// optionalSpecs: the APIs of cert-manager and of the Prometheus operator come to a cluster, and go, while MyApps ask for
// their kinds. One and the same operator process sees all of it.
func optionalSpecs() {
	Describe("where an API comes and goes", Ordered, func() {
		var ns string
		var shop, scraped, other *v1beta1.MyApp

		BeforeAll(func(ctx SpecContext) {
			ns = newNamespace(ctx, "optional")
			defaultClass(ctx)
			shop = wrappers.MakeMyApp("shop", ns).Port(80).Obj()
			shop.Spec.Ingress = &v1beta1.IngressSpec{
				Host: shopHost,
				TLS:  &v1beta1.IngressTLS{IssuerRef: &v1beta1.IssuerReference{Name: "ca", Kind: certmanagerv1.IssuerKind}},
			}
			scraped = wrappers.MakeMyApp("scraped", ns).Port(8080).Obj()
			scraped.Spec.Metrics = &v1beta1.MetricsSpec{Interval: "30s"}
			other = wrappers.MakeMyApp("other", ns).Port(80).Obj()
			DeferCleanup(func(ctx SpecContext) {
				for _, name := range append(cluster.CertManagerCRDs, cluster.ServiceMonitorCRD) {
					Expect(plane.RemoveCRD(ctx, name)).To(Succeed())
				}
			})
		})

		It("C08 names the field that asks for what is not there, keeps all else, and sends nothing about it", func(ctx SpecContext) {
			create(ctx, shop, scraped, other)
			lacks(ctx, shop, "Certificate", "spec.ingress.tls.issuerRef")
			lacks(ctx, scraped, "ServiceMonitor", "spec.metrics")
			reaches(ctx, other, rolledOut)
			for _, app := range []client.Object{shop, scraped} {
				Eventually(ctx, func() int32 { return live[appsv1.Deployment](ctx, app).Status.AvailableReplicas }).Should(BeEquivalentTo(1))
				Expect(exists[corev1.Service](ctx, app)).To(BeTrue())
			}
			Expect(exists[networkingv1.Ingress](ctx, shop)).To(BeTrue())
			sendsNothing(ctx, ns, 10*time.Second, certmanagerv1.SchemeGroupVersion.Group, monitoringv1.SchemeGroupVersion.Group)
		})

		It("makes the Certificate once cert-manager is there, and is ready when it is issued", func(ctx SpecContext) {
			Expect(plane.InstallCertManagerCRDs(ctx)).To(Succeed())
			appears[certmanagerv1.Certificate](ctx, shop)
			made := live[certmanagerv1.Certificate](ctx, shop)
			Expect(metav1.IsControlledBy(made, live[v1beta1.MyApp](ctx, shop))).To(BeTrue(), "%v", made.OwnerReferences)
			Expect(made.Spec.DNSNames).To(Equal([]string{shopHost}))
			Expect(made.Spec.SecretName).To(Equal("shop-tls"))
			is(ctx, shop, v1beta1.ConditionDegraded, "False "+v1beta1.ReasonAsExpected)
			is(ctx, shop, v1beta1.ConditionProgressing, "True "+v1beta1.ReasonCertificateNotReady)
			is(ctx, shop, v1beta1.ConditionReady, "False "+v1beta1.ReasonCertificateNotReady)

			Expect(plane.CreateCAIssuer(ctx, ns, "ca")).To(Succeed())
			stop, err := plane.StartCertManager(ctx)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(stop)
			is(ctx, shop, v1beta1.ConditionProgressing, "True "+v1beta1.ReasonIngressNoAddress)
			certifies(ctx, ns, "shop-tls", "ca-root")

			giveAddress(ctx, shop)
			is(ctx, shop, v1beta1.ConditionProgressing, "False "+v1beta1.ReasonRolledOut)
			reaches(ctx, shop, rolledOut)
			Expect(live[v1beta1.MyApp](ctx, shop).Status.Endpoints).To(
				ContainElement(v1beta1.Endpoint{Type: v1beta1.EndpointIngress, Address: "https://" + shopHost + "/"}))
		}, SpecTimeout(2*time.Minute))

		It("removes the Certificate when the Ingress is to have none", func(ctx SpecContext) {
			mergePatch(ctx, shop, `{"spec":{"ingress":{"tls":null}}}`)
			Eventually(ctx, func() bool { return exists[certmanagerv1.Certificate](ctx, shop) }).Should(BeFalse())
			Eventually(ctx, func() []networkingv1.IngressTLS { return live[networkingv1.Ingress](ctx, shop).Spec.TLS }).Should(BeEmpty())
			reaches(ctx, shop, rolledOut)
		})

		It("C08 makes the ServiceMonitor whenever its API is there", func(ctx SpecContext) {
			for range 2 {
				lacks(ctx, scraped, "ServiceMonitor", "spec.metrics")
				Expect(plane.InstallServiceMonitorCRD(ctx)).To(Succeed())
				appears[monitoringv1.ServiceMonitor](ctx, scraped)
				made := live[monitoringv1.ServiceMonitor](ctx, scraped)
				Expect(metav1.IsControlledBy(made, live[v1beta1.MyApp](ctx, scraped))).To(BeTrue(), "%v", made.OwnerReferences)
				Expect(made.Spec.Endpoints).To(HaveLen(1))
				Expect(made.Spec.Endpoints[0].TargetPort.IntValue()).To(Equal(8080))
				is(ctx, scraped, v1beta1.ConditionDegraded, "False "+v1beta1.ReasonAsExpected)
				reaches(ctx, scraped, rolledOut)
				Expect(plane.RemoveCRD(ctx, cluster.ServiceMonitorCRD)).To(Succeed())
			}
			lacks(ctx, scraped, "ServiceMonitor", "spec.metrics")
			sendsNothing(ctx, ns, 5*time.Second, monitoringv1.SchemeGroupVersion.Group)
			reaches(ctx, other, rolledOut)
		}, SpecTimeout(2*time.Minute))
	})
}

// defaultClass makes an IngressClass that new Ingresses get; no ingress controller serves it.
func defaultClass(ctx context.Context) {
	GinkgoHelper()
	class := &networkingv1.IngressClass{ObjectMeta: named("nobody", "")}
	class.Annotations = map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}
	class.Spec.Controller = "example.com/nobody"
	create(ctx, class)
	DeferCleanup(func(ctx SpecContext) { Expect(plane.admin.Delete(ctx, class)).To(Succeed()) })
}

// giveAddress writes the Ingress's status as its ingress controller would.
func giveAddress(ctx context.Context, app client.Object) {
	GinkgoHelper()
	ingress := live[networkingv1.Ingress](ctx, app)
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	Expect(plane.admin.Status().Update(ctx, ingress)).To(Succeed())
}

// condition is a condition of a MyApp with its reason, "True Scaling", once it speaks of the current spec.
func condition(ctx context.Context, app client.Object, conditionType string) (status, message string) {
	current := &v1beta1.MyApp{}
	if err := plane.admin.Get(ctx, client.ObjectKeyFromObject(app), current); err != nil {
		return err.Error(), ""
	}
	c := meta.FindStatusCondition(current.Status.Conditions, conditionType)
	if c == nil || c.ObservedGeneration != current.Generation {
		return "not reported yet", ""
	}
	return fmt.Sprintf("%s %s", c.Status, c.Reason), c.Message
}

// is waits until a condition of the MyApp has a value.
func is(ctx context.Context, app client.Object, conditionType, want string) {
	GinkgoHelper()
	Eventually(ctx, func() string {
		status, _ := condition(ctx, app, conditionType)
		return status
	}).Should(Equal(want), "%s of %s/%s", conditionType, app.GetNamespace(), app.GetName())
}

// lacks waits until the MyApp says that the cluster has not got a kind, and which field asks for it.
func lacks(ctx context.Context, app client.Object, kind, field string) {
	GinkgoHelper()
	is(ctx, app, v1beta1.ConditionDegraded, "True "+v1beta1.ReasonAPINotInstalled)
	_, message := condition(ctx, app, v1beta1.ConditionDegraded)
	Expect(message).To(And(ContainSubstring("no "+kind), ContainSubstring(field)))
}

// appears waits for a child of a kind that the API server may only just have begun to serve.
func appears[T any, P interface {
	*T
	client.Object
}](ctx context.Context, app client.Object) {
	GinkgoHelper()
	Eventually(ctx, func() error {
		return plane.admin.Get(ctx, client.ObjectKeyFromObject(app), P(new(T)))
	}).Should(Succeed())
}

// sendsNothing expects the operator to have no more to do in the namespace once what it put off is done, and to ask for
// nothing in API groups that are not there.
func sendsNothing(ctx context.Context, ns string, during time.Duration, absent ...string) {
	GinkgoHelper()
	Expect(pause(ctx, quiet)).To(Succeed())
	since := mark(ctx)
	Expect(pause(ctx, during)).To(Succeed())
	Expect(requests(ctx, since, func(e cluster.Event) bool {
		isAbsent := func(group string) bool { return strings.HasPrefix(e.URI, "/apis/"+group+"/") }
		return e.User == operatorUser && (e.Namespace == ns || slices.ContainsFunc(absent, isAbsent))
	})).To(BeEmpty())
}

// certifies expects a Secret to hold a certificate for the shop, signed by the authority in another Secret.
func certifies(ctx context.Context, ns, name, authority string) {
	GinkgoHelper()
	data := func(name string) []byte {
		return live[corev1.Secret](ctx, &corev1.Secret{ObjectMeta: named(name, ns)}).Data[corev1.TLSCertKey]
	}
	roots := x509.NewCertPool()
	Expect(roots.AppendCertsFromPEM(data(authority))).To(BeTrue())
	block, _ := pem.Decode(data(name))
	Expect(block).NotTo(BeNil(), "no certificate in Secret %s", name)
	certificate, err := x509.ParseCertificate(block.Bytes)
	Expect(err).NotTo(HaveOccurred())
	_, err = certificate.Verify(x509.VerifyOptions{DNSName: shopHost, Roots: roots})
	Expect(err).NotTo(HaveOccurred())
}
