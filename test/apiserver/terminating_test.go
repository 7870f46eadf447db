package apiserver

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// No controller empties a namespace here, so one that is deleted stays in Terminating, which refuses every creation.
var _ = Describe("In a namespace that is being deleted", func() {
	terminate := func(ctx SpecContext, o *operator) {
		GinkgoHelper()
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
		Expect(admin.Delete(ctx, ns)).To(Succeed())
		Eventually(func() error {
			return admin.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-", Namespace: o.namespace}})
		}).WithTimeout(10 * time.Second).ShouldNot(Succeed())
	}

	It("F02 a MyApp that stays is told why it gets nothing, and looked at once a minute", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		terminate(ctx, o)
		result, err := o.step(app)
		Expect(err).NotTo(HaveOccurred(), "it is tried again at full rate")
		Expect(result.RequeueAfter).To(And(BeNumerically(">", 30*time.Second), BeNumerically("<=", time.Minute)))
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonNamespaceTerminating}))
	})

	DescribeTable("F02 a MyApp that goes makes nothing, whatever its children lack, and ends", func(ctx SpecContext, policy v1beta1.DeletionPolicy) {
		o := newOperator(ctx)
		app := o.create(wrappers.MakeMyApp("shop", o.namespace).Size(2).Port(80).DeletionPolicy(policy).Obj())
		o.run(app)
		terminate(ctx, o)
		// The namespace's controller deletes everything in no fixed order.
		Expect(admin.Delete(ctx, get[corev1.Service](ctx, app))).To(Succeed())
		Expect(admin.Delete(ctx, app)).To(Succeed())
		o.requests.take()
		for range 6 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(o.requests.take()).NotTo(ContainElement(HaveSuffix("Created")))
		Expect(missing(ctx, app, &v1beta1.MyApp{})).To(BeTrue(), "the namespace never ends")
		Expect(missing(ctx, app, &corev1.Service{})).To(BeTrue())
		Expect(client.IgnoreNotFound(admin.DeleteAllOf(ctx, &v1beta1.MyApp{}, client.InNamespace(o.namespace)))).To(Succeed())
	},
		Entry("under Delete", v1beta1.DeletionPolicyDelete),
		Entry("under Drain", v1beta1.DeletionPolicyDrain),
		Entry("under Orphan", v1beta1.DeletionPolicyOrphan),
	)
})
