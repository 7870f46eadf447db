package controllers

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// maxNodes bounds status.nodes.
const maxNodes = 100

// finding is everything the new status is computed from.
type finding struct {
	observed observed
	problems []problem
	// unsettled: the observed Deployment is from before the spec was applied.
	unsettled bool
	// drain is set while the MyApp is deleted in order.
	drain *drainStep
	now   time.Time
	// input is what the children were decided from; its App is not looked at.
	input desired.Input
}

// nextStatus is the only place that computes a status. It is pure. recheck is when time alone may change the result; zero
// for never.
func nextStatus(app *v1beta1.MyApp, f finding) (next v1beta1.MyAppStatus, recheck time.Duration) {
	d := mine[*appsv1.Deployment](f.observed, app)
	pods := inspect(f.observed.pods, f.now)
	next = *app.Status.DeepCopy()
	next.ObservedGeneration = app.Generation
	next.Selector = labels.SelectorFromSet(v1beta1.SelectorLabels(app.Name)).String()
	next.Nodes = pods.names[:min(len(pods.names), maxNodes)]
	next.Endpoints = endpoints(mine[*networkingv1.Ingress](f.observed, app), mine[*corev1.Service](f.observed, app))
	count(&next, d, pods)
	scaler, later := scalerTrouble(mine[*autoscalingv2.HorizontalPodAutoscaler](f.observed, app), f.now)
	setConditions(&next, app, f, pods, scaler)
	return next, earliest(pods.recheck, later)
}

// count takes the Deployment's counters. A pod in a crash loop is ready for a moment between two crashes; it is not
// counted, or the status would change with each of them.
func count(next *v1beta1.MyAppStatus, d *appsv1.Deployment, pods podReport) {
	var s appsv1.DeploymentStatus
	if d != nil {
		s = d.Status
	}
	next.Replicas = s.Replicas
	next.UpdatedReplicas = s.UpdatedReplicas
	next.ReadyReplicas = s.ReadyReplicas
	next.AvailableReplicas = s.AvailableReplicas
	next.UnavailableReplicas = s.UnavailableReplicas
	if pods.looping {
		next.ReadyReplicas = min(s.ReadyReplicas, pods.steady)
		next.AvailableReplicas = min(s.AvailableReplicas, pods.steady)
		next.UnavailableReplicas = max(s.UnavailableReplicas, s.Replicas-next.AvailableReplicas)
	}
}

// endpoints lists the addresses, those that reach furthest first.
func endpoints(ingress *networkingv1.Ingress, svc *corev1.Service) []v1beta1.Endpoint {
	all := slices.Concat(ingressEndpoints(ingress), serviceEndpoints(svc))
	return all[:min(len(all), maxEndpoints)]
}

func serviceEndpoints(svc *corev1.Service) []v1beta1.Endpoint {
	if svc == nil {
		return nil
	}
	var balancers, nodes, cluster []v1beta1.Endpoint
	for _, p := range svc.Spec.Ports {
		for _, in := range svc.Status.LoadBalancer.Ingress {
			if host := cmp.Or(in.IP, in.Hostname); host != "" {
				balancers = append(balancers, v1beta1.Endpoint{Type: v1beta1.EndpointLoadBalancer, Address: address(host, p.Port)})
			}
		}
		if p.NodePort != 0 {
			nodes = append(nodes, v1beta1.Endpoint{Type: v1beta1.EndpointNodePort, Address: fmt.Sprintf(":%d", p.NodePort)})
		}
		if ip := svc.Spec.ClusterIP; ip != "" && ip != corev1.ClusterIPNone {
			cluster = append(cluster, v1beta1.Endpoint{Type: v1beta1.EndpointClusterIP, Address: address(ip, p.Port)})
		}
	}
	return slices.Concat(balancers, nodes, cluster)
}

// maxEndpoints bounds status.endpoints.
const maxEndpoints = 400

func address(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
