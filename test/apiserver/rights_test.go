package apiserver

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// shippedRules are what config/rbac gives to the operator in every namespace.
func shippedRules(ctx context.Context) []rbacv1.PolicyRule {
	GinkgoHelper()
	root, err := cluster.Root()
	Expect(err).NotTo(HaveOccurred())
	Expect(client.IgnoreAlreadyExists(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "system"}}))).To(Succeed())
	out, err := plane.Kubectl(ctx, "apply", "-k", filepath.Join(root, "config", "rbac"))
	Expect(err).NotTo(HaveOccurred(), out)
	role := &rbacv1.ClusterRole{}
	Expect(admin.Get(ctx, client.ObjectKey{Name: "myapp-operator-manager"}, role)).To(Succeed())
	return role.Rules
}

// as starts an operator, in a new namespace, that has these rights and no others.
func as(ctx context.Context, purpose string, rules []rbacv1.PolicyRule) *operator {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: purpose + "-"}}
	Expect(admin.Create(ctx, ns)).To(Succeed())
	user := fmt.Sprintf("operator-of-%s", ns.Name)
	config, err := plane.UserConfig(user)
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}
	Expect(admin.Create(ctx, role)).To(Succeed())
	Expect(admin.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	})).To(Succeed())
	Eventually(func() string {
		out, _ := plane.Kubectl(ctx, "auth", "can-i", "patch", "deployments", "-n", ns.Name, "--as="+user)
		return out
	}).WithTimeout(10 * time.Second).Should(HavePrefix("yes"))
	o := startOperator(ctx, ns.Name, config)
	// Needs a role of its own, which is shipped and not bound.
	o.r.Options.RestartOnSecretChange = false
	return o
}

var _ = Describe("Where owner references need a right on the owner's finalizers", func() {
	It("C06 the shipped role is enough for every kind of child, in every life of a MyApp", func(ctx SpecContext) {
		o := as(ctx, "shipped", shippedRules(ctx))
		app := wrappers.FullestHere("shop", o.namespace).DeletionPolicy(v1beta1.DeletionPolicyDrain).Obj()
		o.create(app)
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
		for _, child := range children() {
			Expect(missing(ctx, app, child)).To(BeFalse())
			Expect(child.GetOwnerReferences()).To(HaveLen(1))
			Expect(child.GetOwnerReferences()[0].BlockOwnerDeletion).To(HaveValue(BeTrue()))
		}
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec = o.smallest().Spec })
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.DeletionPolicy = v1beta1.DeletionPolicyOrphan })
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.DeletionPolicy = v1beta1.DeletionPolicyDelete })
		o.run(app)
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
	})

	It("C06 a role without it is told to the user, so that the spec above shows something", func(ctx SpecContext) {
		without := slices.DeleteFunc(shippedRules(ctx), func(r rbacv1.PolicyRule) bool {
			return slices.ContainsFunc(r.Resources, func(s string) bool { return strings.HasSuffix(s, "/finalizers") })
		})
		o := as(ctx, "without", without)
		app := o.create(o.web())
		_, err := o.step(app)
		Expect(err).To(HaveOccurred())
		Expect(o.condition(app, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionTrue, v1beta1.ReasonForbidden}))
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring("finalizers"))
	})
})
