package controllers

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// An autoscaler that still exists would write once more after the size has been written.
func TestZ03RemovalsComeFirst(t *testing.T) {
	var all memories
	app := myApp(t, "{ports: [{port: 80}]}")
	var got []string
	for _, next := range (&Reconciler{}).decide(samePass(app, observed{}, &all)) {
		name := next.name
		if next.intent == nil {
			name = "no " + name
		}
		got = append(got, name)
	}
	want := []string{
		"no Ingress", "no Certificate", "no HorizontalPodAutoscaler", "no PodDisruptionBudget", "no ServiceMonitor", "Deployment", "Service",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order of what is done (-want +got):\n%s", diff)
	}
}

// Between our view of the Deployment and our write an autoscaler may have written its first number. An intent that repeats
// the number we know must fail then, where any other may go through.
func TestZ03NumberOfPodsIsRepeatedOnlyToTheVersionItWasReadFrom(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want map[string]any
	}{
		"nobody scales":       {"{size: 3}", map[string]any{"uid": "uid-of-Deployment"}},
		"an autoscaler is on": {"{size: 3, autoscaling: {maxReplicas: 9}}", map[string]any{"uid": "uid-of-Deployment", "resourceVersion": "77"}},
	} {
		t.Run(name, func(t *testing.T) {
			var all memories
			before := myApp(t, "{size: 3}")
			child := live(t, before).children["Deployment"]
			child.SetResourceVersion("77")
			child.SetOwnerReferences([]metav1.OwnerReference{{UID: before.UID, Controller: ptr(true), Kind: "MyApp", Name: "shop", APIVersion: v1beta1.GroupVersion.String()}})
			after := myApp(t, c.spec)
			after.Spec.Image = "another:1"
			got := map[string]any{}
			r := &Reconciler{Client: applying(t, func(object map[string]any) {
				for _, field := range []string{"uid", "resourceVersion"} {
					if v, ok := object["metadata"].(map[string]any)[field]; ok {
						got[field] = v
					}
				}
				if replicas := object["spec"].(map[string]any)["replicas"]; fmt.Sprint(replicas) != "3" {
					t.Errorf("replicas: %v, want 3", replicas)
				}
			})}
			p := samePass(after, observed{children: map[string]client.Object{"Deployment": child}}, &all)
			for _, next := range r.decide(p) {
				if next.name == deploymentKind {
					if err := r.ensure(t.Context(), p, next); err != nil {
						t.Fatal(err)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the apply holds for (-want +got):\n%s", diff)
			}
		})
	}
}

// A server drops fields that it does not serve. What it dropped once is not sent again with every pass.
func TestC01WhatTheServerDropsIsNotSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   int
	}{
		"the object is as it was":  {"77", 1},
		"the object has a version": {"78", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var all memories
			before := myApp(t, "{size: 3}")
			child := live(t, before).children["Deployment"]
			child.SetResourceVersion("77")
			child.SetOwnerReferences([]metav1.OwnerReference{{UID: before.UID, Controller: ptr(true), Kind: "MyApp", Name: "shop", APIVersion: v1beta1.GroupVersion.String()}})
			after := myApp(t, "{size: 3}")
			after.Spec.Image = "another:1"
			sent := 0
			r := &Reconciler{Client: applying(t, func(object map[string]any) {
				sent++
				object["metadata"].(map[string]any)["resourceVersion"] = c.answer
			})}
			for range 2 {
				p := samePass(after, observed{children: map[string]client.Object{"Deployment": child}}, &all)
				for _, next := range r.decide(p) {
					if next.name != deploymentKind {
						continue
					}
					if err := r.ensure(t.Context(), p, next); err != nil {
						t.Fatal(err)
					}
				}
			}
			if sent != c.want {
				t.Errorf("sent %d times, want %d", sent, c.want)
			}
		})
	}
}

// applying is a client that shows what it is to apply.
func applying(t *testing.T, see func(map[string]any)) client.Client {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(testScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			see(o.(interface{ UnstructuredContent() map[string]any }).UnstructuredContent())
			return nil
		},
	}).Build()
}

func TestZ02AStoppedDeploymentIsNotHeld(t *testing.T) {
	app := myApp(t, "{size: 0, autoscaling: {minReplicas: 2, maxReplicas: 9}}")
	d := live(t, myApp(t, "{size: 3}")).children["Deployment"].(*appsv1.Deployment)
	if in := inputOf(app); in.Autoscaled() || in.HoldsReplicas(d) {
		t.Error("at size 0 an autoscaler counts")
	}
}
