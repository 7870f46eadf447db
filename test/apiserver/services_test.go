package apiserver

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// ports is a spec's list of ports.
func (o *operator) ports(app *v1beta1.MyApp, ports ...corev1.ServicePort) {
	GinkgoHelper()
	edit(o.ctx, app, func(a *v1beta1.MyApp) { a.Spec.Ports = ports })
	o.run(app)
}

// pairs are the ports of the live Service, in order, as "name port/protocol>target".
func (o *operator) pairs(app *v1beta1.MyApp) []string {
	GinkgoHelper()
	var all []string
	for _, p := range get[corev1.Service](o.ctx, app).Spec.Ports {
		all = append(all, fmt.Sprintf("%s %d/%s>%s", p.Name, p.Port, p.Protocol, p.TargetPort.String()))
	}
	return all
}

// containerPorts are the ports of the live Deployment's container, in order.
func (o *operator) containerPorts(app *v1beta1.MyApp) []string {
	GinkgoHelper()
	var all []string
	for _, p := range get[appsv1.Deployment](o.ctx, app).Spec.Template.Spec.Containers[0].Ports {
		all = append(all, fmt.Sprintf("%d/%s", p.ContainerPort, p.Protocol))
	}
	return all
}

var _ = Describe("The live Service", func() {
	It("P01 has exactly the pairs of the spec at every step, and so has the container", func(ctx SpecContext) {
		o := newOperator(ctx)
		udp := corev1.ServicePort{Name: "dns-udp", Port: 5353, Protocol: corev1.ProtocolUDP}
		tcp := corev1.ServicePort{Name: "dns-tcp", Port: 5353, Protocol: corev1.ProtocolTCP}
		sctp := corev1.ServicePort{Name: "dns-sctp", Port: 5353, Protocol: corev1.ProtocolSCTP}
		app := o.create(o.smallest())
		type step struct {
			ports               []corev1.ServicePort
			service, containers []string
		}
		for _, s := range []step{
			{[]corev1.ServicePort{udp}, []string{"dns-udp 5353/UDP>5353"}, []string{"5353/UDP"}},
			{[]corev1.ServicePort{tcp, udp}, []string{"dns-tcp 5353/TCP>5353", "dns-udp 5353/UDP>5353"}, []string{"5353/TCP", "5353/UDP"}},
			{[]corev1.ServicePort{tcp}, []string{"dns-tcp 5353/TCP>5353"}, []string{"5353/TCP"}},
			{[]corev1.ServicePort{sctp, tcp, udp}, []string{"dns-sctp 5353/SCTP>5353", "dns-tcp 5353/TCP>5353", "dns-udp 5353/UDP>5353"}, []string{"5353/SCTP", "5353/TCP", "5353/UDP"}},
			{[]corev1.ServicePort{udp}, []string{"dns-udp 5353/UDP>5353"}, []string{"5353/UDP"}},
		} {
			o.ports(app, s.ports...)
			Expect(o.pairs(app)).To(ConsistOf(s.service))
			Expect(o.containerPorts(app)).To(ConsistOf(s.containers))
			Expect(o.run(app)).To(BeEmpty())
		}
	})

	It("P04 gets names with its second port, in any order, and stays the same for its users", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.create(o.smallest())
		first, second := corev1.ServicePort{Port: 8080}, corev1.ServicePort{Port: 9090}
		o.ports(app, first)
		Expect(o.pairs(app)).To(Equal([]string{" 8080/TCP>8080"}))
		nodePort := get[corev1.Service](ctx, app).Spec.Ports[0].NodePort

		o.ports(app, first, second)
		Expect(o.pairs(app)).To(ConsistOf("tcp-8080 8080/TCP>8080", "tcp-9090 9090/TCP>9090"))
		grown := get[corev1.Service](ctx, app)
		Expect(grown.Spec.Ports).To(ContainElement(HaveField("NodePort", nodePort)), "its first port moved")

		o.ports(app, second, first)
		Expect(get[corev1.Service](ctx, app).Spec.Ports).To(ConsistOf(grown.Spec.Ports), "reordering changed more than the order")
		Expect(o.run(app)).To(BeEmpty())

		o.ports(app, corev1.ServicePort{Name: "web", Port: 8080}, second)
		Expect(o.pairs(app)).To(ConsistOf("web 8080/TCP>8080", "tcp-9090 9090/TCP>9090"))
		Expect(o.condition(app, v1beta1.ConditionDegraded).Reason).To(Equal(v1beta1.ReasonAsExpected))
	})

	It("S01 keeps every address and number that the API server chose", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.Service = &v1beta1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
		}
		o.create(app)
		o.run(app)
		chosen := get[corev1.Service](ctx, app).Spec
		Expect(chosen.HealthCheckNodePort).NotTo(BeZero())
		Expect(chosen.IPFamilies).NotTo(BeEmpty())
		keeps := func(what string) {
			GinkgoHelper()
			Expect(o.run(app)).To(BeEmpty(), what)
			s := get[corev1.Service](ctx, app).Spec
			Expect([]any{s.ClusterIP, s.ClusterIPs, s.IPFamilies, s.IPFamilyPolicy, s.HealthCheckNodePort, s.AllocateLoadBalancerNodePorts}).To(
				Equal([]any{chosen.ClusterIP, chosen.ClusterIPs, chosen.IPFamilies, chosen.IPFamilyPolicy, chosen.HealthCheckNodePort,
					chosen.AllocateLoadBalancerNodePorts}), what)
			Expect(s.Ports).To(ContainElement(HaveField("NodePort", chosen.Ports[0].NodePort)), what)
		}
		for range 5 {
			_, err := o.step(app)
			Expect(err).NotTo(HaveOccurred())
		}
		keeps("five passes")
		o.ports(app, corev1.ServicePort{Name: "http", Port: 80})
		keeps("renamed")
		o.ports(app, corev1.ServicePort{Name: "tls", Port: 443}, corev1.ServicePort{Name: "http", Port: 80})
		keeps("another in front")
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Service.SessionAffinity = corev1.ServiceAffinityClientIP })
		o.run(app)
		keeps("another setting changed")
		Expect(startOperator(ctx, o.namespace, plane.Config()).run(app)).To(BeEmpty())
		keeps("the operator restarted")
	})

	It("S03 loses the node port, and nothing else, when the type becomes ClusterIP with the number left in the spec", func(ctx SpecContext) {
		o := newOperator(ctx)
		app := o.web()
		app.Spec.Service = &v1beta1.ServiceSpec{Type: corev1.ServiceTypeNodePort}
		app.Spec.Ports[0].NodePort = freeNodePort(ctx)
		o.create(app)
		o.run(app)
		before := get[corev1.Service](ctx, app)
		Expect(before.Spec.Ports[0].NodePort).To(Equal(app.Spec.Ports[0].NodePort))

		// Admission refuses this; here it is off.
		edit(ctx, app, func(a *v1beta1.MyApp) { a.Spec.Service.Type = corev1.ServiceTypeClusterIP })
		o.run(app)
		after := get[corev1.Service](ctx, app)
		Expect(after.Spec.Type).To(Equal(corev1.ServiceTypeClusterIP))
		Expect(after.Spec.ClusterIP).To(Equal(before.Spec.ClusterIP))
		Expect(after.Spec.Ports[0].NodePort).To(BeZero())
		Expect(o.fullCondition(app, v1beta1.ConditionDegraded).Message).To(ContainSubstring("nodePort"))
	})
})
