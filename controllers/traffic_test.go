package controllers

import (
	"testing"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmetav1 "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// ingress is the MyApp's Ingress with a class and an address; empty for none.
func ingress(app *v1beta1.MyApp, class, address string) *networkingv1.Ingress {
	i := &networkingv1.Ingress{ObjectMeta: ownedBy(app)}
	i.Spec.Rules = []networkingv1.IngressRule{{Host: "shop.example.com", IngressRuleValue: networkingv1.IngressRuleValue{
		HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/a"}}},
	}}}
	if class != "" {
		i.Spec.IngressClassName = &class
	}
	if address != "" {
		i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: address}}
	}
	return i
}

func certificate(app *v1beta1.MyApp, t, status, reason string) *certmanagerv1.Certificate {
	c := &certmanagerv1.Certificate{ObjectMeta: ownedBy(app)}
	c.Status.Conditions = []certmanagerv1.CertificateCondition{{
		Type: certmanagerv1.CertificateConditionType(t), Status: certmetav1.ConditionStatus(status), Reason: reason,
		Message: "in its own words", ObservedGeneration: c.Generation,
	}}
	return c
}

func autoscaler(app *v1beta1.MyApp, reason string, since time.Duration) *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: ownedBy(app)}
	h.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
		{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue},
		{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: reason, Message: "pod shop-1 has no metrics", LastTransitionTime: ago(since)},
	}
	return h
}

// What the other children say about themselves, while all pods serve.
func TestTruthTableOfTraffic(t *testing.T) {
	const rolled, available, fine = "Ready=True RolledOut", "Available=True MinimumAvailable", "Degraded=False AsExpected"
	app := myApp(t, "size: 2")
	cases := []struct {
		state string
		child client.Object
		want  []string
	}{
		{"G03 no class", ingress(app, "", ""), []string{"Ready=False IngressNoClass", available, "Progressing=False RolledOut", "Degraded=True IngressNoClass"}},
		{"G03 no address yet", ingress(app, "nginx", ""), []string{rolled, available, "Progressing=True IngressNoAddress", fine}},
		{"G03 served", ingress(app, "nginx", "192.0.2.1"), []string{rolled, available, "Progressing=False RolledOut", fine}},
		{"certificate requested", certificate(app, "Ready", "False", "DoesNotExist"),
			[]string{"Ready=False CertificateNotReady", available, "Progressing=True CertificateNotReady", fine}},
		{"certificate refused", certificate(app, "Issuing", "False", "Failed"),
			[]string{"Ready=False CertificateNotReady", available, "Progressing=True CertificateNotReady", "Degraded=True CertificateNotReady"}},
		{"certificate issued", certificate(app, "Ready", "True", "Ready"), []string{rolled, available, "Progressing=False RolledOut", fine}},
		{"Z05 autoscaler without metrics at first", autoscaler(app, "FailedGetResourceMetric", time.Minute), []string{rolled, available, "Progressing=False RolledOut", fine}},
		{"Z05 autoscaler without metrics", autoscaler(app, "FailedGetResourceMetric", 2*time.Minute), []string{rolled, available, "Progressing=False RolledOut", "Degraded=True ScalingInactive"}},
		{"Z09 two autoscalers", autoscaler(app, "AmbiguousSelector", 0), []string{rolled, available, "Progressing=False RolledOut", "Degraded=True TwoAutoscalers"}},
		{"Z02 autoscaler of a stopped application", autoscaler(app, "ScalingDisabled", time.Hour), []string{rolled, available, "Progressing=False RolledOut", fine}},
	}
	for _, c := range cases {
		t.Run(c.state, func(t *testing.T) {
			next, _ := nextStatus(app, finding{now: now, observed: seen(nil, deployment(app, counts{2, 2, 2, 2, 2}, finished), c.child)})
			if diff := cmp.Diff(c.want, summary(next)); diff != "" {
				t.Errorf("`kubectl describe myapp` shows (-want +got):\n%s", diff)
			}
		})
	}
}

// A rollout says more than what waits for it.
func TestTrafficWaitsForThePods(t *testing.T) {
	app := myApp(t, "size: 2")
	next, _ := nextStatus(app, finding{now: now, observed: seen(nil,
		deployment(app, counts{2, 3, 1, 2, 2}, updating), ingress(app, "nginx", ""), certificate(app, "Ready", "False", ""))})
	if c := conditionOf(next, v1beta1.ConditionProgressing); c.Reason != v1beta1.ReasonProgressing {
		t.Errorf("Progressing has the reason %s while pods roll out", c.Reason)
	}
}

func TestZ05AutoscalerIsLookedAtAgain(t *testing.T) {
	app := myApp(t, "size: 2")
	f := finding{now: now, observed: seen(nil, deployment(app, counts{2, 2, 2, 2, 2}, finished), autoscaler(app, "FailedGetResourceMetric", 30*time.Second))}
	if _, recheck := nextStatus(app, f); recheck != 90*time.Second {
		t.Errorf("looked at again after %s, when its patience ends after 90 s", recheck)
	}
	f.now = now.Add(2 * time.Minute)
	next, _ := nextStatus(app, f)
	app.Status = next
	h := autoscaler(app, "FailedGetResourceMetric", 30*time.Second)
	h.Status.Conditions[1].Message = "pod shop-2 has no metrics"
	f.observed.children["HorizontalPodAutoscaler"] = h
	again, _ := nextStatus(app, f)
	if diff := cmp.Diff(next, again); diff != "" {
		t.Errorf("the status is written for another pod's name (-before +after):\n%s", diff)
	}
}

func TestIngressEndpoint(t *testing.T) {
	app := myApp(t, "")
	tls := ingress(app, "nginx", "")
	tls.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "shop-tls"}}
	old := ingress(app, "", "")
	old.Annotations = map[string]string{"kubernetes.io/ingress.class": "nginx"}
	for name, c := range map[string]struct {
		ingress *networkingv1.Ingress
		want    string
	}{
		"plain":             {ingress(app, "nginx", "192.0.2.1"), "http://shop.example.com/a"},
		"encrypted":         {tls, "https://shop.example.com/a"},
		"class as of old":   {old, "http://shop.example.com/a"},
		"nobody serves it":  {ingress(app, "", ""), ""},
		"there is none yet": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, e := range ingressEndpoints(c.ingress) {
				got += e.Address
			}
			if got != c.want {
				t.Errorf("status.endpoints has %q, want %q", got, c.want)
			}
		})
	}
}
