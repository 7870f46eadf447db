package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Mount puts files into the container: what they are and where they appear, in one.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMap), has(self.secret), has(self.emptyDir), has(self.persistentVolumeClaim)].filter(x, x).size() == 1",message="must have exactly one of configMap, secret, emptyDir, persistentVolumeClaim"
type Mount struct {
	// path is where the files appear in the container. It starts with '/', is not the root itself and has no ':' and no
	// '..'. At most 1024 characters; each path once.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/+[^:/][^:]*$`
	Path string `json:"path"`

	// subPath mounts a single file or directory of the volume instead of its root. It does not start with '/' and has no
	// '..'. Files of a ConfigMap or Secret that are mounted so do not change in running pods. At most 1024 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	SubPath string `json:"subPath,omitempty"`

	// readOnly refuses writes. Those to a ConfigMap or Secret are always refused. Default: false.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`

	// configMap shows the keys of a ConfigMap of this namespace as files.
	// +optional
	ConfigMap *FileSource `json:"configMap,omitempty"`

	// secret shows the keys of a Secret of this namespace as files.
	// +optional
	Secret *FileSource `json:"secret,omitempty"`

	// emptyDir is an empty directory that lives as long as the pod.
	// +optional
	EmptyDir *EmptyDirSource `json:"emptyDir,omitempty"`

	// persistentVolumeClaim is a claim of this namespace. One with the access mode ReadWriteOnce needs rollout.type
	// Recreate, or else a new pod on another node waits for ever for the volume that the old one holds.
	// +optional
	PersistentVolumeClaim *ClaimSource `json:"persistentVolumeClaim,omitempty"`
}

// FileSource is a ConfigMap or Secret whose keys become files.
type FileSource struct {
	// name of the object. At most 253 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// items choose keys and the file names they get, each name once. At most 100. Default: every key, under its own name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Items []corev1.KeyToPath `json:"items,omitempty"`

	// optional lets the pod start although the object, or one of the items' keys, is missing. Default: false.
	// +optional
	Optional bool `json:"optional,omitempty"`

	// defaultMode is the permission of the files, as a decimal number from 0 to 511 (YAML also takes an octal one).
	// Default: 0644, which is 420.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

// EmptyDirSource is an empty directory.
type EmptyDirSource struct {
	// medium is empty for the node's disk, or Memory. What lies in memory counts as the container's.
	// +optional
	// +kubebuilder:validation:Enum="";Memory
	Medium corev1.StorageMedium `json:"medium,omitempty"`

	// sizeLimit is the most that the directory may hold, as a quantity like 64Mi; a pod that exceeds it is evicted.
	// Default: none.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// ClaimSource is a PersistentVolumeClaim.
type ClaimSource struct {
	// claimName is the name of the claim. At most 253 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName"`
}

// SchedulingSpec says on which nodes the pods may run. A change rolls the pods.
type SchedulingSpec struct {
	// nodeSelector demands labels of the node. At most 50.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations let the pods run on tainted nodes. At most 50.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity draws the pods to nodes and to or away from other pods of this namespace.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints say how evenly the pods are spread. A labelSelector that is missing selects the MyApp's own
	// pods. Each pair of topologyKey and whenUnsatisfiable once; at most 20. Default: over zones and over nodes, both
	// ScheduleAnyway, each version of the pods for itself.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName names a PriorityClass. At most 253 characters. Default: the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// RolloutType says how old pods make room for new ones.
// +kubebuilder:validation:Enum=RollingUpdate;Recreate
type RolloutType string

const (
	// RolloutRollingUpdate replaces the pods little by little.
	RolloutRollingUpdate RolloutType = "RollingUpdate"
	// RolloutRecreate ends all old pods before the first new one starts.
	RolloutRecreate RolloutType = "Recreate"
)

// RolloutSpec says how a change reaches the pods. Of its fields only restartOnConfigChange restarts pods when it changes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || !has(self.maxUnavailable) || !(string(self.maxSurge) in ['0', '0%']) || !(string(self.maxUnavailable) in ['0', '0%'])",message="cannot be 0 beside maxSurge 0, since no pod could ever be replaced",fieldPath=".maxUnavailable"
// +kubebuilder:validation:XValidation:rule="(has(self.progressDeadlineSeconds) ? self.progressDeadlineSeconds : 600) > (has(self.minReadySeconds) ? self.minReadySeconds : 0)",message="must be above minReadySeconds (600 where it is missing)",fieldPath=".progressDeadlineSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Recreate' || !has(self.maxUnavailable)",message="has no meaning for the type Recreate",fieldPath=".maxUnavailable",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'Recreate' || !has(self.maxSurge)",message="has no meaning for the type Recreate",fieldPath=".maxSurge",reason=FieldValueForbidden
type RolloutSpec struct {
	// type is RollingUpdate or Recreate, which ends all old pods first. Default: RollingUpdate.
	// +optional
	Type RolloutType `json:"type,omitempty"`

	// maxUnavailable is how many pods may be missing during a rolling update, as a number or a percentage (rounded down).
	// Default: 0; 1 where maxSurge is 0.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// maxSurge is how many pods there may be above spec.size during a rolling update, as a number or a percentage (rounded
	// up). Default: 25%.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// minReadySeconds is how long a new pod must be ready before it counts as available, from 0 to 3600. Default: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`

	// progressDeadlineSeconds is how long a rollout may go on without progress before it counts as failed, from 1 to 86400
	// and more than minReadySeconds. Default: 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`

	// revisionHistoryLimit is how many old ReplicaSets are kept, from 0 to 100. Default: 5.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`

	// restartOnConfigChange rolls the pods when the data changes that envs, envFrom and mounts take from ConfigMaps, and
	// from Secrets where the operator may watch them (--restart-on-secret-change). Switching it on or off rolls the pods
	// once. Default: false.
	// +optional
	RestartOnConfigChange bool `json:"restartOnConfigChange,omitempty"`
}
