package apiserver

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// lag is how many writes the reads of a laggard are behind.
const lag = 3

// laggard is the operator's client with reads that are behind: they show how things were before the last writes, whoever
// made them. A pass that writes nothing takes time, in which one more of them comes to light.
type laggard struct {
	client.Client
	o   *operator
	app client.ObjectKey
	// past holds the MyApp and its children, by kind, after each write.
	past   []map[string]client.Object
	hidden int
}

// wrote is called after every write of anybody.
func (l *laggard) wrote() {
	GinkgoHelper()
	l.o.settle(&v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{Namespace: l.app.Namespace, Name: l.app.Name}})
	state := map[string]client.Object{}
	for _, object := range append(children(), &v1beta1.MyApp{}) {
		err := l.o.cached.Get(l.o.ctx, l.app, object)
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		if err == nil {
			state[reflect.TypeOf(object).String()] = object
		}
	}
	l.past = append(l.past, state)
	l.hidden = min(l.hidden+1, lag)
}

func (l *laggard) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if seen := len(l.past) - 1 - l.hidden; key == l.app && seen >= 0 {
		if found := l.past[seen][reflect.TypeOf(object).String()]; found != nil {
			reflect.ValueOf(object).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: reflect.TypeOf(object).String()}, key.Name)
}

func (l *laggard) Apply(ctx context.Context, c runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	defer l.wrote()
	return l.Client.Apply(ctx, c, opts...)
}

func (l *laggard) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
	defer l.wrote()
	return l.Client.Patch(ctx, object, patch, opts...)
}

func (l *laggard) Delete(ctx context.Context, object client.Object, opts ...client.DeleteOption) error {
	defer l.wrote()
	return l.Client.Delete(ctx, object, opts...)
}

func (l *laggard) Status() client.SubResourceWriter { return lateStatus{l.Client.Status(), l} }

type lateStatus struct {
	client.SubResourceWriter
	l *laggard
}

func (s lateStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	defer s.l.wrote()
	return s.SubResourceWriter.Patch(ctx, object, patch, opts...)
}

// run makes passes, each this long after the last, until everything has come to light and nothing is left to do. It returns
// all requests.
func (l *laggard) run(pace time.Duration) []string {
	GinkgoHelper()
	var all []string
	for quiet := 0; quiet < 3; {
		l.o.now = l.o.now.Add(pace)
		_, err := l.o.r.Reconcile(l.o.ctx, reconcile.Request{NamespacedName: l.app})
		Expect(err).NotTo(HaveOccurred(), "a stale view is an error: it is logged, and slows the queue down")
		requests := l.o.requests.take()
		all = append(all, requests...)
		if quiet++; len(writes(requests)) > 0 || l.hidden > 0 {
			quiet = 0
		}
		if len(writes(requests)) == 0 {
			l.hidden = max(l.hidden-1, 0)
		}
		Expect(len(all)).To(BeNumerically("<", 60), "it does not come to rest; it sent: "+strings.Join(all, ", "))
	}
	return all
}

// history is what a value was after each write, repetitions and absences apart.
func history[T comparable](l *laggard, kind client.Object, value func(client.Object) (T, bool)) []T {
	var all []T
	for _, state := range l.past {
		if object := state[reflect.TypeOf(kind).String()]; object != nil {
			if v, ok := value(object); ok {
				all = append(all, v)
			}
		}
	}
	return slices.Compact(all)
}

func count(requests []string, what string) int {
	return len(slices.DeleteFunc(slices.Clone(requests), func(r string) bool { return r != what }))
}

var _ = Describe("Reads that are three writes behind", func() {
	DescribeTable("C05 lead to nothing twice, nothing old and no error", func(ctx SpecContext, pace time.Duration) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.Size = ptr[int32](2)
		l := &laggard{Client: o.cached, o: o, app: client.ObjectKeyFromObject(app)}
		o.r.Client = readsPods{l, o.cached}
		l.wrote()

		created := []string{"patch deployments Created", "patch services Created", "patch poddisruptionbudgets Created"}

		By("a creation")
		o.create(app)
		l.wrote()
		requests := l.run(pace)
		for _, made := range created {
			Expect(count(requests, made)).To(Equal(1), strings.Join(requests, ", "))
		}

		By("a change of size")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Size = ptr[int32](4) })
		l.wrote()
		Expect(l.run(pace)).NotTo(ContainElement(HaveSuffix("Created")))
		replicas := func(d client.Object) (int32, bool) { return *d.(*appsv1.Deployment).Spec.Replicas, true }
		Expect(history(l, &appsv1.Deployment{}, replicas)).To(Equal([]int32{2, 4}), "an old size came back")
		observed := func(a client.Object) (int64, bool) {
			return a.(*v1beta1.MyApp).Status.ObservedGeneration, a.GetUID() == app.UID
		}
		Expect(slices.IsSorted(history(l, &v1beta1.MyApp{}, observed))).To(BeTrue(), "an old status overwrote a newer one")

		By("another MyApp of the same name")
		Expect(admin.Delete(ctx, app)).To(Succeed())
		l.wrote()
		again := o.web()
		again.Spec.Size = ptr[int32](3)
		o.create(again)
		l.wrote()
		l.run(pace)
		Expect(*get[appsv1.Deployment](ctx, app).Spec.Replicas).To(Equal(int32(4)), "it writes what belongs to the former one")
		Expect(o.condition(again, v1beta1.ConditionDegraded)).To(Equal(foreign))

		By("the garbage collector")
		for _, child := range []client.Object{
			get[appsv1.Deployment](ctx, app), get[corev1.Service](ctx, app), get[policyv1.PodDisruptionBudget](ctx, app),
		} {
			Expect(admin.Delete(ctx, child)).To(Succeed())
			l.wrote()
			o.now = o.now.Add(5 * time.Minute)
		}
		requests = l.run(pace)
		for _, made := range created {
			Expect(count(requests, made)).To(Equal(1), strings.Join(requests, ", "))
		}
		Expect(metav1.GetControllerOf(get[appsv1.Deployment](ctx, again)).UID).To(Equal(again.UID))
		Expect(*get[appsv1.Deployment](ctx, again).Spec.Replicas).To(Equal(int32(3)))
		Expect(o.condition(again, v1beta1.ConditionDegraded)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonAsExpected}))
		Expect(get[v1beta1.MyApp](ctx, again).Status.ObservedGeneration).To(Equal(get[v1beta1.MyApp](ctx, again).Generation))
	},
		Entry("within the time that the reconciler waits for its own writes", 100*time.Millisecond),
		Entry("beyond it", 10*time.Second),
	)
})

// readsPods reads pods, of which there are none here, from the cache.
type readsPods struct {
	*laggard
	cached client.Client
}

func (c readsPods) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.cached.List(ctx, list, opts...)
}
