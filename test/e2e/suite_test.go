//go:build e2e

package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// world is where everything happens.
var world *site

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	logf.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	suite, reporter := GinkgoConfiguration()
	suite.Timeout = 50 * time.Minute
	RunSpecs(t, "operator on a real node", suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	world, err = startSite(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(world.Stop)
	Expect(world.pushImages(ctx)).To(Succeed())
})

// Each container leaves the cluster as it found it.
var _ = Describe("the operator", Ordered, ContinueOnFailure, func() {
	AfterEach(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() && world != nil {
			path, err := world.dump(ctx, CurrentSpecReport().LeafNodeText)
			Expect(err).NotTo(HaveOccurred())
			AddReportEntry("the cluster as it was", path)
		}
	})
	kubectlSpecs()
	bareSpecs()
	olmSpecs()
	rightsSpecs()
})
