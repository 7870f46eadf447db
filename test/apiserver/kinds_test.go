package apiserver

import (
	"context"
	"reflect"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// childCase is one kind of child: what in a spec asks for it, and how somebody may change one.
type childCase struct {
	kind client.Object
	// asks makes the spec ask for the child; without it the MyApp has none of this kind. Nil for a Deployment, which every
	// MyApp has.
	asks func(*v1beta1.MyApp)
	// drifts changes a field that the operator owns, and drifted tells whether it is still so.
	drifts  func(client.Object)
	drifted func(client.Object) bool
	// resource is the name in requests.
	resource string
}

func withPort(a *v1beta1.MyApp) { a.Spec.Ports = []corev1.ServicePort{{Port: 80}} }

func withIssuer(a *v1beta1.MyApp) {
	withPort(a)
	a.Spec.Ingress = &v1beta1.IngressSpec{Host: "shop.example.com", TLS: &v1beta1.IngressTLS{IssuerRef: &v1beta1.IssuerReference{Name: "ca"}}}
}

var childCases = map[string]childCase{
	"Deployment": {
		kind: &appsv1.Deployment{}, resource: "deployments",
		drifts: func(o client.Object) { o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image = "other:1" },
		drifted: func(o client.Object) bool {
			return o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image == "other:1"
		},
	},
	"Service": {
		kind: &corev1.Service{}, resource: "services", asks: withPort,
		drifts:  func(o client.Object) { o.(*corev1.Service).Spec.Ports[0].TargetPort = intstr.FromInt32(1) },
		drifted: func(o client.Object) bool { return o.(*corev1.Service).Spec.Ports[0].TargetPort.IntVal == 1 },
	},
	"Ingress": {
		kind: &networkingv1.Ingress{}, resource: "ingresses",
		asks: func(a *v1beta1.MyApp) { withPort(a); a.Spec.Ingress = &v1beta1.IngressSpec{Host: "shop.example.com"} },
		drifts: func(o client.Object) {
			o.(*networkingv1.Ingress).Spec.Rules[0].Host = "other.example.com"
		},
		drifted: func(o client.Object) bool { return o.(*networkingv1.Ingress).Spec.Rules[0].Host == "other.example.com" },
	},
	"Certificate": {
		kind: &certmanagerv1.Certificate{}, resource: "certificates", asks: withIssuer,
		drifts:  func(o client.Object) { o.(*certmanagerv1.Certificate).Spec.SecretName = "other" },
		drifted: func(o client.Object) bool { return o.(*certmanagerv1.Certificate).Spec.SecretName == "other" },
	},
	"HorizontalPodAutoscaler": {
		kind: &autoscalingv2.HorizontalPodAutoscaler{}, resource: "horizontalpodautoscalers",
		asks:    func(a *v1beta1.MyApp) { a.Spec.Autoscaling = &v1beta1.AutoscalingSpec{MaxReplicas: 4} },
		drifts:  func(o client.Object) { o.(*autoscalingv2.HorizontalPodAutoscaler).Spec.MaxReplicas = 9 },
		drifted: func(o client.Object) bool { return o.(*autoscalingv2.HorizontalPodAutoscaler).Spec.MaxReplicas == 9 },
	},
	"PodDisruptionBudget": {
		kind: &policyv1.PodDisruptionBudget{}, resource: "poddisruptionbudgets",
		asks: func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](2) },
		drifts: func(o client.Object) {
			o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable = ptr(intstr.FromInt32(2))
		},
		drifted: func(o client.Object) bool { return o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable.IntVal == 2 },
	},
	"ServiceMonitor": {
		kind: &monitoringv1.ServiceMonitor{}, resource: "servicemonitors",
		asks:    func(a *v1beta1.MyApp) { withPort(a); a.Spec.Metrics = &v1beta1.MetricsSpec{} },
		drifts:  func(o client.Object) { o.(*monitoringv1.ServiceMonitor).Spec.Endpoints[0].Path = "/other" },
		drifted: func(o client.Object) bool { return o.(*monitoringv1.ServiceMonitor).Spec.Endpoints[0].Path == "/other" },
	},
}

// asking is a MyApp that asks for the child.
func (c childCase) asking(o *operator) *v1beta1.MyApp {
	app := o.smallest()
	if c.asks != nil {
		c.asks(app)
	}
	return app
}

func (c childCase) get(ctx context.Context, app *v1beta1.MyApp) client.Object {
	GinkgoHelper()
	object := c.kind.DeepCopyObject().(client.Object)
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(app), object)).To(Succeed())
	return object
}

// foreign is an object of somebody else with the name, and with every value, of the child: a copy of what the operator
// makes for another MyApp of this name.
func (c childCase) foreign(ctx context.Context, namespace string) client.Object {
	GinkgoHelper()
	o := newOperator(ctx)
	donor := o.create(c.asking(o))
	o.run(donor)
	object := withoutServerFields(c.get(ctx, donor))
	object.SetNamespace(namespace)
	object.SetOwnerReferences(nil)
	object.SetLabels(nil)
	object.SetUID("")
	object.SetCreationTimestamp(metav1.Time{})
	if s, ok := object.(*corev1.Service); ok {
		s.Spec.ClusterIP, s.Spec.ClusterIPs = "", nil
	}
	Expect(admin.Create(ctx, object)).To(Succeed())
	return object
}

var _ = Describe("Every kind of child", func() {
	var entries []TableEntry
	for name, c := range childCases {
		entries = append(entries, Entry(name, c))
	}

	It("is in the tests below", func() {
		Expect(children()).To(HaveLen(len(childCases)))
	})

	DescribeTable("C01 is made with one write, is left alone, and is put back once when somebody changes it", func(ctx SpecContext, c childCase) {
		o := newOperator(ctx)
		app := o.create(c.asking(o))
		Expect(o.run(app)).To(ContainElement("patch " + c.resource + " Created"))
		Expect(o.run(app)).To(BeEmpty())
		Expect(startOperator(ctx, o.namespace, plane.Config()).run(app)).To(BeEmpty(), "after a restart of the operator")

		child := c.get(ctx, app)
		edit(ctx, child, c.drifts)
		Expect(o.run(app)).To(Equal([]string{"patch " + c.resource + " OK"}))
		Expect(c.drifted(c.get(ctx, app))).To(BeFalse())

		By("S06 leaving what others add")
		edit(ctx, child, func(o client.Object) {
			o.SetAnnotations(map[string]string{"example.com/note": "kept"})
			o.SetLabels(mergeMaps(o.GetLabels(), map[string]string{"example.com/team": "web"}))
		})
		Expect(o.run(app)).To(BeEmpty())
		Expect(c.get(ctx, app).GetAnnotations()).To(HaveKeyWithValue("example.com/note", "kept"))
		Expect(c.get(ctx, app).GetLabels()).To(HaveKeyWithValue("example.com/team", "web"))
	}, entries)

	DescribeTable("goes with what asked for it, and belongs to the MyApp while it is there", func(ctx SpecContext, c childCase) {
		o := newOperator(ctx)
		app := o.create(c.asking(o))
		o.run(app)
		owner := metav1.GetControllerOf(c.get(ctx, app))
		Expect(owner).NotTo(BeNil(), "the garbage collector would leave it behind")
		Expect(owner.UID).To(Equal(app.UID))
		Expect(*owner.BlockOwnerDeletion).To(BeTrue())
		if c.asks == nil {
			return
		}
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = o.smallest().Spec })
		Expect(o.run(app)).To(ContainElement("delete " + c.resource + " OK"))
		Expect(missing(ctx, app, c.kind.DeepCopyObject().(client.Object))).To(BeTrue())
	}, entries)

	DescribeTable("C03, Z07 is never taken from somebody else, although every value is equal", func(ctx SpecContext, c childCase) {
		o := newOperator(ctx)
		theirs := c.foreign(ctx, o.namespace)
		app := o.create(c.asking(o))
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{"True", v1beta1.ReasonForeignObject}))
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring(reflect.TypeOf(c.kind).Elem().Name()))
		o.unchanged(theirs)

		By("the field gone")
		if c.asks != nil {
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = o.smallest().Spec })
			o.run(app)
			Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
			o.unchanged(theirs)
		}
		By("the MyApp gone")
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.run(app)
		o.unchanged(theirs)
	}, entries)

	DescribeTable("is kept under Orphan, with the MyApp's identity and without an owner", func(ctx SpecContext, c childCase) {
		o := newOperator(ctx)
		app := c.asking(o)
		app.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan
		o.create(app)
		o.run(app)
		child := c.get(ctx, app)
		Expect(child.GetOwnerReferences()).To(BeEmpty())
		Expect(child.GetAnnotations()).To(HaveKeyWithValue(v1beta1.AnnotationOwnerUID, string(app.UID)))
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.run(app)
		o.unchanged(child)

		By("Z07 and is not taken by the next MyApp of the name")
		next := o.create(c.asking(o))
		o.run(next)
		Expect(o.condition(next, v1beta1.ConditionDegraded).Reason).To(Or(Equal(v1beta1.ReasonForeignObject), Equal(v1beta1.ReasonSelectorDiffers)))
		o.unchanged(child)
	}, entries)

	It("ends in the state of a MyApp that never had what was switched on and off 20 times", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		fresh := o.state(app)
		full := wrappers.FullestHere("shop", o.namespace).Obj()
		for range 20 {
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = *full.Spec.DeepCopy() })
			o.run(app)
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = o.web().Spec })
			o.run(app)
		}
		Expect(cmp.Diff(fresh, o.state(app))).To(BeEmpty())
	})
})

// state is every child that there is, without what the server fills in.
func (o *operator) state(app *v1beta1.MyApp) map[string]client.Object {
	GinkgoHelper()
	all := map[string]client.Object{}
	for _, child := range children() {
		err := admin.Get(o.ctx, client.ObjectKeyFromObject(app), child)
		if apierrors.IsNotFound(err) {
			continue
		}
		Expect(err).NotTo(HaveOccurred())
		all[reflect.TypeOf(child).Elem().Name()] = withoutServerFields(child)
	}
	return all
}

// withoutServerFields leaves out what the server allocates and counts.
func withoutServerFields(object client.Object) client.Object {
	object.SetManagedFields(nil)
	object.SetGeneration(0)
	object.SetResourceVersion("")
	if s, ok := object.(*corev1.Service); ok {
		for i := range s.Spec.Ports {
			s.Spec.Ports[i].NodePort = 0
		}
	}
	return object
}

func mergeMaps(all ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, m := range all {
		for k, v := range m {
			merged[k] = v
		}
	}
	return merged
}
