//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Commands of docs/install.md, without the kubectl before them.
const (
	removeRoles    = `delete clusterroles --selector app.kubernetes.io/name=myapp-operator`
	removeWebhooks = `delete mutatingwebhookconfigurations,validatingwebhookconfigurations --selector app.kubernetes.io/name=myapp-operator`
	freeMyApp      = `patch myapp NAME --namespace NAMESPACE --type=merge --patch {"metadata":{"finalizers":null}}`
)

// documented runs a command that docs/install.md has, quotes apart.
func documented(ctx context.Context, command string, replace ...string) {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(world.root, "docs", "install.md"))
	Expect(err).NotTo(HaveOccurred())
	Expect(strings.ReplaceAll(string(text), "'", "")).To(ContainSubstring("kubectl " + command))
	_, err = world.Kubectl(ctx, strings.Fields(strings.NewReplacer(replace...).Replace(command))...)
	Expect(err).NotTo(HaveOccurred())
}

// withoutOperator: MyApps can be deleted when the operator is gone. The one under Drain waits for it, and is freed by
// hand.
func withoutOperator(ctx context.Context, plain, drained *v1beta1.MyApp) {
	GinkgoHelper()
	gone(ctx, plain)
	Eventually(children).WithContext(ctx).WithArguments(plain.Namespace).Should(Equal(2), "those of the other one")
	Expect(world.admin.Delete(ctx, drained)).To(Succeed())
	Consistently(func() error { return world.admin.Get(ctx, client.ObjectKeyFromObject(drained), drained) }).
		WithContext(ctx).WithTimeout(2 * time.Second).Should(Succeed())
	documented(ctx, removeWebhooks)
	documented(ctx, freeMyApp, "NAMESPACE", drained.Namespace, "NAME", drained.Name)
	gone(ctx, drained)
	Eventually(children).WithContext(ctx).WithArguments(plain.Namespace).Should(BeZero())
}

// pair creates two MyApps, one under Delete and one under Drain.
func pair(ctx context.Context, ns string) (plain, drained *v1beta1.MyApp) {
	GinkgoHelper()
	plain, drained = makeWeb("plain", ns), makeWeb("drained", ns)
	drained.Spec.DeletionPolicy = v1beta1.DeletionPolicyDrain
	for _, app := range []*v1beta1.MyApp{plain, drained} {
		Expect(world.admin.Create(ctx, app)).To(Succeed())
	}
	for _, app := range []*v1beta1.MyApp{plain, drained} {
		runs(ctx, app)
	}
	return plain, drained
}

// removalSpecs: what is left when OLM's installation goes.
func removalSpecs() {
	It("W06 leaves nothing but the CRD and the MyApps, which can be deleted, and can be installed elsewhere", func(ctx SpecContext) {
		first, second, tenant := newNamespace(ctx, "first"), newNamespace(ctx, "second"), newNamespace(ctx, "tenant")
		i := install(ctx, first)
		i.succeeds(ctx, nextVersion)
		plain, drained := pair(ctx, tenant)
		kept := makeWeb("kept", newNamespace(ctx, "kept"))
		Expect(world.admin.Create(ctx, kept)).To(Succeed())
		runs(ctx, kept)

		i.uninstall(ctx)
		Eventually(leftovers).WithContext(ctx).Should(BeEmpty())
		withoutOperator(ctx, plain, drained)

		i = install(ctx, second)
		i.succeeds(ctx, nextVersion)
		update(ctx, kept, func(app *v1beta1.MyApp) { app.Spec.Envs[0].Value = "two" })
		runs(ctx, kept)
		answers(ctx, kept, "two")
		gone(ctx, kept)
		i.uninstall(ctx)
	})

	It("does not hold the deletion of a namespace that it is in itself, with MyApps", func(ctx SpecContext) {
		ns := newNamespace(ctx, "whole")
		i := install(ctx, ns)
		i.succeeds(ctx, nextVersion)
		app := makeWeb("web", ns)
		Expect(world.admin.Create(ctx, app)).To(Succeed())
		runs(ctx, app)
		i.carriedOut(ctx)
		gone(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		documented(ctx, removeRoles)
		Eventually(leftovers).WithContext(ctx).Should(BeEmpty())
	})
}

// removeOperator takes the operator's Deployment away, and waits until it has ended.
func removeOperator(ctx context.Context, ns string) {
	GinkgoHelper()
	gone(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: operatorName, Namespace: ns}})
	Eventually(operatorPods).WithContext(ctx).WithArguments(ns).Should(BeEmpty())
}
