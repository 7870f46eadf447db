package apiserver

import (
	"context"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmetav1 "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// exposed is a MyApp with one port and an Ingress.
func (o *operator) exposed() *v1beta1.MyApp {
	app := wrappers.MakeMyApp("shop", o.namespace).Size(0).Port(8080).Obj()
	app.Spec.Ingress = &v1beta1.IngressSpec{Host: "shop.example.com"}
	return app
}

// defaultClass makes an IngressClass the cluster's default until the spec ends.
func defaultClass(ctx context.Context, name string) {
	GinkgoHelper()
	class := &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}},
		Spec:       networkingv1.IngressClassSpec{Controller: "example.com/ingress"},
	}
	Expect(admin.Create(ctx, class)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(admin.Delete(ctx, class)).To(Succeed()) })
}

// served gives the Ingress an address, as an ingress controller does.
func served(ctx context.Context, app *v1beta1.MyApp) {
	GinkgoHelper()
	i := get[networkingv1.Ingress](ctx, app)
	i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	Expect(admin.Status().Update(ctx, i)).To(Succeed())
}

func backend(ctx context.Context, app *v1beta1.MyApp) int32 {
	GinkgoHelper()
	return get[networkingv1.Ingress](ctx, app).Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Number
}

// The specs share the cluster's default class.
var _ = Describe("An Ingress", Serial, func() {
	It("G01 leads to a port that the Service has, and follows it", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.exposed())
		o.run(app)
		Expect(backend(ctx, app)).To(Equal(int32(8080)))
		Expect(get[corev1.Service](ctx, app).Spec.Type).To(Equal(corev1.ServiceTypeClusterIP), "nobody needs a node port behind an Ingress")

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports[0].Port = 8081 })
		o.run(app)
		Expect(backend(ctx, app)).To(Equal(int32(8081)))

		By("of several the first TCP one, or the one that is chosen")
		edit(ctx, app, func(a *v1beta1.MyApp) {
			a.Spec.Ports = []corev1.ServicePort{
				{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}, {Name: "web", Port: 80}, {Name: "admin", Port: 9000},
			}
		})
		o.run(app)
		Expect(backend(ctx, app)).To(Equal(int32(80)))
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ingress.Port = ptr[int32](9000) })
		o.run(app)
		Expect(backend(ctx, app)).To(Equal(int32(9000)))
	})

	It("G03 keeps the class that the cluster gave it", func(ctx SpecContext) {
		defaultClass(ctx, "standard")
		o := newOperator(ctx)
		app := o.create(o.exposed())
		o.run(app)
		Expect(get[networkingv1.Ingress](ctx, app).Spec.IngressClassName).To(HaveValue(Equal("standard")))
		served(ctx, app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ingress.Path = "/shop" })
		o.run(app)
		Expect(get[networkingv1.Ingress](ctx, app).Spec.IngressClassName).To(HaveValue(Equal("standard")))
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		Expect(get[v1beta1.MyApp](ctx, app).Status.Endpoints[0]).To(Equal(
			v1beta1.Endpoint{Type: v1beta1.EndpointIngress, Address: "http://shop.example.com/shop"}))

		By("and the one that the MyApp named, when it no longer does")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ingress.ClassName = "internal" })
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ingress.ClassName = "" })
		o.run(app)
		Expect(get[networkingv1.Ingress](ctx, app).Spec.IngressClassName).To(HaveValue(Equal("internal")))
		Expect(startOperator(ctx, o.namespace, plane.Config()).run(app)).To(BeEmpty())
	})

	It("G03 tells that nobody serves it where there is no class", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.exposed())
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{"False", v1beta1.ReasonIngressNoClass}))
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{"True", v1beta1.ReasonIngressNoClass}))
		Expect(o.fullCondition(app, v1beta1.ConditionReady).Message).To(ContainSubstring("spec.ingress.className"))
		for _, e := range get[v1beta1.MyApp](ctx, app).Status.Endpoints {
			Expect(e.Type).NotTo(Equal(v1beta1.EndpointIngress))
		}

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ingress.ClassName = "nginx" })
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	})

	It("G04 takes no annotation that the operator does not allow, also without admission", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.exposed()
		app.Spec.Ingress.ClassName = "nginx"
		app.Spec.Ingress.Annotations = map[string]string{
			"nginx.ingress.kubernetes.io/proxy-body-size":       "8m",
			"nginx.ingress.kubernetes.io/configuration-snippet": "return 200;",
			"external.example.com/other":                        "x",
		}
		o.create(app)
		o.run(app)
		Expect(get[networkingv1.Ingress](ctx, app).Annotations).To(Equal(map[string]string{"nginx.ingress.kubernetes.io/proxy-body-size": "8m"}))
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{"True", v1beta1.ReasonInvalidSpec}))
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(And(
			ContainSubstring("spec.ingress.annotations[nginx.ingress.kubernetes.io/configuration-snippet]"), ContainSubstring("external.example.com/other")))
		Expect(missing(ctx, app, &corev1.Service{})).To(BeFalse(), "the other children are kept")
	})

	It("S06 drops the MyApp's own annotation with the key, and leaves a foreign one", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.exposed()
		app.Spec.Ingress.Annotations = map[string]string{"nginx.ingress.kubernetes.io/proxy-body-size": "8m"}
		o.create(app)
		o.run(app)
		edit(ctx, get[networkingv1.Ingress](ctx, app), func(i *networkingv1.Ingress) { i.Annotations["example.com/id"] = "abc" })
		Expect(o.run(app)).To(BeEmpty())
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ingress.Annotations = nil })
		o.run(app)
		Expect(get[networkingv1.Ingress](ctx, app).Annotations).To(Equal(map[string]string{"example.com/id": "abc"}))
	})

	It("waits for its address and its certificate, and says so", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.exposed()
		app.Spec.Ingress.ClassName = "nginx"
		app.Spec.Ingress.TLS = &v1beta1.IngressTLS{IssuerRef: &v1beta1.IssuerReference{Name: "ca", Kind: "ClusterIssuer"}}
		o.create(app)
		o.run(app)
		o.rollsOut(app)
		o.run(app)
		pending := condition{"True", v1beta1.ReasonCertificateNotReady}
		Expect(o.condition(app, v1beta1.ConditionProgressing)).To(Equal(pending))
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{"False", v1beta1.ReasonCertificateNotReady}))
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		c := get[certmanagerv1.Certificate](ctx, app)
		Expect(c.Spec.SecretName).To(Equal("shop-tls"))
		Expect(get[networkingv1.Ingress](ctx, app).Spec.TLS).To(Equal([]networkingv1.IngressTLS{{Hosts: []string{"shop.example.com"}, SecretName: "shop-tls"}}))

		By("a failed try")
		o.certificate(app, certmanagerv1.CertificateCondition{Type: "Issuing", Status: certmetav1.ConditionFalse, Reason: "Failed", Message: "the CA said no"})
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(pending))
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring("the CA said no"))

		By("the certificate issued")
		o.certificate(app, certmanagerv1.CertificateCondition{Type: "Ready", Status: certmetav1.ConditionTrue, ObservedGeneration: c.Generation})
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionReady).Status).To(Equal(metav1.ConditionTrue))
		Expect(o.condition(app, v1beta1.ConditionProgressing)).To(Equal(condition{"True", v1beta1.ReasonIngressNoAddress}))

		By("the Ingress served")
		served(ctx, app)
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionProgressing).Status).To(Equal(metav1.ConditionFalse))
		Expect(get[v1beta1.MyApp](ctx, app).Status.Endpoints[0].Address).To(Equal("https://shop.example.com/"))
	})

	It("is not made, nor watched, where the operator is told so", func(ctx SpecContext) {
		o := newOperator(ctx)
		o.r.Options.DisabledChildren = []string{"ingress", "horizontalpodautoscaler"}
		app := o.exposed()
		app.Spec.Size = ptr[int32](3)
		app.Spec.Autoscaling = &v1beta1.AutoscalingSpec{MaxReplicas: 2}
		o.create(app)
		o.run(app)
		Expect(missing(ctx, app, &networkingv1.Ingress{})).To(BeTrue())
		Expect(o.size(app)).To(Equal(int32(3)), "without an autoscaler the size counts")
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{"True", v1beta1.ReasonInvalidSpec}))
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(And(ContainSubstring("spec.ingress"), ContainSubstring("spec.autoscaling")))
	})
})

// certificate writes the conditions of the Certificate, as cert-manager does.
func (o *operator) certificate(app *v1beta1.MyApp, conditions ...certmanagerv1.CertificateCondition) {
	GinkgoHelper()
	c := get[certmanagerv1.Certificate](o.ctx, app)
	c.Status.Conditions = conditions
	Expect(admin.Status().Update(o.ctx, c)).To(Succeed())
}

var _ = Describe("Pruning", func() {
	DescribeTable("Z07 needs our own identity, whatever the name", func(ctx SpecContext, c childCase, owner *metav1.OwnerReference) {
		o := newOperator(ctx)
		theirs := c.foreign(ctx, o.namespace)
		if owner != nil {
			edit(ctx, theirs, func(object client.Object) { object.SetOwnerReferences([]metav1.OwnerReference{*owner}) })
		}
		app := o.create(o.smallest())
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse), "nobody asked for one")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Image = "nginx:2" })
		o.run(app)
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.run(app)
		o.unchanged(theirs)
	}, pruneEntries())
})

func pruneEntries() []TableEntry {
	former := &metav1.OwnerReference{
		APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.Kind.Kind, Name: "shop", UID: "of-a-former-one", Controller: ptr(true),
	}
	var entries []TableEntry
	for name, c := range childCases {
		if c.asks != nil {
			entries = append(entries, Entry(name+" of a hand", c, nil), Entry(name+" of a former MyApp", c, former))
		}
	}
	return entries
}
