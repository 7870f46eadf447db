// Package wrappers makes MyApps for tests: MakeMyApp("shop", "default").Size(2).Port(80).Obj(). It talks to no cluster.
package wrappers

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Image is the image of a MyApp that names none.
const Image = "registry.example.com/team/web:1.0"

// ServiceAnnotationPrefix is the prefix of the Service annotations of the fullest MyApp. Admission takes them when the
// operator runs with --service-annotation-prefixes set to it.
const ServiceAnnotationPrefix = "lb.example.com/"

// MyApp builds a MyApp.
type MyApp struct{ app v1beta1.MyApp }

// MakeMyApp starts with the smallest valid MyApp: it has an image and nothing else.
func MakeMyApp(name, namespace string) *MyApp {
	return &MyApp{v1beta1.MyApp{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.Kind.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       v1beta1.MyAppSpec{Image: Image},
	}}
}

//go:embed fullest.yaml
var fullest []byte

// Fullest starts with a MyApp that sets every field of the spec, node ports apart. Admission takes it and fake nodes run it.
func Fullest(name, namespace string) *MyApp {
	w := MakeMyApp(name, namespace)
	if err := yaml.UnmarshalStrict(fullest, &w.app.Spec); err != nil {
		panic(fmt.Sprintf("fullest.yaml: %v", err))
	}
	return w
}

// FullestHere is Fullest without the fields that the API server of this test run does not serve yet. An operator that is
// asked for one that the server does not know reports InvalidSpec; one that it knows and drops is missing in the child.
func FullestHere(name, namespace string) *MyApp {
	w := Fullest(name, namespace)
	if OldServer() {
		w.app.Spec.PodSecurityContext.SupplementalGroupsPolicy = nil
		apart := w.app.Spec.Scheduling.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		apart[0].PodAffinityTerm.MatchLabelKeys = nil
		w.app.Spec.Autoscaling.Behavior.ScaleUp.Tolerance = nil
		w.app.Spec.Autoscaling.Behavior.ScaleDown.Tolerance = nil
	}
	return w
}

// OldServer tells whether K8S_VERSION chooses the oldest Kubernetes that is supported, which lacks some fields of the newest.
func OldServer() bool { return strings.HasPrefix(os.Getenv("K8S_VERSION"), "1.30.") }

// Obj returns the MyApp.
func (w *MyApp) Obj() *v1beta1.MyApp { return w.app.DeepCopy() }

// Size sets the number of pods.
func (w *MyApp) Size(n int32) *MyApp { w.app.Spec.Size = &n; return w }

// Image sets the image.
func (w *MyApp) Image(image string) *MyApp { w.app.Spec.Image = image; return w }

// Port adds a TCP port.
func (w *MyApp) Port(port int32) *MyApp { return w.Ports(corev1.ServicePort{Port: port}) }

// NodePort adds a TCP port that is pinned to a node port.
func (w *MyApp) NodePort(port, nodePort int32) *MyApp {
	return w.Ports(corev1.ServicePort{Port: port, NodePort: nodePort})
}

// Ports adds ports.
func (w *MyApp) Ports(ports ...corev1.ServicePort) *MyApp {
	w.app.Spec.Ports = append(w.app.Spec.Ports, ports...)
	return w
}

// Service sets the settings of the Service.
func (w *MyApp) Service(s v1beta1.ServiceSpec) *MyApp { w.app.Spec.Service = &s; return w }

// Env adds an environment variable.
func (w *MyApp) Env(name, value string) *MyApp {
	return w.Envs(corev1.EnvVar{Name: name, Value: value})
}

// Envs adds environment variables.
func (w *MyApp) Envs(envs ...corev1.EnvVar) *MyApp {
	w.app.Spec.Envs = append(w.app.Spec.Envs, envs...)
	return w
}

// Args sets the arguments.
func (w *MyApp) Args(args ...string) *MyApp { w.app.Spec.Args = args; return w }

// Requests sets the resource requests.
func (w *MyApp) Requests(r corev1.ResourceList) *MyApp { w.app.Spec.Resources.Requests = r; return w }

// PodAnnotation adds an annotation of the pods.
func (w *MyApp) PodAnnotation(key, value string) *MyApp {
	return put(w, &w.app.Spec.PodAnnotations, key, value)
}

// PodLabel adds a label of the pods.
func (w *MyApp) PodLabel(key, value string) *MyApp { return put(w, &w.app.Spec.PodLabels, key, value) }

// Annotation adds an annotation of the MyApp itself.
func (w *MyApp) Annotation(key, value string) *MyApp { return put(w, &w.app.Annotations, key, value) }

// Label adds a label of the MyApp itself.
func (w *MyApp) Label(key, value string) *MyApp { return put(w, &w.app.Labels, key, value) }

func put(w *MyApp, to *map[string]string, key, value string) *MyApp {
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[key] = value
	return w
}

// Profile sets the security profile.
func (w *MyApp) Profile(p v1beta1.SecurityProfile) *MyApp { w.app.Spec.SecurityProfile = p; return w }

// DeletionPolicy sets the deletion policy.
func (w *MyApp) DeletionPolicy(p v1beta1.DeletionPolicy) *MyApp {
	w.app.Spec.DeletionPolicy = p
	return w
}

// GracePeriod sets the container's grace period and no delay before it, in seconds.
func (w *MyApp) GracePeriod(seconds int64) *MyApp {
	var none int64
	w.app.Spec.TerminationGracePeriodSeconds, w.app.Spec.ShutdownDelaySeconds = &seconds, &none
	return w
}
