package apiserver

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// noted puts a label and an annotation of somebody else on a child.
func noted(ctx context.Context, child client.Object) {
	GinkgoHelper()
	edit(ctx, child, func(c client.Object) {
		c.SetAnnotations(mergeMaps(c.GetAnnotations(), map[string]string{"note.example.com/id": "abc"}))
		c.SetLabels(mergeMaps(c.GetLabels(), map[string]string{"note.example.com/team": "web"}))
	})
}

func keepsNotes(child metav1.Object) {
	GinkgoHelper()
	Expect(child.GetAnnotations()).To(HaveKeyWithValue("note.example.com/id", "abc"))
	Expect(child.GetLabels()).To(HaveKeyWithValue("note.example.com/team", "web"))
}

var _ = Describe("Metadata of a child", func() {
	It("S06 keeps the keys of others, at no cost, and loses one of ours when the spec does", func(ctx SpecContext) {
		const own, ingressOwn = wrappers.ServiceAnnotationPrefix + "class", "nginx.ingress.kubernetes.io/proxy-body-size"
		o := newOperator(ctx)
		app := o.web()
		app.Spec.Service = &v1beta1.ServiceSpec{Annotations: map[string]string{own: "internal"}}
		app.Spec.Ingress = &v1beta1.IngressSpec{Host: "shop.example.com", Annotations: map[string]string{ingressOwn: "8m"}}
		app.Spec.PodLabels, app.Spec.PodAnnotations = map[string]string{"tier": "front"}, map[string]string{"tier": "front"}
		o.create(app)
		o.run(app)
		all := []client.Object{get[appsv1.Deployment](ctx, app), get[corev1.Service](ctx, app), get[networkingv1.Ingress](ctx, app)}
		for _, child := range all {
			noted(ctx, child)
		}
		edit(ctx, get[appsv1.Deployment](ctx, app), func(d *appsv1.Deployment) {
			d.Spec.Template.Annotations["note.example.com/id"] = "abc"
			d.Spec.Template.Labels["note.example.com/team"] = "web"
		})
		Expect(o.run(app)).To(BeEmpty(), "a key of somebody else costs requests")

		By("the MyApp changing")
		edit(ctx, app, func(a *v1beta1.MyApp) {
			a.Spec.Image = "nginx:1.28"
			a.Spec.Ports[0].Name = "http"
			a.Spec.Ingress.Path = "/shop"
		})
		o.run(app)
		Expect(get[corev1.Service](ctx, app).Annotations).To(HaveKeyWithValue(own, "internal"))
		Expect(get[networkingv1.Ingress](ctx, app).Annotations).To(HaveKeyWithValue(ingressOwn, "8m"))

		By("the MyApp giving up its own keys")
		edit(ctx, app, func(a *v1beta1.MyApp) {
			a.Spec.Service.Annotations, a.Spec.Ingress.Annotations = nil, nil
			a.Spec.PodLabels, a.Spec.PodAnnotations = nil, nil
		})
		o.run(app)
		d, svc, ingress := get[appsv1.Deployment](ctx, app), get[corev1.Service](ctx, app), get[networkingv1.Ingress](ctx, app)
		for _, child := range []metav1.Object{d, svc, ingress, &d.Spec.Template} {
			keepsNotes(child)
		}
		Expect(svc.Annotations).NotTo(HaveKey(own))
		Expect(ingress.Annotations).NotTo(HaveKey(ingressOwn))
		Expect(d.Spec.Template.Labels).NotTo(HaveKey("tier"))
		Expect(d.Spec.Template.Annotations).NotTo(HaveKey("tier"))
		Expect(o.run(app)).To(BeEmpty())
	})
})
