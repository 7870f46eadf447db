package apiserver

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/test/wrappers"
)

// create stores a MyApp.
func (o *operator) create(app *v1beta1.MyApp) *v1beta1.MyApp {
	GinkgoHelper()
	Expect(admin.Create(o.ctx, app)).To(Succeed())
	return app
}

func (o *operator) smallest() *v1beta1.MyApp {
	return wrappers.MakeMyApp("shop", o.namespace).Image("nginx:1.27").Obj()
}

func (o *operator) web() *v1beta1.MyApp {
	return wrappers.MakeMyApp("shop", o.namespace).Image("nginx:1.27").Size(2).Port(80).Obj()
}

var _ = Describe("Children", func() {
	It("C01 are sent what the server drops once more, and then no more", func(ctx context.Context) {
		if !wrappers.OldServer() {
			Skip("the newest server drops nothing that a MyApp can ask for")
		}
		o := newOperator(ctx)
		app := o.web()
		app.Spec.Scheduling = wrappers.Fullest("shop", o.namespace).Obj().Spec.Scheduling
		app = o.create(app)
		o.run(app)
		for range 10 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(o.requests.take()).To(BeEmpty())
	})

	DescribeTable("C01 are made once and then left alone", func(ctx context.Context, build func(*operator) *v1beta1.MyApp, creation []string) {
		o := newOperator(ctx)
		app := o.create(build(o))

		_, err := o.step(app)
		Expect(err).NotTo(HaveOccurred())
		Expect(o.requests.take()).To(Equal(creation), "a creation takes one write for each child, and a read of each object whose data restarts the pods")

		Expect(o.run(app)).To(Equal([]string{"patch myapps/status OK"}))
		for range 10 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(o.requests.take()).To(BeEmpty(), "a pass with nothing to do sends a request")

		restarted := startOperator(ctx, o.namespace, plane.Config())
		Expect(restarted.run(app)).To(BeEmpty(), "a restart of the operator sends a request")
	},
		Entry("the smallest MyApp", (*operator).smallest, []string{"patch deployments Created"}),
		Entry("one with a port", (*operator).web, []string{"patch deployments Created", "patch services Created", "patch poddisruptionbudgets Created"}),
		Entry("the fullest MyApp", func(o *operator) *v1beta1.MyApp { return wrappers.FullestHere("shop", o.namespace).Obj() },
			[]string{
				// The data that restarts the pods.
				"get configmaps Not Found", "get secrets Not Found",
				"patch deployments Created", "patch services Created", "patch ingresses Created", "patch certificates Created",
				"patch horizontalpodautoscalers Created", "patch poddisruptionbudgets Created", "patch servicemonitors Created",
			}),
		Entry("empty blocks", func(o *operator) *v1beta1.MyApp {
			app := o.web()
			app.Spec.Service = &v1beta1.ServiceSpec{}
			app.Spec.Probes = &v1beta1.Probes{}
			app.Spec.PodSecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{}}
			app.Spec.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{}}
			app.Spec.Envs = []corev1.EnvVar{{Name: "EMPTY"}}
			app.Spec.PodDisruptionBudget = &v1beta1.PodDisruptionBudgetSpec{}
			app.Spec.Scheduling = &v1beta1.SchedulingSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}}
			app.Spec.Rollout = &v1beta1.RolloutSpec{}
			app.Spec.Metrics = &v1beta1.MetricsSpec{}
			app.Spec.Autoscaling = &v1beta1.AutoscalingSpec{MaxReplicas: 3, Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{
				ScaleUp: &autoscalingv2.HPAScalingRules{},
			}}
			return app
		}, []string{
			"patch deployments Created", "patch services Created", "patch horizontalpodautoscalers Created", "patch servicemonitors Created",
		}),
		Entry("Q01 quantities in any spelling", func(o *operator) *v1beta1.MyApp {
			app := o.smallest()
			app.Spec.Resources = corev1.ResourceRequirements{
				Limits:   corev1.ResourceList{"memory": resource.MustParse("2048Mi"), "cpu": resource.MustParse("1000m")},
				Requests: corev1.ResourceList{"memory": resource.MustParse("1.5Gi"), "cpu": resource.MustParse("0.5")},
			}
			return app
		}, []string{"patch deployments Created"}),
	)

	It("Q01 takes another spelling of a quantity for no change", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.smallest()
		app.Spec.Resources.Requests = corev1.ResourceList{"memory": resource.MustParse("2048Mi")}
		o.create(app)
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Resources.Requests["memory"] = resource.MustParse("2Gi") })
		Expect(o.run(app)).To(Or(BeEmpty(), Equal([]string{"patch myapps/status OK"})))
		Expect(get[appsv1.Deployment](ctx, app).Generation).To(Equal(int64(1)), "the Deployment was changed")
	})

	It("puts a changed field back once and leaves what is not its own", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)

		edit(ctx, get[appsv1.Deployment](ctx, app), func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "nginx:other"
			d.Annotations = map[string]string{"example.com/note": "kept"}
		})
		Expect(o.run(app)).To(Equal([]string{"patch deployments OK"}))
		d := get[appsv1.Deployment](ctx, app)
		Expect(d.Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.27"))
		Expect(d.Annotations).To(HaveKeyWithValue("example.com/note", "kept"))

		By("S06 a foreign annotation on the Service causes no write")
		edit(ctx, get[corev1.Service](ctx, app), func(s *corev1.Service) {
			s.Annotations = map[string]string{"lb.example.com/id": "abc"}
		})
		Expect(o.run(app)).To(BeEmpty())
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports[0].AppProtocol = ptr("http") })
		o.run(app)
		Expect(get[corev1.Service](ctx, app).Annotations).To(HaveKeyWithValue("lb.example.com/id", "abc"))
	})

	It("makes a Service that somebody deleted again, after one look at the MyApp", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		Expect(admin.Delete(ctx, get[corev1.Service](ctx, app))).To(Succeed())
		requests := o.run(app)
		Expect(requests[:2]).To(Equal([]string{"get myapps OK", "patch services Created"}))
		Expect(len(requests)).To(BeNumerically("<=", 4))
		Expect(get[corev1.Service](ctx, app).OwnerReferences).To(HaveLen(1))
	})

	It("repairs a Service whose managed-by label was stripped, which takes it out of sight", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		before := get[corev1.Service](ctx, app)
		edit(ctx, before.DeepCopy(), func(s *corev1.Service) { delete(s.Labels, v1beta1.LabelManagedBy) })
		Expect(writes(o.run(app))).To(ConsistOf("patch services Conflict", "patch services OK"))
		after := get[corev1.Service](ctx, app)
		Expect(after.UID).To(Equal(before.UID), "the Service was made anew")
		Expect(after.Labels).To(HaveKeyWithValue(v1beta1.LabelManagedBy, v1beta1.OperatorName))
	})

	It("removes the Service when the last port goes, and brings it back", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports = nil })
		o.run(app)
		Expect(missing(ctx, app, &corev1.Service{})).To(BeTrue())
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports = []corev1.ServicePort{{Port: 81}} })
		o.run(app)
		Expect(get[corev1.Service](ctx, app).Spec.Ports[0].Port).To(Equal(int32(81)))
	})

	It("changes no child while paused, and reports", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.web())
		o.run(app)
		ready := o.condition(app, v1beta1.ConditionReady)
		edit(ctx, app, func(a *v1beta1.MyApp) {
			a.Annotations = map[string]string{v1beta1.AnnotationPaused: "true"}
			a.Spec.Image = "nginx:1.28"
		})
		Expect(o.run(app)).To(Equal([]string{"patch myapps/status OK"}))
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.27"))
		Expect(o.condition(app, v1beta1.ConditionProgressing)).To(Equal(condition{metav1.ConditionFalse, v1beta1.ReasonPaused}))
		Expect(o.condition(app, v1beta1.ConditionReady)).To(Equal(ready))

		edit(ctx, app, func(a *v1beta1.MyApp) { a.Annotations = nil })
		o.run(app)
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Image).To(Equal("nginx:1.28"))
	})
})

var _ = Describe("Ports", func() {
	nodePorts := func(s *corev1.Service) map[string]int32 {
		all := map[string]int32{}
		for _, p := range s.Spec.Ports {
			all[fmt.Sprintf("%d/%s", p.Port, p.Protocol)] = p.NodePort
		}
		return all
	}

	It("P01 adds and removes a second protocol on one number", func(ctx SpecContext) {
		o := newOperator(ctx)
		udp := corev1.ServicePort{Name: "dns-udp", Port: 5353, Protocol: corev1.ProtocolUDP}
		tcp := corev1.ServicePort{Name: "dns-tcp", Port: 5353, Protocol: corev1.ProtocolTCP}
		app := o.smallest()
		app.Spec.Ports = []corev1.ServicePort{udp}
		o.create(app)
		for _, ports := range [][]corev1.ServicePort{{udp}, {tcp, udp}, {tcp}} {
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports = ports })
			o.run(app)
			Expect(get[corev1.Service](ctx, app).Spec.Ports).To(HaveLen(len(ports)))
			containers := get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers
			Expect(containers[0].Ports).To(HaveLen(len(ports)))
		}
	})

	It("P03 leads two Service ports to one target, and keeps it when one goes", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.smallest()
		app.Spec.Ports = []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}, {Name: "admin", Port: 8081, TargetPort: intstr.FromInt32(8080)},
		}
		o.create(app)
		o.run(app)
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports = a.Spec.Ports[:1] })
		o.run(app)
		Expect(get[corev1.Service](ctx, app).Spec.Ports).To(HaveLen(1))
		Expect(get[appsv1.Deployment](ctx, app).Spec.Template.Spec.Containers[0].Ports).To(
			Equal([]corev1.ContainerPort{{ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}))
	})

	It("S01 keeps an allocated node port through everything that does not pin another", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.smallest()
		app.Spec.Ports = []corev1.ServicePort{{Name: "web", Port: 80}}
		o.create(app)
		o.run(app)
		svc := get[corev1.Service](ctx, app)
		allocated, ip := nodePorts(svc)["80/TCP"], svc.Spec.ClusterIP
		Expect(allocated).NotTo(BeZero())
		keeps := func(what string, want int32, ports ...corev1.ServicePort) {
			GinkgoHelper()
			edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports = ports })
			o.run(app)
			svc := get[corev1.Service](ctx, app)
			Expect(nodePorts(svc)["80/TCP"]).To(Equal(want), what)
			Expect(svc.Spec.ClusterIP).To(Equal(ip), what)
			Expect(o.run(app)).To(BeEmpty(), what)
		}
		tls := corev1.ServicePort{Name: "tls", Port: 443}
		keeps("renamed", allocated, corev1.ServicePort{Name: "http", Port: 80})
		keeps("another in front", allocated, tls, corev1.ServicePort{Name: "http", Port: 80})
		keeps("reordered", allocated, corev1.ServicePort{Name: "http", Port: 80}, tls)
		keeps("name left to us", allocated, corev1.ServicePort{Port: 80}, tls)
		keeps("alone again", allocated, corev1.ServicePort{Port: 80})
		pinned := freeNodePort(ctx)
		keeps("pinned", pinned, corev1.ServicePort{Name: "http", Port: 80, NodePort: pinned}, tls)
		keeps("un-pinned", pinned, corev1.ServicePort{Name: "http", Port: 80}, tls)
		keeps("pinned again", pinned, corev1.ServicePort{Name: "http", Port: 80, NodePort: pinned}, tls)
		keeps("renamed and un-pinned at once", pinned, corev1.ServicePort{Name: "web", Port: 80}, tls)
	})

	It("S03, S04 switches the type in every direction", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		o.create(app)
		o.run(app)
		ip := get[corev1.Service](ctx, app).Spec.ClusterIP
		types := []corev1.ServiceType{
			"LoadBalancer", "ClusterIP", "NodePort", "LoadBalancer", "NodePort", "ClusterIP", "LoadBalancer",
		}
		for _, t := range types {
			edit(ctx, app, func(a *v1beta1.MyApp) {
				a.Spec.Service = &v1beta1.ServiceSpec{Type: t}
				if t != corev1.ServiceTypeClusterIP {
					a.Spec.Service.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
				}
			})
			o.run(app)
			svc := get[corev1.Service](ctx, app)
			Expect(svc.Spec.Type).To(Equal(t))
			Expect(svc.Spec.ClusterIP).To(Equal(ip))
			inside := t == corev1.ServiceTypeClusterIP
			Expect(svc.Spec.Ports[0].NodePort).To(WithTransform(func(p int32) bool { return p == 0 }, Equal(inside)))
			Expect(svc.Spec.ExternalTrafficPolicy).To(WithTransform(func(p corev1.ServiceExternalTrafficPolicy) bool { return p == "" }, Equal(inside)))
			Expect(o.run(app)).To(BeEmpty())
		}
	})
})

// freeNodePort finds a node port that nobody holds, by having one allocated and giving it back.
func freeNodePort(ctx context.Context) int32 {
	GinkgoHelper()
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-", Namespace: "default"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	Expect(admin.Create(ctx, svc)).To(Succeed())
	Expect(admin.Delete(ctx, svc)).To(Succeed())
	return svc.Spec.Ports[0].NodePort
}

func ptr[T any](v T) *T { return &v }
