package controlplane

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// deletion is one way to delete a MyApp.
type deletion struct {
	policy  v1beta1.DeletionPolicy
	cascade string
	// kept tells whether the children outlive the MyApp.
	kept bool
}

var deletions = []deletion{
	{v1beta1.DeletionPolicyDelete, "background", false},
	{v1beta1.DeletionPolicyDelete, "foreground", false},
	{v1beta1.DeletionPolicyDelete, "orphan", true},
	{v1beta1.DeletionPolicyDrain, "background", false},
	{v1beta1.DeletionPolicyDrain, "foreground", false},
	{v1beta1.DeletionPolicyDrain, "orphan", true},
	{v1beta1.DeletionPolicyOrphan, "background", true},
	{v1beta1.DeletionPolicyOrphan, "foreground", true},
	{v1beta1.DeletionPolicyOrphan, "orphan", true},
}

func (d deletion) name() string { return strings.ToLower(string(d.policy)) + "-" + d.cascade }

func (d deletion) app(ns string) *v1beta1.MyApp {
	return wrappers.MakeMyApp(d.name(), ns).Size(2).Port(80).DeletionPolicy(d.policy).
		PodAnnotation(cluster.StopAfter, "1s").Obj()
}

func deletionSpecs() {
	Describe("deleting a MyApp", Ordered, func() {
		var ns string
		var since cluster.Mark
		var began time.Time

		BeforeAll(func(ctx SpecContext) {
			waitForCollector(ctx)
			ns = newNamespace(ctx, "deletion")
			for _, d := range deletions {
				create(ctx, d.app(ns))
			}
			for _, d := range deletions {
				reaches(ctx, d.app(ns), rolledOut)
			}
			since, began = mark(ctx), time.Now()
		})

		for _, d := range deletions {
			fate := "removes"
			if d.kept {
				fate = "keeps"
			}
			It("F05 "+fate+" the children under policy "+string(d.policy)+" and --cascade="+d.cascade, func(ctx SpecContext) {
				app := d.app(ns)
				kubectl(ctx, "delete", "-n", ns, "myapp", app.Name, "--cascade="+d.cascade, "--timeout=60s")
				Expect(exists[v1beta1.MyApp](ctx, app)).To(BeFalse())
				childrenAre(ctx, app, d.kept)
				if d.kept {
					haveNoOwner(ctx, app)
				}
			})
		}

		It("goes in order under policy Drain", func(ctx SpecContext) {
			at := map[string]time.Time{}
			for _, e := range requests(ctx, since, func(e cluster.Event) bool {
				return e.Namespace == ns && strings.HasPrefix(e.Name, "drain-background") && e.Code < 300
			}) {
				if e.User == operatorUser || e.Target() == "delete pods" {
					// The last one of each counts.
					at[e.Target()] = e.Time
				}
			}
			for _, target := range []string{"delete services", "patch deployments", "delete pods", "delete deployments", "patch myapps"} {
				Expect(at).To(HaveKey(target))
			}
			Expect(at["delete services"]).To(BeTemporally("<", at["patch deployments"]), "the Service before the pods")
			Expect(at["patch deployments"]).To(BeTemporally("<", at["delete pods"]))
			Expect(at["delete pods"]).To(BeTemporally("<", at["delete deployments"]), "the pods before the Deployment")
			Expect(at["delete deployments"]).To(BeTemporally("<", at["patch myapps"]), "the finalizer last")
		})

		It("F05 creates nothing, keeps what was kept, and asks for nothing where there is no order", func(ctx SpecContext) {
			Expect(pause(ctx, time.Until(began.Add(10*time.Second)))).To(Succeed())
			Expect(createdChildren(ctx, since, operatorUser, ns)).To(BeEmpty())
			for _, e := range writes(ctx, since, operatorUser, ns) {
				Expect(e.Name).To(HavePrefix("drain-"), "%s of %s", e.Target(), e.Name)
			}
			for _, d := range deletions {
				childrenAre(ctx, d.app(ns), d.kept)
			}
		})

		It("takes over what a former MyApp of the name left only when it is allowed to", func(ctx SpecContext) {
			app := deletion{policy: v1beta1.DeletionPolicyDelete, cascade: "orphan"}.app(ns)
			create(ctx, app)
			reaches(ctx, app, "False "+v1beta1.ReasonForeignObject)
			kubectl(ctx, "annotate", "-n", ns, "deployment,service,poddisruptionbudget", app.Name, v1beta1.AnnotationAdopt+"=true")
			reaches(ctx, app, rolledOut)
			for _, child := range bothChildren(ctx, app) {
				Expect(child.GetOwnerReferences()).To(HaveLen(1))
			}
		})
	})

	It("F02 lets a namespace with MyApps of every policy go", func(ctx SpecContext) {
		ns := newNamespace(ctx, "going")
		policies := []v1beta1.DeletionPolicy{v1beta1.DeletionPolicyDelete, v1beta1.DeletionPolicyDrain, v1beta1.DeletionPolicyOrphan}
		for _, p := range policies {
			create(ctx, deletion{policy: p, cascade: "namespace"}.app(ns))
		}
		for _, p := range policies {
			reaches(ctx, deletion{policy: p, cascade: "namespace"}.app(ns), rolledOut)
		}
		since := mark(ctx)
		kubectl(ctx, "delete", "namespace", ns, "--timeout=60s")
		Expect(createdChildren(ctx, since, operatorUser, ns)).To(BeEmpty())
	})
}

// unattendedSpecs: what is deleted while no operator runs.
func unattendedSpecs() {
	It("F02 is not needed for a namespace with MyApps of policy Delete to go", func(ctx SpecContext) {
		ns := newNamespace(ctx, "unattended")
		o := replica(ctx, "leaving", shortLease...)
		serves(ctx, ns, "web")
		Expect(o.Stop()).To(Succeed())
		kubectl(ctx, "delete", "namespace", ns, "--timeout=60s")
	})
}
