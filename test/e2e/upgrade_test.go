//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// upgradeSpecs: from one version to the next through the channel.
func upgradeSpecs() {
	It("O06, O10, W05 is upgraded through the channel without a failed call, once no teardown holds it", func(ctx SpecContext) {
		operator, tenant := newNamespace(ctx, "operator"), newNamespace(ctx, "tenant")
		i := newInstallation(operator)
		i.subscription.Spec.StartingCSV = csvName(version)
		i.subscription.Spec.InstallPlanApproval = operatorsv1alpha1.ApprovalManual
		i.create(ctx)
		i.approve(ctx, version)
		i.succeeds(ctx, version)

		app := makeWeb("web", tenant)
		Expect(world.admin.Create(ctx, app)).To(Succeed())
		runs(ctx, app)
		before, err := template(ctx, app)
		Expect(err).NotTo(HaveOccurred())
		pods := app.Status.Nodes
		address := url(ctx, app)
		answers(ctx, app, "one")
		traffic := startStream(perSecond, func(ctx context.Context) error {
			_, err := fetch(ctx, address)
			return err
		})
		DeferCleanup(func() { traffic.stop() })
		release := teardown(ctx, tenant)
		Eventually(i.upgradeable).WithContext(ctx).Should(Equal("TeardownInProgress"))

		changes := startStream(2, writer(tenant))
		DeferCleanup(func() { changes.stop() })
		i.approve(ctx, nextVersion)
		next := i.csv(nextVersion)
		phase := func() (operatorsv1alpha1.ConditionReason, error) {
			err := world.admin.Get(ctx, client.ObjectKeyFromObject(next), next)
			return next.Status.Reason, client.IgnoreNotFound(err)
		}
		Eventually(phase).WithContext(ctx).Should(Equal(operatorsv1alpha1.CSVReasonOperatorConditionNotUpgradeable))
		Consistently(phase).WithContext(ctx).WithTimeout(5 * time.Second).Should(Equal(operatorsv1alpha1.CSVReasonOperatorConditionNotUpgradeable))

		release()
		i.succeeds(ctx, nextVersion)
		Eventually(func() error { return world.admin.Get(ctx, client.ObjectKeyFromObject(i.csv(version)), i.csv(version)) }).
			WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "the version before is gone"))
		Eventually(images).WithContext(ctx).WithArguments(operator).Should(HaveEach(HavePrefix(world.images.Registry + "/myapp-operator@")))

		made, failed := changes.stop()
		Expect(failed).To(BeEmpty())
		AddReportEntry("MyApps created, updated and deleted meanwhile", fmt.Sprint(made))
		made, failed = traffic.stop()
		Expect(failed).To(BeEmpty())
		AddReportEntry("requests served meanwhile", fmt.Sprint(made))
		Expect(bundles(ctx)).To(HaveLen(2))
		runs(ctx, app)
		Expect(template(ctx, app)).To(Equal(before))
		Expect(app.Status.Nodes).To(Equal(pods))
		notRestarted(ctx, tenant, pods)

		gone(ctx, app)
		i.uninstall(ctx)
	})
}

// approve lets OLM go on with a version: with every InstallPlan for it that waits for approval, until the version is there.
// One that is approved before OLM says that it waits may be made a second time.
func (i *installation) approve(ctx context.Context, version string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var plans operatorsv1alpha1.InstallPlanList
		g.Expect(world.admin.List(ctx, &plans, client.InNamespace(i.group.Namespace))).To(Succeed())
		for _, plan := range plans.Items {
			if plan.Status.Phase == operatorsv1alpha1.InstallPlanPhaseRequiresApproval && !plan.Spec.Approved &&
				slices.Contains(plan.Spec.ClusterServiceVersionNames, csvName(version)) {
				plan.Spec.Approved = true
				g.Expect(world.admin.Update(ctx, &plan)).To(Succeed())
			}
		}
		csv := i.csv(version)
		g.Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(csv), csv)).To(Succeed())
	}).WithContext(ctx).Should(Succeed())
}

// upgradeable is the reason that the first version gives for whether it may be replaced.
func (i *installation) upgradeable(ctx context.Context) (string, error) {
	condition := &operatorsv2.OperatorCondition{}
	err := world.admin.Get(ctx, client.ObjectKey{Namespace: i.group.Namespace, Name: csvName(version)}, condition)
	if err != nil {
		return "", err
	}
	c := meta.FindStatusCondition(condition.Spec.Conditions, operatorsv2.Upgradeable)
	if c == nil || c.Status == metav1.ConditionTrue {
		return "", nil
	}
	return c.Reason, nil
}

// teardown deletes a MyApp under Drain and holds its deletion until it is released.
func teardown(ctx context.Context, ns string) (release func()) {
	GinkgoHelper()
	app := makeWeb("ending", ns)
	app.Spec.DeletionPolicy = v1beta1.DeletionPolicyDrain
	Expect(world.admin.Create(ctx, app)).To(Succeed())
	runs(ctx, app)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: app.Name, Namespace: ns}}
	finalizers := func(list string) {
		GinkgoHelper()
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":`+list+`}}`))
		Expect(client.IgnoreNotFound(world.admin.Patch(ctx, deployment, patch))).To(Succeed())
	}
	finalizers(`["example.com/hold"]`)
	Expect(world.admin.Delete(ctx, app)).To(Succeed())
	return func() {
		GinkgoHelper()
		finalizers("null")
		gone(ctx, app)
	}
}

// writer creates, updates and deletes a MyApp of its own at each call.
func writer(ns string) func(context.Context) error {
	var number atomic.Int64
	return func(ctx context.Context) error {
		app := wrappers.MakeMyApp(fmt.Sprintf("change-%d", number.Add(1)), ns).Image(world.app).Size(0).Obj()
		if err := world.admin.Create(ctx, app); err != nil {
			return fmt.Errorf("create: %w", err)
		}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"envs":[{"name":"VERSION","value":"two"}]}}`))
		if err := world.admin.Patch(ctx, app, patch); err != nil {
			return fmt.Errorf("update: %w", err)
		}
		if err := world.admin.Delete(ctx, app); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		return nil
	}
}

// notRestarted expects these pods to have run since they were started.
func notRestarted(ctx context.Context, ns string, names []string) {
	GinkgoHelper()
	for _, name := range names {
		var pod corev1.Pod
		Expect(world.admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, &pod)).To(Succeed())
		Expect(pod.Status.ContainerStatuses).To(HaveEach(HaveField("RestartCount", BeZero())))
	}
}
