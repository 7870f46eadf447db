//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// bareSpecs: installed where nothing can issue a certificate.
func bareSpecs() {
	Describe("installed without webhooks", Ordered, func() {
		const config = "CONFIG=without-webhooks"

		BeforeAll(func(ctx SpecContext) {
			Expect(world.make(ctx, "deploy", config, "IMG="+world.operator[version])).To(Succeed())
			rolledOut(ctx, kubectlNamespace, operatorName)
			DeferCleanup(func(ctx SpecContext) { Expect(world.make(ctx, "undeploy", config)).To(Succeed()) })
		})

		It("runs MyApps, and says what admission would have refused", func(ctx SpecContext) {
			Expect(bundles(ctx)).To(BeEmpty())
			ns := newNamespace(ctx, "bare")
			app := makeWeb("web", ns)
			bad := wrappers.MakeMyApp("bad", ns).Image("not an image").Obj()
			for _, a := range []*v1beta1.MyApp{app, bad} {
				Expect(world.admin.Create(ctx, a)).To(Succeed())
			}
			runs(ctx, app)
			answers(ctx, app, "one")
			Eventually(func() (bool, error) {
				err := world.admin.Get(ctx, client.ObjectKeyFromObject(bad), bad)
				return meta.IsStatusConditionTrue(bad.Status.Conditions, v1beta1.ConditionDegraded), err
			}).WithContext(ctx).Should(BeTrue())
		})
	})
}
