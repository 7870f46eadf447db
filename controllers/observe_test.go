package controllers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// What the status is computed from must survive the trimming of the cache, and nothing else need.
func TestTrimPodKeepsWhatTheStatusNeeds(t *testing.T) {
	whole := pod("shop-1", corev1.ContainerStatus{
		Ready: true, RestartCount: 5, State: runningFor(time.Second), LastTerminationState: ended(137, "OOMKilled", time.Minute),
		ImageID: "sha256:1", ContainerID: "containerd://1",
	})
	whole.UID, whole.ResourceVersion = "uid-of-pod", "5"
	whole.Labels = map[string]string{v1beta1.LabelName: "shop", v1beta1.LabelManagedBy: v1beta1.OperatorName, "pod-template-hash": "x"}
	whole.Annotations = map[string]string{"a": "b"}
	whole.Spec = corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "app"}}}
	whole.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: waiting("ErrImagePull", "x")}}
	whole.Status.Conditions = append(whole.Status.Conditions, corev1.PodCondition{Type: "Initialized"}, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes", LastProbeTime: ago(0),
	})
	result, err := trimPod(whole.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	trimmed := result.(*corev1.Pod)
	if diff := cmp.Diff(inspect([]corev1.Pod{whole}, now), inspect([]corev1.Pod{*trimmed}, now), cmp.AllowUnexported(podReport{}, trouble{})); diff != "" {
		t.Errorf("the status of a trimmed pod differs (-whole +trimmed):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shop"}, podApp(trimmed)); diff != "" {
		t.Errorf("the pod's MyApp is lost (-want +got):\n%s", diff)
	}
	if podKey(trimmed).String() != "default/shop" {
		t.Errorf("an event of the pod wakes %s, want default/shop", podKey(trimmed))
	}
	raw, err := json.Marshal(trimmed)
	if err != nil {
		t.Fatal(err)
	}
	if trimmed.Spec.NodeName != "" || trimmed.Annotations != nil || len(trimmed.Status.Conditions) != 2 || trimmed.Status.ContainerStatuses[0].ContainerID != "" {
		t.Errorf("the cache keeps more of a pod than it needs: %s", raw)
	}
}

func TestTrimPodKeepsTheEnd(t *testing.T) {
	ending := healthyPod("a")
	ending.DeletionTimestamp, ending.Status.Phase = ptr(ago(0)), corev1.PodFailed
	result, _ := trimPod(&ending)
	got := result.(*corev1.Pod)
	if got.DeletionTimestamp == nil || got.Status.Phase != corev1.PodFailed {
		t.Error("a pod that ends counts as one that runs")
	}
}

func TestKeepOurFields(t *testing.T) {
	ours, former, scaled := applied(v1beta1.OperatorName, ""), updated(v1beta1.OperatorName, ""), updated("kube-controller-manager", "scale")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		updated("kubectl", ""), ours, former, scaled, applied(v1beta1.OperatorName, "status"),
	}}}
	if _, err := keepOurFields(d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]metav1.ManagedFieldsEntry{ours, former, scaled}, d.ManagedFields); diff != "" {
		t.Errorf("managed fields in the cache (-want +got):\n%s", diff)
	}
	d.ManagedFields = []metav1.ManagedFieldsEntry{updated("kubectl", "")}
	_, _ = keepOurFields(d)
	if len(d.ManagedFields) != 0 {
		t.Error("the cache keeps the managed fields of others")
	}
}

func TestTransformsPassWhatTheyDoNotKnow(t *testing.T) {
	// A watch hands over tombstones.
	for name, transform := range map[string]func(any) (any, error){"trimPod": trimPod, "keepOurFields": keepOurFields, "keepVersion": keepVersion} {
		if got, err := transform("tombstone"); got != "tombstone" || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// What is watched for its version alone is not kept for more, and of children only our own.
func TestCacheHoldsNoMoreThanIsRead(t *testing.T) {
	object := configMetadata("ConfigMap")
	object.SetName("settings")
	object.SetResourceVersion("7")
	object.SetLabels(map[string]string{"a": "b"})
	object.SetAnnotations(map[string]string{"a": strings.Repeat("b", 1000)})
	kept, err := keepVersion(object)
	if err != nil {
		t.Fatal(err)
	}
	want := configMetadata("ConfigMap")
	want.SetName("settings")
	want.SetResourceVersion("7")
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("of a ConfigMap the cache keeps (-want +got):\n%s", diff)
	}
	if CacheOptions().DefaultLabelSelector.String() != "app.kubernetes.io/managed-by=myapp-operator" {
		t.Error("the cache holds other people's children")
	}
}
