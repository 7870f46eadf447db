package controllers

import (
	"fmt"
	"slices"
	"time"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmetav1 "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// This file reads what the Ingress, the certificate and the autoscaler say about themselves.

// ingressEndpoints is the URL of the Ingress; none while it has no class, since nobody serves it then.
func ingressEndpoints(ingress *networkingv1.Ingress) []v1beta1.Endpoint {
	if ingress == nil || !hasClass(ingress) {
		return nil
	}
	scheme := "http"
	if len(ingress.Spec.TLS) > 0 {
		scheme = "https"
	}
	var all []v1beta1.Endpoint
	for _, rule := range ingress.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			all = append(all, v1beta1.Endpoint{Type: v1beta1.EndpointIngress, Address: scheme + "://" + rule.Host + path.Path})
		}
	}
	return all
}

// hasClass tells whether the Ingress has a class: its own, or the one that the API server gave a new Ingress because it is
// the cluster's default.
func hasClass(ingress *networkingv1.Ingress) bool {
	return ingress.Spec.IngressClassName != nil || ingress.Annotations["kubernetes.io/ingress.class"] != ""
}

// trafficTrouble is what keeps traffic from outside away and does not mend by waiting.
func trafficTrouble(o observed, app *v1beta1.MyApp) *trouble {
	if ingress := mine[*networkingv1.Ingress](o, app); ingress != nil && !hasClass(ingress) {
		return &trouble{v1beta1.ReasonIngressNoClass, "the Ingress has no class and the cluster had no default one when it was made, so nobody serves it; " +
			"set spec.ingress.className, or mark an IngressClass as the default and delete the Ingress, which is then made again", ""}
	}
	cert := mine[*certmanagerv1.Certificate](o, app)
	if cert == nil || certificateReady(cert) {
		return nil
	}
	if c := certificateCondition(cert, certmanagerv1.CertificateConditionIssuing); c != nil && c.Status == certmetav1.ConditionFalse && c.Reason == "Failed" {
		return &trouble{v1beta1.ReasonCertificateNotReady, "cert-manager failed to issue the certificate and tries again later", c.Message}
	}
	return nil
}

// trafficPending is what traffic from outside still waits for; nil when nothing. Without its certificate the application
// is not what the spec asks for; an address is told by many ingress controllers, but not by all.
func trafficPending(o observed, app *v1beta1.MyApp) (pending *trouble, unready bool) {
	if cert := mine[*certmanagerv1.Certificate](o, app); cert != nil && !certificateReady(cert) {
		return &trouble{v1beta1.ReasonCertificateNotReady, "cert-manager has not issued the certificate yet", ""}, true
	}
	ingress := mine[*networkingv1.Ingress](o, app)
	if ingress != nil && hasClass(ingress) && len(ingress.Status.LoadBalancer.Ingress) == 0 {
		return &trouble{v1beta1.ReasonIngressNoAddress, fmt.Sprintf("no ingress controller has given the Ingress an address yet (class %q)", classOf(ingress)), ""}, false
	}
	return nil, false
}

func classOf(ingress *networkingv1.Ingress) string {
	if name := ingress.Spec.IngressClassName; name != nil {
		return *name
	}
	return ingress.Annotations["kubernetes.io/ingress.class"]
}

func certificateReady(cert *certmanagerv1.Certificate) bool {
	c := certificateCondition(cert, certmanagerv1.CertificateConditionReady)
	return c != nil && c.Status == certmetav1.ConditionTrue && c.ObservedGeneration >= cert.Generation
}

func certificateCondition(cert *certmanagerv1.Certificate, t certmanagerv1.CertificateConditionType) *certmanagerv1.CertificateCondition {
	i := slices.IndexFunc(cert.Status.Conditions, func(c certmanagerv1.CertificateCondition) bool { return c.Type == t })
	if i < 0 {
		return nil
	}
	return &cert.Status.Conditions[i]
}

// scalerPatience is how long an autoscaler may be without metrics before that counts: new pods have none for a while.
const scalerPatience = 2 * time.Minute

// scalerTrouble is why the autoscaler does not work; later is when that will count.
func scalerTrouble(h *autoscalingv2.HorizontalPodAutoscaler, now time.Time) (t *trouble, later time.Duration) {
	if h == nil {
		return nil, 0
	}
	for _, c := range h.Status.Conditions {
		failing := c.Status == corev1.ConditionFalse && c.Reason != "ScalingDisabled" &&
			(c.Type == autoscalingv2.ScalingActive || c.Type == autoscalingv2.AbleToScale)
		switch left := scalerPatience - now.Sub(c.LastTransitionTime.Time); {
		case !failing:
		case c.Reason == "AmbiguousSelector":
			return &trouble{v1beta1.ReasonTwoAutoscalers, "more than one autoscaler chooses the number of the pods; remove spec.autoscaling or the other one", ""}, 0
		case left > 0:
			later = earliest(later, left)
		case t == nil:
			t = &trouble{v1beta1.ReasonScalingInactive, fmt.Sprintf("the autoscaler does not work (%s)", c.Reason), c.Message}
		}
	}
	return t, later
}
