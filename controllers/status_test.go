package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"ydzs.io/myapp-operator/api/v1beta1"
)

func TestT01NothingChangesWhenComputedTwice(t *testing.T) {
	for _, r := range truthTable() {
		t.Run(r.state, func(t *testing.T) {
			app := myApp(t, r.spec, r.app...)
			f := r.finding(app)
			before := app.DeepCopy()
			app.Status, _ = nextStatus(app, f)
			if !equality.Semantic.DeepEqual(before.Spec, app.Spec) || !equality.Semantic.DeepEqual(before.ObjectMeta, app.ObjectMeta) {
				t.Error("computing the status changes the MyApp")
			}
			for _, later := range []time.Duration{0, 3 * time.Second, time.Hour} {
				f.now = now.Add(later)
				next, _ := nextStatus(app, f)
				if diff := cmp.Diff(app.Status, next); diff != "" {
					t.Errorf("after %s the status is written although nothing changed (-before +after):\n%s", later, diff)
				}
			}
		})
	}
}

func TestT01TransitionTimeMovesOnAFlipOnly(t *testing.T) {
	app := myApp(t, "size: 3")
	steps := []struct {
		name   string
		counts counts
		reason string
		pods   []corev1.Pod
		moved  map[string]bool
	}{
		{"rolling out", counts{3, 3, 3, 0, 0}, updating, nil, map[string]bool{"Ready": true, "Available": true, "Progressing": true, "Degraded": true}},
		{"enough pods up", counts{3, 3, 3, 2, 2}, updating, nil, map[string]bool{"Available": true}},
		{"a pod cannot start: Ready has another reason, not another status", counts{3, 3, 3, 2, 2}, updating, []corev1.Pod{unpullablePod("a")}, map[string]bool{"Degraded": true}},
		{"rolled out", counts{3, 3, 3, 3, 3}, finished, nil, map[string]bool{"Ready": true, "Progressing": true, "Degraded": true}},
		{"a pod lost: Ready has another reason, not another status", counts{3, 3, 3, 2, 2}, finished, nil, map[string]bool{"Progressing": true}},
	}
	for i, s := range steps {
		at := now.Add(time.Duration(i) * time.Minute)
		next, _ := nextStatus(app, finding{now: at, observed: seen(s.pods, deployment(app, s.counts, s.reason))})
		for _, c := range next.Conditions {
			if moved := c.LastTransitionTime.Time.Equal(at); moved != s.moved[c.Type] {
				t.Errorf("%s: the transition time of %s moved: %v, want %v", s.name, c.Type, moved, s.moved[c.Type])
			}
		}
		app.Status = next
	}
}

func TestMessagesHoldNothingThatVaries(t *testing.T) {
	for _, r := range truthTable() {
		app := myApp(t, r.spec, r.app...)
		next, _ := nextStatus(app, r.finding(app))
		for _, c := range next.Conditions {
			for _, p := range r.pods {
				if strings.Contains(c.Message, fmt.Sprintf("%q", p.Name)) {
					t.Errorf("%s: %s names a pod: %s", r.state, c.Type, c.Message)
				}
			}
			if strings.ContainsAny(strings.ReplaceAll(c.Message, "web:1", ""), "23456789") && !strings.Contains(c.Message, "size is 0") {
				t.Errorf("%s: %s holds a number: %s", r.state, c.Type, c.Message)
			}
		}
	}
}

func TestCounters(t *testing.T) {
	app := myApp(t, "size: 3")
	looping := pod("l", corev1.ContainerStatus{Ready: true, RestartCount: 5, State: runningFor(time.Second), LastTerminationState: ended(1, "", 5*time.Second)})
	cases := []struct {
		name   string
		counts *counts
		pods   []corev1.Pod
		want   v1beta1.MyAppStatus
	}{
		{"no Deployment", nil, nil, v1beta1.MyAppStatus{}},
		{"as the Deployment counts", &counts{3, 4, 1, 3, 2}, nil,
			v1beta1.MyAppStatus{Replicas: 4, UpdatedReplicas: 1, ReadyReplicas: 3, AvailableReplicas: 2, UnavailableReplicas: 1}},
		{"a pod between two crashes is not counted", &counts{3, 3, 3, 3, 3}, []corev1.Pod{looping, healthyPod("a"), healthyPod("b")},
			v1beta1.MyAppStatus{Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 2, AvailableReplicas: 2, UnavailableReplicas: 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := seen(c.pods)
			if c.counts != nil {
				o = seen(c.pods, deployment(app, *c.counts, finished))
			}
			got, _ := nextStatus(app, finding{now: now, observed: o})
			c.want.ObservedGeneration, c.want.Selector = 3, "app.kubernetes.io/managed-by=myapp-operator,app.kubernetes.io/name=shop"
			got.Conditions, got.Nodes = nil, nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("`kubectl get myapp -o yaml` shows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrangersDoNotCount(t *testing.T) {
	app := myApp(t, "size: 3")
	d := deployment(app, counts{3, 3, 3, 3, 3}, finished)
	d.OwnerReferences[0].UID = "somebody-else"
	svc := service(t, app, "spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}")
	svc.OwnerReferences[0].UID = "somebody-else"
	got, _ := nextStatus(app, finding{now: now, observed: seen(nil, d, svc)})
	if got.Replicas != 0 || got.Endpoints != nil {
		t.Errorf("the status counts objects of somebody else: %+v", got)
	}
}

func TestNodesAreSortedAndBounded(t *testing.T) {
	var pods []corev1.Pod
	for i := range 150 {
		pods = append(pods, healthyPod(fmt.Sprintf("pod-%03d", 149-i)))
	}
	app := myApp(t, "size: 150")
	got, _ := nextStatus(app, finding{now: now, observed: seen(pods)})
	if len(got.Nodes) != 100 || got.Nodes[0] != "pod-000" || got.Nodes[99] != "pod-099" {
		t.Errorf("status.nodes has %d names, from %s to %s", len(got.Nodes), got.Nodes[0], got.Nodes[len(got.Nodes)-1])
	}
}

func TestEndpoints(t *testing.T) {
	cases := []struct {
		name, service string
		want          []string
	}{
		{"node port", "spec: {clusterIP: 10.0.0.1, ports: [{port: 80, nodePort: 30002}]}", []string{"NodePort :30002", "ClusterIP 10.0.0.1:80"}},
		{"cluster IP", "spec: {clusterIP: 10.0.0.1, ports: [{port: 80}, {port: 443}]}", []string{"ClusterIP 10.0.0.1:80", "ClusterIP 10.0.0.1:443"}},
		{"IPv6", "spec: {clusterIP: 'fd00::1', ports: [{port: 80}]}", []string{"ClusterIP [fd00::1]:80"}},
		{"load balancer by IP", "{spec: {ports: [{port: 80}]}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}", []string{"LoadBalancer 192.0.2.1:80"}},
		{"load balancer by host name", "{spec: {ports: [{port: 80}]}, status: {loadBalancer: {ingress: [{hostname: lb.example.com}]}}}", []string{"LoadBalancer lb.example.com:80"}},
		{"load balancer by both", "{spec: {ports: [{port: 80}]}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1, hostname: lb.example.com}]}}}", []string{"LoadBalancer 192.0.2.1:80"}},
		{"load balancer without address yet", "{spec: {ports: [{port: 80}]}, status: {loadBalancer: {ingress: [{}]}}}", nil},
		{"what reaches furthest first", "{spec: {clusterIP: 10.0.0.1, ports: [{port: 80, nodePort: 30002}, {port: 81, nodePort: 30003}]}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}",
			[]string{"LoadBalancer 192.0.2.1:80", "LoadBalancer 192.0.2.1:81", "NodePort :30002", "NodePort :30003", "ClusterIP 10.0.0.1:80", "ClusterIP 10.0.0.1:81"}},
		{"headless", "spec: {clusterIP: None, ports: [{port: 80}]}", nil},
		{"no address yet", "spec: {ports: [{port: 80}]}", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range endpoints(nil, service(t, myApp(t, ""), c.service)) {
				got = append(got, e.Type+" "+e.Address)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("status.endpoints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndpointsAreBounded(t *testing.T) {
	svc := service(t, myApp(t, ""), "spec: {clusterIP: 10.0.0.1}")
	for i := range 100 {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Port: int32(i + 1), NodePort: 30000})
	}
	for i := range 10 {
		svc.Status.LoadBalancer.Ingress = append(svc.Status.LoadBalancer.Ingress, corev1.LoadBalancerIngress{IP: fmt.Sprint(i)})
	}
	if got := len(endpoints(nil, svc)); got != 400 {
		t.Errorf("%d endpoints; the API server refuses a status of more than 400", got)
	}
	if endpoints(nil, nil) != nil {
		t.Error("no Service has endpoints")
	}
}

func TestTruncateKeepsCharactersWhole(t *testing.T) {
	if got := truncate("short"); got != "short" {
		t.Errorf("a short message becomes %q", got)
	}
	for pad := range 4 {
		long := strings.Repeat("x", pad) + strings.Repeat("…", 1000)
		got := truncate(long)
		if !utf8.ValidString(got) || len(got) > maxMessage+2 || !strings.HasSuffix(got, "…") {
			t.Errorf("a long message becomes %d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
		if truncate(got) != got && len(got) <= maxMessage {
			t.Error("a message that was cut is cut again")
		}
	}
}

func BenchmarkNextStatus(b *testing.B) {
	app := myApp(b, "size: 100")
	var pods []corev1.Pod
	for i := range 100 {
		pods = append(pods, healthyPod(fmt.Sprintf("pod-%03d", i)))
	}
	f := finding{now: now, observed: seen(pods, deployment(app, counts{100, 100, 100, 100, 100}, finished))}
	app.Status, _ = nextStatus(app, f)
	b.ReportAllocs()
	for b.Loop() {
		nextStatus(app, f)
	}
}
