// Package apiserver runs the reconciler step by step against a real API server: no controller manager, no scheduler, no
// queue. A step is one pass; every request it sends is recorded.
package apiserver

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers"
	"ydzs.io/myapp-operator/controllers/desired"
	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

func TestAPIServer(t *testing.T) {
	RegisterFailHandler(Fail)
	logf.SetLogger(GinkgoLogr)
	RunSpecs(t, "Reconciler on a real API server")
}

var (
	plane *cluster.Cluster
	// admin is everybody but the operator.
	admin  client.Client
	scheme = cluster.Scheme()
)

var _ = BeforeSuite(func() {
	var err error
	// What OpenShift switches on, and what refuses owner references to those who may not write the owner's finalizers.
	plane, err = cluster.StartAPIServer(cluster.Options{AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })
	Expect(plane.InstallCertManagerCRDs(context.Background())).To(Succeed())
	Expect(plane.InstallServiceMonitorCRD(context.Background())).To(Succeed())
	admin, err = client.New(plane.Config(), client.Options{Scheme: scheme, FieldOwner: "somebody"})
	Expect(err).NotTo(HaveOccurred())
})

// children returns an empty object of each kind of child.
func children() []client.Object {
	return []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &networkingv1.Ingress{}, &certmanagerv1.Certificate{},
		&autoscalingv2.HorizontalPodAutoscaler{}, &policyv1.PodDisruptionBudget{}, &monitoringv1.ServiceMonitor{},
	}
}

// recorder is a transport that writes down every request but watches and lists of the informers.
type recorder struct {
	mu       sync.Mutex
	requests []string
	next     http.RoundTripper
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err == nil && !informers(req.URL.RawQuery) && strings.Contains(req.URL.Path, "/namespaces/") {
		_, path, _ := strings.Cut(req.URL.Path, "/namespaces/")
		parts := strings.Split(path, "/")
		what := parts[1]
		if len(parts) > 3 {
			what += "/" + parts[3]
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests = append(r.requests, strings.ToLower(req.Method)+" "+what+" "+http.StatusText(resp.StatusCode))
	}
	return resp, err
}

// informers tells a query of theirs: a watch, or a list, which they begin with where a watch cannot do it: before
// Kubernetes 1.34 by default.
func informers(query string) bool {
	return strings.Contains(query, "watch=") || strings.HasPrefix(query, "labelSelector=") ||
		strings.Contains(query, "resourceVersion=0")
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.requests
	r.requests = nil
	return taken
}

// operator is one reconciler with its cache and its clock, for one namespace.
type operator struct {
	ctx       context.Context
	namespace string
	r         *controllers.Reconciler
	cached    client.Client
	requests  *recorder
	events    *events.FakeRecorder
	now       time.Time
}

// newOperator starts a reconciler for a new namespace. A second one for the same namespace is the operator after a restart.
func newOperator(ctx context.Context) *operator {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	ExpectWithOffset(1, admin.Create(ctx, ns)).To(Succeed())
	return startOperator(ctx, ns.Name, plane.Config())
}

func startOperator(ctx context.Context, namespace string, config *rest.Config) *operator {
	o := &operator{ctx: ctx, namespace: namespace, requests: &recorder{}, now: time.Now(), events: events.NewFakeRecorder(100)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { o.requests.next = next; return o.requests })
	options := controllers.CacheOptions()
	options.Scheme = scheme
	options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	objects, err := cache.New(config, options)
	ExpectWithOffset(2, err).NotTo(HaveOccurred())
	for _, object := range append(children(), &v1beta1.MyApp{}, &corev1.Pod{}) {
		_, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		ExpectWithOffset(2, err).NotTo(HaveOccurred())
	}
	ExpectWithOffset(2, controllers.IndexPods(ctx, objects)).To(Succeed())
	running, stop := context.WithCancel(context.Background())
	go func() { _ = objects.Start(running) }()
	DeferCleanup(stop)
	ExpectWithOffset(2, objects.WaitForCacheSync(ctx)).To(BeTrue())
	live, err := client.New(config, client.Options{Scheme: scheme})
	ExpectWithOffset(2, err).NotTo(HaveOccurred())
	o.cached, err = client.New(config, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: objects}})
	ExpectWithOffset(2, err).NotTo(HaveOccurred())
	o.r = &controllers.Reconciler{
		Client: o.cached, APIReader: live, Recorder: o.events, Cache: objects, Clock: func() time.Time { return o.now },
		Options: desired.Options{
			ServiceAnnotationPrefixes: []string{wrappers.ServiceAnnotationPrefix},
			IngressAnnotationPrefixes: v1beta1.DefaultIngressAnnotationPrefixes,
			RestartOnSecretChange:     true,
		},
	}
	ExpectWithOffset(2, o.r.FindOptionalKinds(ctx)).To(Succeed())
	for _, kind := range []string{"Certificate", "ServiceMonitor"} {
		EventuallyWithOffset(2, o.r.Watches).WithArguments(kind).WithTimeout(10 * time.Second).Should(BeTrue())
	}
	return o
}

// step runs passes until one does not merely wait for the cache, and returns what it asked for next.
func (o *operator) step(app *v1beta1.MyApp) (reconcile.Result, error) {
	GinkgoHelper()
	o.settle(app)
	// The cache shows all of our writes by now; this tells the reconciler that it need not wait for them.
	o.now = o.now.Add(10 * time.Second)
	return o.r.Reconcile(o.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(app)})
}

// settle waits until the cache shows what the API server has.
func (o *operator) settle(app *v1beta1.MyApp) {
	GinkgoHelper()
	for _, object := range append(children(), &v1beta1.MyApp{}) {
		Eventually(func(g Gomega) {
			cached := object.DeepCopyObject().(client.Object)
			key := client.ObjectKeyFromObject(app)
			live := admin.Get(o.ctx, key, object)
			seen := o.cached.Get(o.ctx, key, cached)
			managed := object.GetLabels()[v1beta1.LabelManagedBy] == v1beta1.OperatorName
			if _, own := object.(*v1beta1.MyApp); apierrors.IsNotFound(live) || (!own && !managed) {
				g.Expect(apierrors.IsNotFound(seen)).To(BeTrue())
				return
			}
			g.Expect(seen).NotTo(HaveOccurred())
			g.Expect(cached.GetResourceVersion()).To(Equal(object.GetResourceVersion()))
		}).WithTimeout(10 * time.Second).WithPolling(5 * time.Millisecond).Should(Succeed())
	}
}

// run makes passes until two in a row have sent nothing, as the queue would, and returns all requests. Two, because the
// pass after a change may leave the report to the next one.
func (o *operator) run(app *v1beta1.MyApp) []string {
	GinkgoHelper()
	var all []string
	for quiet := 0; quiet < 2; {
		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		requests := o.requests.take()
		all = append(all, requests...)
		if quiet++; len(requests) > 0 {
			quiet = 0
		}
		Expect(len(all)).To(BeNumerically("<", 20), "the reconciler does not come to rest; it sent: "+strings.Join(all, ", "))
	}
	return all
}

// writes leaves out the reads.
func writes(requests []string) []string {
	return slices.DeleteFunc(slices.Clone(requests), func(r string) bool { return strings.HasPrefix(r, "get ") })
}

// condition is a condition without its times and words.
type condition struct {
	Status metav1.ConditionStatus
	Reason string
}

func (o *operator) condition(app *v1beta1.MyApp, conditionType string) condition {
	GinkgoHelper()
	c := o.fullCondition(app, conditionType)
	return condition{c.Status, c.Reason}
}

func (o *operator) fullCondition(app *v1beta1.MyApp, conditionType string) metav1.Condition {
	GinkgoHelper()
	live := &v1beta1.MyApp{}
	Expect(admin.Get(o.ctx, client.ObjectKeyFromObject(app), live)).To(Succeed())
	c := meta.FindStatusCondition(live.Status.Conditions, conditionType)
	Expect(c).NotTo(BeNil(), "condition %s is missing", conditionType)
	return *c
}

// get reads a child, or the MyApp, from the API server.
func get[T any, P interface {
	*T
	client.Object
}](ctx context.Context, app *v1beta1.MyApp) P {
	GinkgoHelper()
	object := P(new(T))
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(app), object)).To(Succeed())
	return object
}

func missing(ctx context.Context, app *v1beta1.MyApp, object client.Object) bool {
	GinkgoHelper()
	err := admin.Get(ctx, client.ObjectKeyFromObject(app), object)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err != nil
}

// edit changes an object as its users do.
func edit[P client.Object](ctx context.Context, object P, change func(P)) {
	GinkgoHelper()
	Eventually(func() error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return admin.Update(ctx, object)
	}).WithTimeout(5 * time.Second).Should(Succeed())
}
