package apiserver

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

var _ = Describe("A name", func() {
	DescribeTable("N01 that admission takes is good for every child", func(ctx SpecContext, length int) {
		o := newOperator(ctx)
		app := o.create(wrappers.FullestHere(strings.Repeat("a", length), o.namespace).Obj())
		o.run(app)
		made := 0
		for _, child := range children() {
			if missing(ctx, app, child) {
				continue
			}
			made++
			Expect(child.GetName()).To(Equal(app.Name), "a child with a suffix")
			for key, value := range child.GetLabels() {
				Expect(validation.IsValidLabelValue(value)).To(BeEmpty(), key)
			}
		}
		Expect(made).To(Equal(len(children())), "a child is missing")
		for key, value := range get[appsv1.Deployment](ctx, app).Spec.Template.Labels {
			Expect(validation.IsValidLabelValue(value)).To(BeEmpty(), key)
		}
		Expect(o.condition(app, v1beta1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
	},
		Entry("52 characters", 52), Entry("57 characters", 57), Entry("63 characters", 63),
	)

	DescribeTable("N01, N02, T06 that was stored before there were rules is reported once, costs nothing more, and can be deleted",
		func(ctx SpecContext, name string, policy v1beta1.DeletionPolicy) {
			o := newOperator(ctx)
			app := o.storeBadName(wrappers.MakeMyApp(name, o.namespace).Port(80).DeletionPolicy(policy).Obj())
			result, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
			Expect(result.RequeueAfter).To(BeZero(), "it is tried again although the spec did not change")
			Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonInvalidSpec}))
			Expect(o.fullCondition(app, v1beta1.ConditionReady).Message).To(ContainSubstring("metadata.name"))
			o.run(app)
			o.requests.take()
			for range 3 {
				_, err := o.step(app)
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(o.requests.take()).To(BeEmpty())
			Expect(o.events.Events).To(Receive(HavePrefix("Warning InvalidSpec")))
			Expect(o.events.Events).NotTo(Receive())

			o.editsAndGoes(app)
		},
		Entry("a dot", "shop.v2", v1beta1.DeletionPolicyDelete),
		Entry("a dot, under Drain", "shop.v2", v1beta1.DeletionPolicyDrain),
		Entry("64 characters", strings.Repeat("a", 64), v1beta1.DeletionPolicyDelete),
		Entry("253 characters, under Drain", strings.Repeat("a", 253), v1beta1.DeletionPolicyDrain),
	)

	It("N02 that starts with a digit, stored before there were rules, serves where Services may have it, and can be deleted", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.storeBadName(wrappers.MakeMyApp("1st-shop", o.namespace).Port(80).DeletionPolicy(v1beta1.DeletionPolicyDrain).Obj())
		o.run(app)
		want := v1beta1.ReasonAsExpected
		if wrappers.OldServer() {
			want = v1beta1.ReasonInvalidSpec
		}
		Expect(o.condition(app, v1beta1.ConditionDegraded).Reason).To(Equal(want))
		o.editsAndGoes(app)
	})
})

// editsAndGoes expects a stored MyApp to be one that can be edited and deleted.
func (o *operator) editsAndGoes(app *v1beta1.MyApp) {
	GinkgoHelper()
	edit(o.ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](2) })
	Expect(admin.Delete(o.ctx, app)).To(Succeed())
	for range 5 {
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(missing(o.ctx, app, &v1beta1.MyApp{})).To(BeTrue(), "it cannot be deleted")
}

// storeBadName makes a MyApp as it could be made before the schema had its rules, which it expects to refuse it now.
func (o *operator) storeBadName(app *v1beta1.MyApp) *v1beta1.MyApp {
	GinkgoHelper()
	Expect(admin.Create(o.ctx, app.DeepCopy())).To(MatchError(ContainSubstring("metadata.name")), "the schema holds without admission")
	rules := setRules(o.ctx, nameRules{})
	Eventually(func() error { return admin.Create(o.ctx, app) }).WithTimeout(10 * time.Second).Should(Succeed())
	setRules(o.ctx, rules)
	bad := app.DeepCopy()
	bad.ResourceVersion = ""
	bad.Name += "0"
	Eventually(func() error { return admin.Create(o.ctx, bad, client.DryRunAll) }).WithTimeout(10 * time.Second).ShouldNot(Succeed())
	return app
}

// nameRules is what the schema says about names.
type nameRules struct{ rules, metadata any }

// setRules replaces what the schema says about names, and returns what it said before.
func setRules(ctx context.Context, next nameRules) nameRules {
	GinkgoHelper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	Expect(admin.Get(ctx, client.ObjectKey{Name: "myapps.app.ydzs.io"}, crd)).To(Succeed())
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	schema := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	properties := schema["properties"].(map[string]any)
	const rules = "x-kubernetes-validations"
	before := nameRules{schema[rules], properties["metadata"]}
	delete(schema, rules)
	properties["metadata"] = map[string]any{"type": "object"}
	if next.rules != nil {
		schema[rules], properties["metadata"] = next.rules, next.metadata
	}
	Expect(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")).To(Succeed())
	Expect(admin.Update(ctx, crd)).To(Succeed())
	return before
}
