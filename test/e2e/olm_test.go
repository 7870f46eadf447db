//go:build e2e

package e2e

import (
	"context"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

const myappCRD = "myapps.app.ydzs.io"

// olmSpecs: installed by OLM from a catalog.
func olmSpecs() {
	Describe("installed by OLM", Ordered, func() {
		BeforeAll(func(ctx SpecContext) {
			images, err := world.pushOLMImages(ctx)
			Expect(err).NotTo(HaveOccurred())
			catalog, err := world.pushCatalog(ctx, images.OPM)
			Expect(err).NotTo(HaveOccurred())
			stop, err := world.StartOLM(ctx, images)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) {
				Expect(world.RemoveOLM(ctx)).To(Succeed())
				stop()
				Expect(world.RemoveCRD(ctx, myappCRD)).To(Succeed())
			})
			Expect(world.serveCatalog(ctx, catalog)).To(Succeed())
		})

		modeSpecs()
		upgradeSpecs()
		removalSpecs()
	})
}

// modeSpecs: in every install mode MyApps are served where the OperatorGroup says, and nowhere else.
func modeSpecs() {
	DescribeTable("O04, O11 serves the namespaces of its OperatorGroup and no other",
		func(ctx SpecContext, targets func(operator, tenant, other string) []string, servesOwn, servesTenant bool) {
			operator, tenant, other := newNamespace(ctx, "operator"), newNamespace(ctx, "tenant"), newNamespace(ctx, "other")
			i := install(ctx, operator, targets(operator, tenant, other)...)
			i.succeeds(ctx, nextVersion)
			servesFromOLM(ctx, operator)

			served := map[string]bool{operator: servesOwn, tenant: servesTenant}
			for ns, is := range served {
				if !is {
					// Neither admission nor the operator takes notice.
					Expect(world.admin.Create(ctx, wrappers.MakeMyApp("web", ns).Image("not an image").Obj())).To(Succeed())
					Consistently(children).WithContext(ctx).WithArguments(ns).WithTimeout(3 * time.Second).Should(BeZero())
					continue
				}
				refused(ctx, wrappers.MakeMyApp("bad", ns).Image("not an image").Obj(), "spec.image")
				app := makeWeb("web", ns)
				Expect(world.admin.Create(ctx, app)).To(Succeed())
				runs(ctx, app)
				answers(ctx, app, "one")
			}
			i.uninstall(ctx)
			Eventually(leftovers).WithContext(ctx).Should(BeEmpty())
		},
		Entry("AllNamespaces", func(_, _, _ string) []string { return nil }, true, true),
		Entry("OwnNamespace", func(operator, _, _ string) []string { return []string{operator} }, true, false),
		Entry("SingleNamespace", func(_, tenant, _ string) []string { return []string{tenant} }, false, true),
		Entry("MultiNamespace", func(_, tenant, other string) []string { return []string{tenant, other} }, false, true),
	)

	It("was unpacked by OLM's own Job", func(ctx SpecContext) {
		var jobs batchv1.JobList
		Expect(world.admin.List(ctx, &jobs, client.InNamespace(cluster.OLMNamespace))).To(Succeed())
		Expect(jobs.Items).NotTo(BeEmpty())
		for _, job := range jobs.Items {
			Expect(job.Status.Succeeded).To(BeEquivalentTo(1))
		}
	})
}

// installation is the operator as OLM installed it.
type installation struct {
	subscription *operatorsv1alpha1.Subscription
	group        *operatorsv1.OperatorGroup
}

// install subscribes a namespace to the channel's newest version, for these namespaces or for all.
func install(ctx context.Context, ns string, targets ...string) *installation {
	GinkgoHelper()
	i := newInstallation(ns, targets...)
	i.create(ctx)
	return i
}

func newInstallation(ns string, targets ...string) *installation {
	return &installation{
		group: &operatorsv1.OperatorGroup{
			ObjectMeta: metav1.ObjectMeta{Name: packageName, Namespace: ns},
			Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: targets},
		},
		subscription: &operatorsv1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: packageName, Namespace: ns},
			Spec: &operatorsv1alpha1.SubscriptionSpec{
				CatalogSource: catalogName, CatalogSourceNamespace: cluster.OLMNamespace,
				Package: packageName, Channel: channel, InstallPlanApproval: operatorsv1alpha1.ApprovalAutomatic,
			},
		},
	}
}

func (i *installation) create(ctx context.Context) {
	GinkgoHelper()
	Expect(world.admin.Create(ctx, i.group)).To(Succeed())
	Expect(world.admin.Create(ctx, i.subscription)).To(Succeed())
}

// csv is the ClusterServiceVersion of a version.
func (i *installation) csv(version string) *operatorsv1alpha1.ClusterServiceVersion {
	return &operatorsv1alpha1.ClusterServiceVersion{
		ObjectMeta: metav1.ObjectMeta{Name: csvName(version), Namespace: i.group.Namespace},
	}
}

// succeeds waits until a version is installed and its pods run.
func (i *installation) succeeds(ctx context.Context, version string) {
	GinkgoHelper()
	csv := i.csv(version)
	Eventually(func(g Gomega) {
		g.Expect(world.admin.Get(ctx, client.ObjectKeyFromObject(csv), csv)).To(Succeed())
		g.Expect(csv.Status.Phase).To(Equal(operatorsv1alpha1.CSVPhaseSucceeded), csv.Status.Message)
	}).WithContext(ctx).WithTimeout(4 * time.Minute).Should(Succeed())
	rolledOut(ctx, i.group.Namespace, operatorName)
}

// carriedOut waits until OLM has done what it planned. It may do so twice, where its view of the plan is late, for some
// seconds; what it makes anew when the operator was removed meanwhile would stay.
func (i *installation) carriedOut(ctx context.Context) {
	GinkgoHelper()
	var plans operatorsv1alpha1.InstallPlanList
	Eventually(func() ([]operatorsv1alpha1.InstallPlan, error) {
		err := world.admin.List(ctx, &plans, client.InNamespace(i.group.Namespace))
		return slices.DeleteFunc(plans.Items, func(p operatorsv1alpha1.InstallPlan) bool { return !p.Spec.Approved }), err
	}).WithContext(ctx).Should(HaveEach(HaveField("Status.Phase", operatorsv1alpha1.InstallPlanPhaseComplete)))
	time.Sleep(settle)
}

// uninstall removes the operator as docs/install.md says: the Subscription, the ClusterServiceVersions, and the roles that
// OLM leaves.
func (i *installation) uninstall(ctx context.Context) {
	GinkgoHelper()
	i.carriedOut(ctx)
	gone(ctx, i.subscription)
	gone(ctx, i.csv(version), i.csv(nextVersion))
	gone(ctx, i.group)
	documented(ctx, removeRoles)
}

// servesFromOLM expects the certificate to be OLM's, and nobody else's to be mounted.
func servesFromOLM(ctx context.Context, ns string) {
	GinkgoHelper()
	var d appsv1.Deployment
	Expect(world.admin.Get(ctx, client.ObjectKey{Namespace: ns, Name: operatorName}, &d)).To(Succeed())
	var secrets []string
	for _, v := range d.Spec.Template.Spec.Volumes {
		Expect(v.Secret).NotTo(BeNil(), v.Name)
		secrets = append(secrets, v.Secret.SecretName)
	}
	Expect(secrets).To(And(Not(BeEmpty()), HaveEach(operatorName+"-service-cert")))
}

// children is how many Deployments and Services there are in a namespace.
func children(ctx context.Context, ns string) (int, error) {
	out, err := world.Kubectl(ctx, "get", "deployments,services", "--namespace", ns, "--output=name",
		"--selector", "app.kubernetes.io/managed-by="+v1beta1.OperatorName)
	return len(lines(out)), err
}

// leftovers are the objects of ours that are left in the cluster, but for the CRD and what is in namespaces. The roles that
// OLM makes for every API stay with the CRD and bear its name; those that it makes for an OperatorGroup are its own.
func leftovers(ctx context.Context) ([]string, error) {
	out, err := world.Kubectl(ctx, "get", "--output=name",
		"clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations")
	var left []string
	for _, line := range lines(out) {
		if strings.Contains(line, operatorName) && !strings.Contains(line, "/olm.og.") {
			left = append(left, line)
		}
	}
	return left, err
}

// lines are the lines of what kubectl printed.
func lines(out string) []string {
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })
}
