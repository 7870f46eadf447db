package apiserver

import (
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// configured is a MyApp that takes one key of a ConfigMap, and restarts with it.
func (o *operator) configured() *v1beta1.MyApp {
	app := o.smallest()
	app.Spec.Envs = []corev1.EnvVar{{Name: "MODE", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "mode",
	}}}}
	app.Spec.Rollout = &v1beta1.RolloutSpec{RestartOnConfigChange: true}
	return app
}

// store writes a ConfigMap or Secret and waits until the operator's watch shows it.
func (o *operator) store(object client.Object, change func()) {
	GinkgoHelper()
	key := client.ObjectKeyFromObject(object)
	err := admin.Get(o.ctx, key, object)
	change()
	if apierrors.IsNotFound(err) {
		object.SetNamespace(o.namespace)
		Expect(admin.Create(o.ctx, object)).To(Succeed())
	} else {
		Expect(err).NotTo(HaveOccurred())
		Expect(admin.Update(o.ctx, object)).To(Succeed())
	}
	o.watched(object)
}

// watched waits until the operator's watch shows the object as the API server has it.
func (o *operator) watched(object client.Object) {
	GinkgoHelper()
	seen := &metav1.PartialObjectMetadata{}
	gvk, err := o.cached.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	seen.SetGroupVersionKind(gvk)
	Eventually(o.r.Watches).WithArguments(gvk.Kind).WithTimeout(5 * time.Second).Should(BeTrue())
	live := object.DeepCopyObject().(client.Object)
	gone := apierrors.IsNotFound(admin.Get(o.ctx, client.ObjectKeyFromObject(object), live))
	Eventually(func() bool {
		err := o.r.Cache.Get(o.ctx, client.ObjectKeyFromObject(object), seen)
		return gone && apierrors.IsNotFound(err) || err == nil && seen.ResourceVersion == live.GetResourceVersion()
	}).WithTimeout(5 * time.Second).Should(BeTrue())
}

func (o *operator) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: o.namespace}}
}

// rolls returns a function that tells whether the pods were replaced since it was asked last.
func (o *operator) rolls(app *v1beta1.MyApp) func() bool {
	GinkgoHelper()
	template := get[appsv1.Deployment](o.ctx, app).Spec.Template
	return func() bool {
		GinkgoHelper()
		before := template
		template = get[appsv1.Deployment](o.ctx, app).Spec.Template
		return !equality.Semantic.DeepEqual(before, template)
	}
}

var _ = Describe("Configuration", func() {
	const read = "get configmaps OK"

	It("E06 restarts the pods once when data that they refer to changes, and for nothing else", func(ctx SpecContext) {
		o := newOperator(ctx)
		settings := o.configMap()
		settings.Data = map[string]string{"mode": "a", "other": "x"}
		Expect(admin.Create(ctx, settings)).To(Succeed())
		app := o.create(o.configured())
		Expect(o.run(app)).To(Equal([]string{read, "patch deployments Created", "patch myapps/status OK"}))
		o.watched(settings)
		rolled := o.rolls(app)
		Expect(o.run(app)).To(BeEmpty())

		By("a label")
		o.store(settings, func() { settings.Labels = map[string]string{"team": "web"} })
		Expect(o.run(app)).To(Equal([]string{read, "patch deployments OK"}), "the version is written down, so that a restart reads nothing")
		Expect(rolled()).To(BeFalse())

		By("another key")
		o.store(settings, func() { settings.Data["other"] = "y" })
		o.run(app)
		Expect(rolled()).To(BeFalse())

		By("the key")
		o.store(settings, func() { settings.Data["mode"] = "b" })
		Expect(o.run(app)).To(ConsistOf(read, "patch deployments OK"))
		Expect(rolled()).To(BeTrue())
		Expect(o.run(app)).To(BeEmpty())

		By("a restart of the operator")
		again := startOperator(ctx, o.namespace, plane.Config())
		Expect(again.run(app)).To(BeEmpty())
		again.watched(settings)
		Expect(again.run(app)).To(BeEmpty())

		By("deletion, and the same data again")
		Expect(admin.Delete(ctx, settings)).To(Succeed())
		o.watched(settings)
		Expect(o.run(app)).To(BeEmpty(), "running pods keep what they have")
		settings = o.configMap()
		o.store(settings, func() { settings.Data = map[string]string{"mode": "b"} })
		o.run(app)
		Expect(rolled()).To(BeFalse())

		By("the key gone")
		o.store(settings, func() { settings.Data = map[string]string{"more": "z"} })
		o.run(app)
		Expect(rolled()).To(BeFalse())
		o.store(settings, func() { settings.Data = map[string]string{"mode": "c"} })
		o.run(app)
		Expect(rolled()).To(BeTrue())
	})

	It("E06 recovers when an object that was missing is there", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.configured())
		Expect(o.run(app)).To(ContainElement("get configmaps Not Found"))
		rolled := o.rolls(app)
		settings := o.configMap()
		o.store(settings, func() { settings.Data = map[string]string{"mode": "a"} })
		Expect(o.run(app)).To(ConsistOf(read, "patch deployments OK"))
		Expect(rolled()).To(BeTrue(), "pods that never started are made anew at once")
		Expect(o.run(app)).To(BeEmpty())
	})

	It("E06 counts Secrets, variables in bulk and mounted files", func(ctx SpecContext) {
		o := newOperator(ctx)
		settings, token := o.configMap(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: o.namespace}}
		settings.Data, token.Data = map[string]string{"a": "1"}, map[string][]byte{"a": []byte("1"), "b": []byte("1")}
		Expect(admin.Create(ctx, settings)).To(Succeed())
		Expect(admin.Create(ctx, token)).To(Succeed())
		app := o.smallest()
		app.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
		app.Spec.Mounts = []v1beta1.Mount{{Path: "/token", SubPath: "a", Secret: &v1beta1.FileSource{Name: "token"}}}
		app.Spec.Rollout = &v1beta1.RolloutSpec{RestartOnConfigChange: true}
		o.create(app)
		o.run(app)
		o.watched(settings)
		o.watched(token)
		rolled := o.rolls(app)

		o.store(settings, func() { settings.Data["b"] = "2" })
		o.run(app)
		Expect(rolled()).To(BeTrue())
		o.store(token, func() { token.Data["b"] = []byte("2") })
		o.run(app)
		Expect(rolled()).To(BeFalse(), "a key that is not mounted")
		o.store(token, func() { token.Data["a"] = []byte("swordfish") })
		o.run(app)
		Expect(rolled()).To(BeTrue())

		By("never showing what is in them")
		d := get[appsv1.Deployment](ctx, app)
		annotations := slices.Concat(slices.Collect(maps.Values(d.Annotations)), slices.Collect(maps.Values(d.Spec.Template.Annotations)))
		Expect(annotations).NotTo(ContainElement(ContainSubstring("swordfish")))
	})

	It("survives kubectl rollout restart, and leaves pods alone that do not ask", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.configured())
		o.run(app)
		d := get[appsv1.Deployment](ctx, app)
		restart := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"}}}}}`
		Expect(admin.Patch(ctx, d, client.RawPatch("application/strategic-merge-patch+json", []byte(restart)))).To(Succeed())
		Expect(o.run(app)).To(BeEmpty())
		settings := o.configMap()
		o.store(settings, func() { settings.Data = map[string]string{"mode": "a"} })
		o.run(app)
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Annotations).To(HaveKey("kubectl.kubernetes.io/restartedAt"))

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Rollout = nil })
		o.run(app)
		rolled := o.rolls(app)
		o.store(settings, func() { settings.Data = map[string]string{"mode": "b"} })
		Expect(o.run(app)).To(BeEmpty())
		Expect(rolled()).To(BeFalse())
		Expect(get[appsv1.Deployment](ctx, app).Annotations).NotTo(HaveKey(v1beta1.AnnotationConfigVersions))
	})
})
