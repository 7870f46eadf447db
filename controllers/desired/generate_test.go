package desired

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// generated makes n MyApps that admission accepts, the same ones in every run.
func generated(n int) map[string]*v1beta1.MyApp {
	all := map[string]*v1beta1.MyApp{}
	for i := range n {
		g := generator{newRand(uint64(i))}
		all[fmt.Sprintf("generated-%03d", i)] = g.myApp(i)
	}
	return all
}

type generator struct{ *rand.Rand }

// maybe is true one time out of two.
func (g generator) maybe() bool { return g.IntN(2) == 0 }

// one picks an element, optional makes a pointer to one or nil.
func one[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func optional[T any](g generator, of ...T) *T {
	if g.maybe() {
		return nil
	}
	return ptr(one(g, of...))
}

func (g generator) myApp(i int) *v1beta1.MyApp {
	app := &v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("app-%d", i), Namespace: one(g, "default", "team"), UID: types.UID(fmt.Sprintf("uid-%d", i)),
	}}
	s := &app.Spec
	s.Size = optional[int32](g, 0, 1, 2, 5000)
	s.Image = one(g, "nginx", "nginx:latest", "localhost:5000/web", "ghcr.io/team/web:RC1",
		"web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
	s.ImagePullPolicy = one(g, "", corev1.PullAlways, corev1.PullNever)
	s.SecurityProfile = one(g, "", v1beta1.SecurityProfileBaseline, v1beta1.SecurityProfileRestricted)
	s.DeletionPolicy = one(g, "", v1beta1.DeletionPolicyDelete, v1beta1.DeletionPolicyDrain, v1beta1.DeletionPolicyOrphan)
	s.ServiceAccountName = one(g, "", "web")
	s.ShutdownDelaySeconds = optional[int64](g, 0, 1, 300)
	s.TerminationGracePeriodSeconds = optional[int64](g, 0, 30, 86400)
	s.Command = one(g, nil, []string{}, []string{"/bin/web"})
	s.Args = one(g, nil, []string{""}, []string{"-m=64", "$(MODE)"})
	s.PodLabels = one(g, nil, map[string]string{}, map[string]string{"app": "other", "empty": ""})
	s.PodAnnotations = one(g, nil, map[string]string{}, map[string]string{"example.com/a": "b"})
	for i := range g.IntN(3) {
		s.ImagePullSecrets = append(s.ImagePullSecrets, corev1.LocalObjectReference{Name: fmt.Sprintf("pull-%d", i%2)})
	}
	s.Ports = g.ports()
	s.Service = g.service(len(s.Ports))
	s.Envs, s.EnvFrom = g.envs(), g.envFrom()
	s.Resources = g.resources()
	s.Probes = g.probes(s.Ports)
	restricted := s.SecurityProfile == v1beta1.SecurityProfileRestricted
	s.PodSecurityContext, s.SecurityContext = g.podSecurityContext(restricted), g.securityContext(restricted)
	v1beta1.SetDefaults(app)
	return app
}

func (g generator) ports() []corev1.ServicePort {
	var ports []corev1.ServicePort
	for i := range g.IntN(5) {
		p := corev1.ServicePort{Port: int32(80 + i/2), Protocol: corev1.ProtocolUDP}
		if i%2 == 0 {
			p.Protocol = one(g, "", corev1.ProtocolTCP)
		}
		if g.maybe() {
			p.Name = fmt.Sprintf("port-%d", i)
		}
		if g.maybe() {
			p.TargetPort = intstr.FromInt32(one[int32](g, 8080, 8081))
		}
		p.AppProtocol = optional(g, "http", "kubernetes.io/h2c")
		ports = append(ports, p)
	}
	return ports
}

func (g generator) service(ports int) *v1beta1.ServiceSpec {
	if ports == 0 || g.maybe() {
		return nil
	}
	s := &v1beta1.ServiceSpec{
		Type:                  one(g, "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer),
		InternalTrafficPolicy: one(g, "", corev1.ServiceInternalTrafficPolicyLocal),
		SessionAffinity:       one(g, "", corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP),
		Annotations:           one(g, nil, map[string]string{}, map[string]string{"lb.example.com/a": "b"}),
	}
	if s.Type != corev1.ServiceTypeClusterIP {
		s.ExternalTrafficPolicy = one(g, "", corev1.ServiceExternalTrafficPolicyLocal)
	}
	return s
}

func (g generator) envs() []corev1.EnvVar {
	sources := []*corev1.EnvVarSource{
		nil,
		{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
		{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k", Optional: optional(g, true, false)}},
		{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, Key: "k"}},
		{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}},
		{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}},
	}
	var envs []corev1.EnvVar
	for i := range g.IntN(6) {
		e := corev1.EnvVar{Name: fmt.Sprintf("VAR_%d", g.IntN(4)), ValueFrom: one(g, sources...)}
		if e.ValueFrom == nil {
			e.Value = one(g, "", "x", fmt.Sprintf("$(VAR_%d)", i))
		}
		envs = append(envs, e)
	}
	return envs
}

func (g generator) envFrom() []corev1.EnvFromSource {
	return one(g, nil, []corev1.EnvFromSource{}, []corev1.EnvFromSource{
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}},
		{Prefix: "P_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Optional: ptr(true)}},
	})
}

func (g generator) resources() corev1.ResourceRequirements {
	list := func() corev1.ResourceList {
		return one(g, nil, corev1.ResourceList{}, corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("0.5"), corev1.ResourceMemory: resource.MustParse(one(g, "2048Mi", "1.5Gi")),
		})
	}
	return corev1.ResourceRequirements{Limits: list(), Requests: list()}
}

func (g generator) probes(ports []corev1.ServicePort) *v1beta1.Probes {
	if g.maybe() {
		return nil
	}
	port := intstr.FromInt32(8080)
	if len(ports) > 0 && ports[0].Name != "" {
		port = intstr.FromString(ports[0].Name)
	}
	probe := func() *corev1.Probe {
		return one(g, nil,
			&corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: port, Scheme: one(g, "", corev1.URISchemeHTTPS)}}, PeriodSeconds: 3},
			&corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}}},
			&corev1.Probe{ProbeHandler: corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 9000, Service: optional(g, "", "web")}}},
			&corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true", ""}}}})
	}
	return &v1beta1.Probes{Liveness: probe(), Readiness: probe(), Startup: probe()}
}
