package desired

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// portsOf shows a Service port as name port/protocol>targetPort@nodePort, container ports as port/protocol.
func portsOf(app *v1beta1.MyApp, live *corev1.Service) (service, container []string) {
	for _, p := range Service(Input{App: app}, live).Spec.Ports {
		s := fmt.Sprintf("%s %d/%s>%s", ptrDeref(p.Name), *p.Port, *p.Protocol, p.TargetPort)
		if p.NodePort != nil {
			s += fmt.Sprintf("@%d", *p.NodePort)
		}
		service = append(service, s)
	}
	for _, p := range containerOf(app).Ports {
		container = append(container, fmt.Sprintf("%d/%s", *p.ContainerPort, *p.Protocol))
	}
	return service, container
}

func TestPorts(t *testing.T) {
	cases := []struct {
		name, spec         string
		service, container []string
	}{
		{"P01 one protocol", "ports: [{name: dns-udp, port: 5353, protocol: UDP}]",
			[]string{"dns-udp 5353/UDP>5353"}, []string{"5353/UDP"}},
		{"P01 the second protocol on a port", "ports: [{name: dns-tcp, port: 5353, protocol: TCP}, {name: dns-udp, port: 5353, protocol: UDP}]",
			[]string{"dns-tcp 5353/TCP>5353", "dns-udp 5353/UDP>5353"}, []string{"5353/TCP", "5353/UDP"}},
		{"P03 two ports to one target", "ports: [{name: http, port: 80, targetPort: 8080}, {name: admin, port: 8081, targetPort: 8080}]",
			[]string{"http 80/TCP>8080", "admin 8081/TCP>8080"}, []string{"8080/TCP"}},
		{"P03 one of them gone", "ports: [{name: http, port: 80, targetPort: 8080}]",
			[]string{"http 80/TCP>8080"}, []string{"8080/TCP"}},
		{"P03 TCP and UDP stay two", "ports: [{name: a, port: 80, targetPort: 8080}, {name: b, port: 80, targetPort: 8080, protocol: UDP}]",
			[]string{"a 80/TCP>8080", "b 80/UDP>8080"}, []string{"8080/TCP", "8080/UDP"}},
		{"P04 one unnamed", "ports: [{port: 8080}]", []string{" 8080/TCP>8080"}, []string{"8080/TCP"}},
		{"P04 two unnamed", "ports: [{port: 8080}, {port: 9090}]",
			[]string{"tcp-8080 8080/TCP>8080", "tcp-9090 9090/TCP>9090"}, []string{"8080/TCP", "9090/TCP"}},
		{"P04 one named, one unnamed", "ports: [{name: web, port: 8080}, {port: 9090}]",
			[]string{"web 8080/TCP>8080", "tcp-9090 9090/TCP>9090"}, []string{"8080/TCP", "9090/TCP"}},
		{"pinned", "ports: [{port: 80, nodePort: 30002}]", []string{" 80/TCP>80@30002"}, []string{"80/TCP"}},
		{"pinned, load balancer", "{ports: [{port: 80, nodePort: 30002}], service: {type: LoadBalancer}}",
			[]string{" 80/TCP>80@30002"}, []string{"80/TCP"}},
		{"S03 pinned, ClusterIP", "{ports: [{port: 80, nodePort: 30002}], service: {type: ClusterIP}}",
			[]string{" 80/TCP>80"}, []string{"80/TCP"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			service, container := portsOf(myApp(t, c.spec), nil)
			if diff := cmp.Diff(c.service, service); diff != "" {
				t.Errorf("ports of the Service (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.container, container); diff != "" {
				t.Errorf("ports of the container (-want +got):\n%s", diff)
			}
		})
	}
}

func TestP04NamesDoNotDependOnOrder(t *testing.T) {
	names := func(spec string) map[string]string {
		all := map[string]string{}
		for _, p := range service(myApp(t, spec)).Spec.Ports {
			all[fmt.Sprintf("%d/%s", *p.Port, *p.Protocol)] = *p.Name
		}
		return all
	}
	want := names("ports: [{port: 8080}, {name: web, port: 80}, {port: 53, protocol: UDP}]")
	for _, spec := range []string{
		"ports: [{port: 53, protocol: UDP}, {name: web, port: 80}, {port: 8080}]",
		"ports: [{name: web, port: 80}, {port: 8080, protocol: TCP}, {port: 53, protocol: UDP}]",
	} {
		if diff := cmp.Diff(want, names(spec)); diff != "" {
			t.Errorf("reordering renames ports of the Service (-want +got):\n%s", diff)
		}
	}
}

// S01: what the operator asks for at each step, with the Service as the API server left it after the one before.
func TestS01NodePortRequests(t *testing.T) {
	const live = "[{name: web, port: 80, protocol: TCP, nodePort: 30080}, {name: dns, port: 53, protocol: UDP, nodePort: 30053}]"
	// What we own of the live Service when both node ports were pinned before; otherwise the API server chose them.
	const pins = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:nodePort":{}},` +
		`"k:{\"port\":53,\"protocol\":\"UDP\"}":{".":{},"f:port":{},"f:nodePort":{}}}}}`
	cases := []struct {
		name, owned, spec string
		want              []string
	}{
		{"allocated ones are not asked for", "", "ports: [{name: web, port: 80}, {name: dns, port: 53, protocol: UDP}]",
			[]string{"web 80/TCP>80", "dns 53/UDP>53"}},
		{"not even of a renamed port", "", "ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]",
			[]string{"http 80/TCP>80", "dns 53/UDP>53"}},
		{"one that was pinned is kept by its name", pins, "ports: [{name: web, port: 80}, {name: dns, port: 53, protocol: UDP}]",
			[]string{"web 80/TCP>80", "dns 53/UDP>53"}},
		{"a rename keeps one that was pinned", pins, "ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]",
			[]string{"http 80/TCP>80@30080", "dns 53/UDP>53"}},
		{"two swap their names", pins, "ports: [{name: dns, port: 80}, {name: web, port: 53, protocol: UDP}]",
			[]string{"dns 80/TCP>80@30080", "web 53/UDP>53@30053"}},
		{"an insertion in front moves nothing", pins, "ports: [{name: tls, port: 443}, {name: web, port: 80}]",
			[]string{"tls 443/TCP>443", "web 80/TCP>80"}},
		{"the names of several come up", pins, "ports: [{port: 80}, {port: 53, protocol: UDP}]",
			[]string{"tcp-80 80/TCP>80@30080", "udp-53 53/UDP>53@30053"}},
		{"another protocol is another port", pins, "ports: [{name: other, port: 53}]", []string{"other 53/TCP>53"}},
		{"a pin wins", pins, "ports: [{name: http, port: 80, nodePort: 30081}]", []string{"http 80/TCP>80@30081"}},
		{"ClusterIP has none", pins, "{ports: [{name: http, port: 80}], service: {type: ClusterIP}}", []string{"http 80/TCP>80"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			svc := &corev1.Service{}
			if err := yaml.Unmarshal([]byte(live), &svc.Spec.Ports); err != nil {
				t.Fatal(err)
			}
			svc.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager: v1beta1.OperatorName, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1",
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(c.owned),
			}}
			got, _ := portsOf(myApp(t, c.spec), svc)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("a client of the old node port would lose it (-want +got):\n%s", diff)
			}
		})
	}
}

func TestS01NodePortOfClusterIPIsNone(t *testing.T) {
	live := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}}}}
	got, _ := portsOf(myApp(t, "ports: [{name: http, port: 80}]"), live)
	if diff := cmp.Diff([]string{"http 80/TCP>80"}, got); diff != "" {
		t.Errorf("node port 0 is asked for (-want +got):\n%s", diff)
	}
}

// S03, S04: every type switch renders only what the new type may carry.
func TestS04SettingsFitTheType(t *testing.T) {
	const all = "externalTrafficPolicy: Local, internalTrafficPolicy: Local, loadBalancerClass: example.com/lb, sessionAffinity: ClientIP"
	cases := []struct {
		serviceType string
		want        [4]string
	}{
		{"ClusterIP", [4]string{"", "Local", "", "ClientIP"}},
		{"NodePort", [4]string{"Local", "Local", "", "ClientIP"}},
		{"LoadBalancer", [4]string{"Local", "Local", "example.com/lb", "ClientIP"}},
	}
	for _, c := range cases {
		t.Run(c.serviceType, func(t *testing.T) {
			s := service(myApp(t, "{ports: [{port: 80}], service: {type: "+c.serviceType+", "+all+"}}")).Spec
			var got [4]string
			if s.ExternalTrafficPolicy != nil {
				got[0] = string(*s.ExternalTrafficPolicy)
			}
			got[1], got[2], got[3] = string(*s.InternalTrafficPolicy), ptrDeref(s.LoadBalancerClass), string(*s.SessionAffinity)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the API server refuses settings of another type (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoPortsNoService(t *testing.T) {
	if svc := service(myApp(t, "service: {type: ClusterIP}")); svc != nil {
		t.Errorf("a MyApp without ports gets a Service: %s", yamlOf(t, svc))
	}
}

func TestS07SelectorsHoldTheIdentity(t *testing.T) {
	app := myApp(t, `{podLabels: {app: shop-canary, app.kubernetes.io/name: other}, ports: [{port: 80}]}`)
	want := map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/managed-by": "myapp-operator"}
	if diff := cmp.Diff(want, service(app).Spec.Selector); diff != "" {
		t.Errorf("the Service selects other pods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, deployment(app).Spec.Selector.MatchLabels); diff != "" {
		t.Errorf("the Deployment selects other pods (-want +got):\n%s", diff)
	}
	want["app"], want["app.kubernetes.io/instance"] = "shop-canary", "shop"
	if diff := cmp.Diff(want, deployment(app).Spec.Template.Labels); diff != "" {
		t.Errorf("labels of the pods (-want +got):\n%s", diff)
	}
}
