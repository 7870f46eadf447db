package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/cluster"
)

// What the specs look at and what they do. All of it fails the running spec by itself.

// newNamespace makes a namespace of its own for a spec.
func newNamespace(ctx context.Context, purpose string) string {
	GinkgoHelper()
	name := purpose + "-" + rand.String(5)
	Expect(plane.namespace(ctx, name)).To(Succeed())
	return name
}

func create(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, o := range objects {
		Expect(plane.admin.Create(ctx, o)).To(Succeed(), "create %s", o.GetName())
	}
}

func mergePatch(ctx context.Context, o client.Object, patch string) {
	GinkgoHelper()
	Expect(plane.admin.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := plane.Kubectl(ctx, args...)
	Expect(err).NotTo(HaveOccurred())
	return out
}

// live reads the object of this type and name; a miss fails the spec.
func live[T any, P interface {
	*T
	client.Object
}](ctx context.Context, app client.Object) P {
	GinkgoHelper()
	object := P(new(T))
	Expect(plane.admin.Get(ctx, client.ObjectKeyFromObject(app), object)).To(Succeed())
	return object
}

// exists tells whether there is an object of this type under the MyApp's name.
func exists[T any, P interface {
	*T
	client.Object
}](ctx context.Context, app client.Object) bool {
	GinkgoHelper()
	err := plane.admin.Get(ctx, client.ObjectKeyFromObject(app), P(new(T)))
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return !apierrors.IsNotFound(err)
}

// state is the condition Ready of a MyApp with its reason, "False ImagePullBackOff", once it speaks of the current spec.
func state(ctx context.Context, app client.Object) string {
	current := &v1beta1.MyApp{}
	if err := plane.admin.Get(ctx, client.ObjectKeyFromObject(app), current); err != nil {
		return err.Error()
	}
	ready := meta.FindStatusCondition(current.Status.Conditions, v1beta1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != current.Generation {
		return "not reported yet"
	}
	return fmt.Sprintf("%s %s", ready.Status, ready.Reason)
}

const rolledOut = "True " + v1beta1.ReasonRolledOut

// reaches waits until the MyApp is in a state.
func reaches(ctx context.Context, app client.Object, want string) {
	GinkgoHelper()
	Eventually(ctx, func() string { return state(ctx, app) }).Should(Equal(want), "%s/%s", app.GetNamespace(), app.GetName())
}

// message is what the condition Ready tells the user.
func message(ctx context.Context, app client.Object) string {
	GinkgoHelper()
	ready := meta.FindStatusCondition(live[v1beta1.MyApp](ctx, app).Status.Conditions, v1beta1.ConditionReady)
	Expect(ready).NotTo(BeNil())
	return ready.Message
}

func mark(ctx context.Context) cluster.Mark {
	GinkgoHelper()
	m, err := plane.Mark(ctx)
	Expect(err).NotTo(HaveOccurred())
	return m
}

// requests returns the audit log's lines of answered requests after a mark for which keep is true.
func requests(ctx context.Context, since cluster.Mark, keep func(cluster.Event) bool) []cluster.Event {
	GinkgoHelper()
	events, err := plane.AuditEvents(ctx, since, func(e cluster.Event) bool { return e.Counts() && keep(e) })
	Expect(err).NotTo(HaveOccurred())
	return events
}

// writes are the user's mutating requests in a namespace after a mark.
func writes(ctx context.Context, since cluster.Mark, user, namespace string) []cluster.Event {
	GinkgoHelper()
	return requests(ctx, since, func(e cluster.Event) bool { return e.User == user && e.Namespace == namespace && isWrite(e) })
}

// createdChildren are the children that the user made in a namespace after a mark: applies that created.
func createdChildren(ctx context.Context, since cluster.Mark, user, namespace string) []cluster.Event {
	GinkgoHelper()
	return requests(ctx, since, func(e cluster.Event) bool {
		return e.User == user && e.Namespace == namespace && isWrite(e) && e.Code == 201 && isChild(e)
	})
}

func isChild(e cluster.Event) bool {
	return slices.Contains([]string{
		"deployments", "services", "ingresses", "certificates", "horizontalpodautoscalers", "poddisruptionbudgets", "servicemonitors",
	}, e.Resource)
}

// bothChildren returns the MyApp's children.
func bothChildren(ctx context.Context, app client.Object) []client.Object {
	GinkgoHelper()
	return []client.Object{live[appsv1.Deployment](ctx, app), live[corev1.Service](ctx, app)}
}

// childrenAre waits until both children are there, or neither is.
func childrenAre(ctx context.Context, app client.Object, there bool) {
	GinkgoHelper()
	Eventually(ctx, func() []bool {
		return []bool{exists[appsv1.Deployment](ctx, app), exists[corev1.Service](ctx, app)}
	}).Should(Equal([]bool{there, there}), "Deployment and Service of %s", app.GetName())
}

// haveNoOwner expects both children to be there for good: nothing that the garbage collector would follow.
func haveNoOwner(ctx context.Context, app client.Object) {
	GinkgoHelper()
	for _, child := range bothChildren(ctx, app) {
		Expect(child.GetOwnerReferences()).To(BeEmpty())
		Expect(child.GetDeletionTimestamp()).To(BeNil())
	}
}

// waitForCollector waits until the garbage collector watches MyApps. It looks for new kinds every 30 s only, and the
// children of a MyApp that is deleted before stay for minutes.
func waitForCollector(ctx context.Context) {
	GinkgoHelper()
	Eventually(ctx, func() []cluster.Event {
		return requests(ctx, cluster.Mark{}, func(e cluster.Event) bool {
			return e.Target() == "watch myapps" && strings.HasPrefix(e.UserAgent, "kube-controller-manager/")
		})
	}, "60s", "1s").ShouldNot(BeEmpty(), "the garbage collector does not watch MyApps")
}

func named(name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace}
}

func firstLine(s string) string { return strings.SplitN(s, "\n", 2)[0] }
