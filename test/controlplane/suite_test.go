// Package controlplane tests the operator as it is shipped: the real binary, as a user with exactly the rights of
// config/rbac, on a full Kubernetes control plane with fake nodes, called by the API server for admission. What it asks
// of the API server is read from the audit log.
//
// There are two control planes: one on which the request budget is counted, which mostly waits, and one for all other
// specs, which run meanwhile. OPERATOR_BINARY names a binary to test instead of a fresh one.
package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"ydzs.io/myapp-operator/test/cluster"
)

// binary is the operator's binary.
var binary string

// plane is where all specs but the budget's run; leader is the operator there, until the process specs stop it.
var (
	plane  *site
	leader *operator
)

func TestControlPlane(t *testing.T) {
	RegisterFailHandler(Fail)
	logf.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	suite, reporter := GinkgoConfiguration()
	suite.Timeout = 15 * time.Minute
	RunSpecs(t, "operator on a full control plane", suite, reporter)
}

var _ = BeforeSuite(func(ctx SpecContext) {
	dir := GinkgoT().TempDir()
	var err error
	binary, err = operatorBinary(ctx, dir)
	Expect(err).NotTo(HaveOccurred())

	if budgetRuns() {
		budget = startBudget()
		DeferCleanup(budget.stop)
	}
	plane, err = startSite(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(plane.Stop)
	leader, err = plane.startOperator(operatorUser)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { leader.Kill() })
	Expect(leader.waitReady(ctx)).To(Succeed())
})

// The order matters: specs that delete come when the garbage collector has had time to learn of MyApps, the process specs
// stop the operator that the others need, and the budget's spec waits for what has been going on since the start.
var _ = Describe("the operator", Ordered, ContinueOnFailure, func() {
	AfterEach(func() {
		if CurrentSpecReport().Failed() && leader != nil {
			AddReportEntry("end of the operator's log", leader.logTail())
		}
	})
	troubleSpecs()
	kubectlSpecs()
	optionalSpecs()
	neighbourSpecs()
	scalingSpecs()
	deletionSpecs()
	processSpecs()
	budgetSpecs()
})

// operatorBinary builds the operator unless it is given.
func operatorBinary(ctx context.Context, dir string) (string, error) {
	if given := os.Getenv("OPERATOR_BINARY"); given != "" {
		return filepath.Abs(given)
	}
	root, err := cluster.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "myapp-operator")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the operator: %w: %s", err, out)
	}
	return path, nil
}
