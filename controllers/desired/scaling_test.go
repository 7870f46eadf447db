package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// appliedFields is the managedFields entry of what we applied.
func appliedFields(apiVersion, fields string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Manager: v1beta1.OperatorName, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiVersion, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(fields),
	}}
}

// running is a live Deployment of so many pods, a number that is ours or an autoscaler's.
func running(replicas int32, ours bool) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
	if ours {
		d.ManagedFields = appliedFields("apps/v1", `{"f:spec":{"f:replicas":{}}}`)
	}
	return d
}

func TestReplicas(t *testing.T) {
	const scaled = "autoscaling: {minReplicas: 2, maxReplicas: 6}"
	cases := []struct {
		name, spec string
		external   bool
		live       *appsv1.Deployment
		want       *int32
		holds      bool
	}{
		{"size alone", "size: 3", false, nil, ptr[int32](3), false},
		{"size over whatever is live", "size: 3", false, running(5, false), ptr[int32](3), false},
		{"Z02 0 wins", "{size: 0, " + scaled + "}", false, running(4, false), ptr[int32](0), false},
		{"Z02 0 wins over one of somebody else", "size: 0", true, running(4, false), ptr[int32](0), false},
		{"Z02 back from 0", "{size: 1, " + scaled + "}", false, running(0, true), ptr[int32](2), false},
		{"Z02 0 by a hand", "{size: 1, " + scaled + "}", false, running(0, false), ptr[int32](2), false},
		{"0 by an autoscaler of somebody else", "size: 1", true, running(0, false), nil, false},
		{"Z03 begins with the size", "{size: 3, " + scaled + "}", false, nil, ptr[int32](3), false},
		{"Z03 but not below", "{size: 1, " + scaled + "}", false, nil, ptr[int32](2), false},
		{"Z03 nor above", "{size: 9, " + scaled + "}", false, nil, ptr[int32](6), false},
		{"Z03 repeats what is ours", "{size: 3, " + scaled + "}", false, running(5, true), ptr[int32](5), true},
		{"Z03 lets go of what is not", "{size: 3, " + scaled + "}", false, running(5, false), nil, false},
		{"one of somebody else", "size: 3", true, running(5, false), nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := Input{App: myApp(t, c.spec), ExternallyScaled: c.external}
			if diff := cmp.Diff(c.want, Deployment(in, c.live).Spec.Replicas); diff != "" {
				t.Errorf("the number of pods that is written (-want +got):\n%s", diff)
			}
			if got := in.HoldsReplicas(c.live) && c.want != nil && *c.want != 0 && *c.live.Spec.Replicas != 0; got != c.holds {
				t.Errorf("the number is repeated: %v, want %v", got, c.holds)
			}
		})
	}
	off := Input{App: myApp(t, "{size: 3, "+scaled+"}"), Options: Options{DisabledChildren: []string{"horizontalpodautoscaler"}}}
	if got := *Deployment(off, running(5, false)).Spec.Replicas; got != 3 {
		t.Errorf("%d pods where the operator makes no autoscalers, want 3", got)
	}
}

func TestMinAvailableFollowsTheBudget(t *testing.T) {
	for name, c := range map[string]struct {
		spec     string
		replicas int32
		want     int32
	}{
		"one pod":                       {"size: 1", 1, 1},
		"one may be away":               {"size: 5", 5, 4},
		"no budget":                     {"{size: 5, podDisruptionBudget: {disabled: true}}", 5, 1},
		"a number":                      {"{size: 5, podDisruptionBudget: {minAvailable: 2}}", 5, 2},
		"a share, rounded up":           {"{size: 5, podDisruptionBudget: {minAvailable: 50%}}", 5, 3},
		"a share away, rounded up":      {"{size: 5, podDisruptionBudget: {maxUnavailable: 50%}}", 5, 2},
		"all may be away":               {"{size: 5, podDisruptionBudget: {maxUnavailable: 5}}", 5, 1},
		"more than there are":           {"{size: 2, podDisruptionBudget: {minAvailable: 9}}", 2, 2},
		"Z03 pods of an autoscaler":     {"autoscaling: {minReplicas: 3, maxReplicas: 9}", 8, 2},
		"an autoscaler from one pod on": {"autoscaling: {maxReplicas: 9}", 8, 1},
		"stopped":                       {"size: 0", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Input{App: myApp(t, c.spec)}).MinAvailable(c.replicas); got != c.want {
				t.Errorf("Available needs %d pods, want %d", got, c.want)
			}
		})
	}
}

func TestAutoscalerTargets(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want map[string]int32
	}{
		"none":         {"autoscaling: {maxReplicas: 3}", map[string]int32{"cpu": 80}},
		"memory alone": {"autoscaling: {maxReplicas: 3, targetMemoryUtilizationPercentage: 60}", map[string]int32{"memory": 60}},
		"both":         {"autoscaling: {maxReplicas: 3, targetCPUUtilizationPercentage: 50, targetMemoryUtilizationPercentage: 60}", map[string]int32{"cpu": 50, "memory": 60}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]int32{}
			for _, m := range HorizontalPodAutoscaler(Input{App: myApp(t, c.spec)}, nil).Spec.Metrics {
				got[string(*m.Resource.Name)] = *m.Resource.Target.AverageUtilization
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestG01BackendIsAPortOfTheService(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want int32
	}{
		"the only one":             {"{ports: [{port: 8080}], ingress: {host: a.b}}", 8080},
		"it follows a change":      {"{ports: [{port: 8081}], ingress: {host: a.b}}", 8081},
		"the first TCP one":        {"{ports: [{port: 53, protocol: UDP}, {port: 80}, {port: 81}], ingress: {host: a.b}}", 80},
		"the chosen one":           {"{ports: [{port: 80}, {port: 81, targetPort: 8081}], ingress: {host: a.b, port: 81}}", 81},
		"one that does not exist":  {"{ports: [{port: 80}], ingress: {host: a.b, port: 81}}", 0},
		"the number of a UDP port": {"{ports: [{port: 80}, {port: 53, protocol: UDP}], ingress: {host: a.b, port: 53}}", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got int32
			if i := Ingress(Input{App: myApp(t, c.spec)}, nil); i != nil {
				got = *i.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Number
			}
			if got != c.want {
				t.Errorf("the Ingress leads to port %d, want %d", got, c.want)
			}
		})
	}
}

func TestG03ClassIsKept(t *testing.T) {
	class := "standard"
	live := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{IngressClassName: &class}}
	app := myApp(t, "{ports: [{port: 80}], ingress: {host: a.b}}")
	if got := Ingress(Input{App: app}, live).Spec.IngressClassName; got != nil {
		t.Errorf("the operator claims the class %s that the cluster chose", *got)
	}
	live.ManagedFields = appliedFields("networking.k8s.io/v1", `{"f:spec":{"f:ingressClassName":{}}}`)
	if got := Ingress(Input{App: app}, live).Spec.IngressClassName; got == nil || *got != class {
		t.Error("the Ingress loses the class that the MyApp once named, and nobody serves it")
	}
}

// What depends on another field follows it: the children equal those of a MyApp that is new.
func TestDefaultsOfBlocksFollow(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"budget of the size":        {"size: 1", "size: 3"},
		"budget of the autoscaler":  {"{size: 3}", "{size: 3, autoscaling: {maxReplicas: 4}}"},
		"Service behind an Ingress": {"ports: [{port: 80}]", "{ports: [{port: 80}], ingress: {host: a.b}}"},
		"Service of a pinned port":  {"{ports: [{port: 80}], ingress: {host: a.b}}", "{ports: [{port: 80, nodePort: 30080}], ingress: {host: a.b}}"},
		"name of the TLS Secret":    {"{ports: [{port: 80}], ingress: {host: a.b, tls: {secretName: x}}}", "{ports: [{port: 80}], ingress: {host: a.b, tls: {issuerRef: {name: ca}}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			app, fresh := myApp(t, c.before), myApp(t, c.after)
			children(app)
			app.Spec = *myApp(t, c.after).Spec.DeepCopy()
			if diff := cmp.Diff(yamlOf(t, intents(t, fresh)), yamlOf(t, intents(t, app))); diff != "" {
				t.Errorf("the children differ from those of a new MyApp (-new +changed):\n%s", diff)
			}
		})
	}
	types := map[string]string{
		"ports: [{port: 80}]":                                                                "NodePort",
		"{ports: [{port: 80}], ingress: {host: a.b}}":                                        "ClusterIP",
		"{ports: [{port: 80, nodePort: 30080}], ingress: {host: a.b}}":                       "NodePort",
		"{ports: [{port: 80}], ingress: {host: a.b}, service: {type: LoadBalancer}}":         "LoadBalancer",
		"{ports: [{port: 80}, {port: 81, nodePort: 30081}], ingress: {host: a.b, port: 80}}": "NodePort",
	}
	for spec, want := range types {
		if got := string(*service(myApp(t, spec)).Spec.Type); got != want {
			t.Errorf("%s has a Service of type %s, want %s", spec, got, want)
		}
	}
}
