package controllers

import (
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// now is when every test happens, start when every MyApp of a test was created.
var (
	now   = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	start = now.Add(-time.Hour)
)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// myApp is the MyApp default/shop with the spec given in YAML and an image.
func myApp(t testing.TB, spec string, change ...func(*v1beta1.MyApp)) *v1beta1.MyApp {
	t.Helper()
	app := &v1beta1.MyApp{ObjectMeta: metav1.ObjectMeta{
		Name: "shop", Namespace: "default", UID: "uid-of-shop", Generation: 3, ResourceVersion: "10",
		CreationTimestamp: metav1.NewTime(start),
	}}
	app.Spec.Image = "registry.example.com/team/web:1.4"
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("the test's spec %s: %v", spec, err)
	}
	v1beta1.SetDefaults(app)
	for _, c := range change {
		c(app)
	}
	return app
}

func paused(app *v1beta1.MyApp) {
	app.Annotations = map[string]string{v1beta1.AnnotationPaused: "true"}
}

func deleting(app *v1beta1.MyApp) { app.DeletionTimestamp = ptr(ago(time.Second)) }

// ownedBy is the metadata of a child of the MyApp.
func ownedBy(app *v1beta1.MyApp) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: app.Name, Namespace: app.Namespace, UID: "uid-of-child", Generation: 1, CreationTimestamp: metav1.NewTime(start),
		Labels: v1beta1.SelectorLabels(app.Name),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta1.GroupVersion.String(), Kind: "MyApp", Name: app.Name, UID: app.UID, Controller: ptr(true),
		}},
	}
}

// counts are a Deployment's counters: replicas asked for, and of the status all, updated, ready and available.
type counts struct{ want, all, updated, ready, available int32 }

// deployment is the MyApp's Deployment, observed by its controller, with the reason of its condition Progressing.
func deployment(app *v1beta1.MyApp, c counts, progressing string, change ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: ownedBy(app),
		Spec:       appsv1.DeploymentSpec{Replicas: &c.want},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: c.all, UpdatedReplicas: c.updated, ReadyReplicas: c.ready, AvailableReplicas: c.available,
			UnavailableReplicas: max(c.want-c.available, 0),
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: progressing},
			},
		},
	}
	for _, f := range change {
		f(d)
	}
	return d
}

// unobserved is a Deployment whose controller has yet to see the last change.
func unobserved(d *appsv1.Deployment) { d.Generation++ }

// refusedPods is a Deployment whose ReplicaSet cannot create pods.
func refusedPods(message string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message,
		})
	}
}

// service is the MyApp's Service with the spec and status given in YAML.
func service(t testing.TB, app *v1beta1.MyApp, text string) *corev1.Service {
	t.Helper()
	svc := &corev1.Service{}
	if err := yaml.UnmarshalStrict([]byte(text), svc); err != nil {
		t.Fatalf("the test's Service %s: %v", text, err)
	}
	svc.ObjectMeta = ownedBy(app)
	return svc
}

// pod is a running pod with one container in the given state.
func pod(name string, c corev1.ContainerStatus) corev1.Pod {
	c.Name, c.Image = "app", "web:1"
	ready := corev1.ConditionFalse
	if c.Ready {
		ready = corev1.ConditionTrue
	}
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
			ContainerStatuses: []corev1.ContainerStatus{c},
		},
	}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func runningFor(d time.Duration) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(d)}}
}

// ended is how a container ended after a run of the given length.
func ended(exit int32, reason string, run time.Duration) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: exit, Reason: reason, StartedAt: ago(time.Minute + run), FinishedAt: ago(time.Minute),
	}}
}

func healthyPod(name string) corev1.Pod {
	return pod(name, corev1.ContainerStatus{Ready: true, State: runningFor(time.Minute)})
}

func unpullablePod(name string) corev1.Pod {
	return pod(name, corev1.ContainerStatus{State: waiting("ErrImagePull", "not found")})
}

// seen is what the cache shows of a MyApp's children.
func seen(pods []corev1.Pod, children ...client.Object) observed {
	o := observed{pods: pods, children: map[string]client.Object{}}
	for _, c := range children {
		o.children[reflect.TypeOf(c).Elem().Name()] = c
	}
	return o
}

// summary is a status's conditions as lines of type, status and reason, in the order of the table in docs.
func summary(status v1beta1.MyAppStatus) []string {
	var all []string
	for _, t := range []string{v1beta1.ConditionReady, v1beta1.ConditionAvailable, v1beta1.ConditionProgressing, v1beta1.ConditionDegraded} {
		c := conditionOf(status, t)
		all = append(all, t+"="+string(c.Status)+" "+c.Reason)
	}
	return all
}

func ptr[T any](v T) *T { return &v }
