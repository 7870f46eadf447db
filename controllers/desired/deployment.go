package desired

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// ContainerName is the name of the application's container.
const ContainerName = "app"

// defaultServiceAccount is the account of every namespace that pods run as when they name none.
const defaultServiceAccount = "default"

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete

// Deployment builds the Deployment, which every MyApp has.
//
// The pod template of an unchanged MyApp must stay the same, byte for byte, from one release of the operator to the next:
// whatever changes here restarts every application in the cluster.
func Deployment(in Input, live *appsv1.Deployment) *appsv1ac.DeploymentApplyConfiguration {
	app := in.App
	versions, restart := in.configAnnotations()
	spec := appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(v1beta1.SelectorLabels(app.Name))).
		WithTemplate(podTemplate(in).WithAnnotations(restart))
	spec.Replicas = in.replicas(live)
	rollOut(app.Spec.Rollout, spec)
	d := appsv1ac.Deployment(app.Name, app.Namespace).
		WithLabels(in.labels()).
		WithAnnotations(in.annotations(versions)).
		WithSpec(spec)
	if owner := in.owner(); owner != nil {
		d.WithOwnerReferences(owner)
	}
	return d
}

func podTemplate(in Input) *corev1ac.PodTemplateSpecApplyConfiguration {
	spec := in.App.Spec
	pod := corev1ac.PodSpec().
		WithTerminationGracePeriodSeconds(GracePeriod(in.App)).
		// Variables for every Service of the namespace would change with the neighbours and can shadow the MyApp's own.
		WithEnableServiceLinks(false).
		WithSecurityContext(podSecurityContext(in)).
		WithVolumes(volumes(in)...).
		WithContainers(container(in)).
		// Always written: the API server mirrors it in a deprecated field, from which a dropped name would come back.
		WithServiceAccountName(defaultServiceAccount)
	if spec.ServiceAccountName == "" {
		pod.WithAutomountServiceAccountToken(false)
	} else {
		pod.WithServiceAccountName(spec.ServiceAccountName)
	}
	schedule(in, pod)
	for _, i := range firsts(spec.ImagePullSecrets, pullSecretKey) {
		pod.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(spec.ImagePullSecrets[i].Name))
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(podLabels(in)).
		WithAnnotations(spec.PodAnnotations).
		WithSpec(pod)
}

// podLabels are the user's labels under the reserved ones; only `app` gives way.
func podLabels(in Input) map[string]string {
	l := map[string]string{v1beta1.LabelApp: in.App.Name}
	maps.Copy(l, in.App.Spec.PodLabels)
	maps.Copy(l, in.labels())
	return l
}

func container(in Input) *corev1ac.ContainerApplyConfiguration {
	spec := in.App.Spec
	c := corev1ac.Container().
		WithName(ContainerName).
		WithImage(spec.Image).
		WithImagePullPolicy(pullPolicy(spec)).
		WithCommand(spec.Command...).
		WithArgs(spec.Args...).
		WithPorts(containerPorts(spec.Ports)...).
		WithEnv(envs(spec.Envs)...).
		WithSecurityContext(securityContext(in)).
		WithVolumeMounts(volumeMounts(in)...)
	for _, source := range spec.EnvFrom {
		c.WithEnvFrom(convert[corev1ac.EnvFromSourceApplyConfiguration](source))
	}
	c.Resources = resources(spec.Resources)
	if delay := shutdownDelay(spec); delay > 0 {
		c.WithLifecycle(corev1ac.Lifecycle().WithPreStop(
			corev1ac.LifecycleHandler().WithSleep(corev1ac.SleepAction().WithSeconds(delay))))
	}
	if p := spec.Probes; p != nil {
		c.LivenessProbe = probe(p.Liveness, spec.Ports)
		c.ReadinessProbe = probe(p.Readiness, spec.Ports)
		c.StartupProbe = probe(p.Startup, spec.Ports)
	}
	return c
}

func pullSecretKey(s corev1.LocalObjectReference) string { return s.Name }

// containerPorts are the pod ports behind the Service ports, each pair of port and protocol once: several Service ports
// may lead to one. They carry no names, since nothing refers to them.
func containerPorts(ports []corev1.ServicePort) []*corev1ac.ContainerPortApplyConfiguration {
	var all []*corev1ac.ContainerPortApplyConfiguration
	for _, i := range firsts(ports, containerPortKey) {
		k := containerPortKey(ports[i])
		all = append(all, corev1ac.ContainerPort().WithContainerPort(k.port).WithProtocol(k.protocol))
	}
	return all
}

type portKey struct {
	port     int32
	protocol corev1.Protocol
}

func containerPortKey(p corev1.ServicePort) portKey {
	return portKey{podPort(p), v1beta1.PortProtocol(p)}
}

// envs keeps the order, since $(NAME) refers backwards. Of entries with one name the last counts, as in a container.
func envs(list []corev1.EnvVar) []*corev1ac.EnvVarApplyConfiguration {
	var all []*corev1ac.EnvVarApplyConfiguration
	for i, e := range list {
		if slices.ContainsFunc(list[i+1:], func(later corev1.EnvVar) bool { return later.Name == e.Name }) {
			continue
		}
		env := convert[corev1ac.EnvVarApplyConfiguration](e)
		if f := env.ValueFrom; f != nil && f.FieldRef != nil && f.FieldRef.APIVersion == nil {
			f.FieldRef.WithAPIVersion("v1")
		}
		all = append(all, env)
	}
	return all
}

// resources are written as they are; quantities are compared by value, so that spelling alone changes nothing.
func resources(r corev1.ResourceRequirements) *corev1ac.ResourceRequirementsApplyConfiguration {
	if len(r.Limits) == 0 && len(r.Requests) == 0 {
		return nil
	}
	all := corev1ac.ResourceRequirements()
	if len(r.Limits) > 0 {
		all.WithLimits(r.Limits)
	}
	if len(r.Requests) > 0 {
		all.WithRequests(r.Requests)
	}
	return all
}

// probe writes a port given by the name of a Service port as the number of the pod port behind it.
func probe(p *corev1.Probe, ports []corev1.ServicePort) *corev1ac.ProbeApplyConfiguration {
	if p == nil {
		return nil
	}
	p = p.DeepCopy()
	if p.HTTPGet != nil {
		p.HTTPGet.Port = numericPort(p.HTTPGet.Port, ports)
	}
	if p.TCPSocket != nil {
		p.TCPSocket.Port = numericPort(p.TCPSocket.Port, ports)
	}
	ac := convert[corev1ac.ProbeApplyConfiguration](p)
	if ac.GRPC != nil && ptrDeref(ac.GRPC.Service) == "" {
		ac.GRPC.Service = nil
	}
	return ac
}

func numericPort(port intstr.IntOrString, ports []corev1.ServicePort) intstr.IntOrString {
	if port.Type == intstr.Int {
		return port
	}
	for _, p := range ports {
		if p.Name != "" && p.Name == port.StrVal {
			return intstr.FromInt32(podPort(p))
		}
	}
	return port
}

// firsts returns the index of the first element of each key.
func firsts[T any, K comparable](list []T, key func(T) K) []int {
	seen := map[K]bool{}
	var all []int
	for i, v := range list {
		if k := key(v); !seen[k] {
			seen[k] = true
			all = append(all, i)
		}
	}
	return all
}
