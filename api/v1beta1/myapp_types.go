package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MyApp describes one application: its image and size, the ports it serves, its environment and its resources. The
// operator keeps a Deployment and a Service of the same name exactly as the MyApp says and reports in the status whether
// the application runs and, where it does not, why.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=myapps,singular=myapp,shortName=ma,categories=all
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",optionalOldSelf=true,message="must be at most 63 characters, start with a lower case letter, go on with lower case letters, digits and '-' and not end with '-' (no dots): the Service carries this name",fieldPath=".metadata.name"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.status.endpoints[0].address`
type MyApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the application as it should be.
	// +required
	Spec MyAppSpec `json:"spec"`

	// status is the application as it was last seen. Only the operator writes it.
	// +optional
	Status MyAppStatus `json:"status,omitzero"`
}

// MyAppList is a list of MyApps.
//
// +kubebuilder:object:root=true
type MyAppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the MyApps.
	Items []MyApp `json:"items"`
}

// DeletionPolicy says what becomes of the children when the MyApp is deleted.
// +kubebuilder:validation:Enum=Delete;Drain;Orphan
type DeletionPolicy string

const (
	// DeletionPolicyDelete leaves the children to the garbage collector; nothing can hang when the operator is gone.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyDrain removes the children in order: the Service first, then the pods end, then the Deployment goes.
	DeletionPolicyDrain DeletionPolicy = "Drain"
	// DeletionPolicyOrphan keeps the children.
	DeletionPolicyOrphan DeletionPolicy = "Orphan"
)

// SecurityProfile is a set of rules that the pods are made to follow.
// +kubebuilder:validation:Enum=Baseline;Restricted
type SecurityProfile string

const (
	// SecurityProfileBaseline: seccomp RuntimeDefault and no privilege escalation; a stock image still starts.
	SecurityProfileBaseline SecurityProfile = "Baseline"
	// SecurityProfileRestricted: the Pod Security Standard "restricted", and a read-only root filesystem with a writable /tmp.
	SecurityProfileRestricted SecurityProfile = "Restricted"
)

// MyAppSpec is the application as it should be.
//
// +kubebuilder:validation:XValidation:rule="!has(self.service) || (has(self.ports) && size(self.ports) > 0)",message="needs ports: without ports there is no Service",fieldPath=".service",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.ingress) || (has(self.ports) && self.ports.exists(p, !has(p.protocol) || p.protocol in ["", "TCP"]))`,message="needs a TCP entry in spec.ports to lead the traffic to",fieldPath=".ingress",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.metrics) || (has(self.ports) && self.ports.exists(p, !has(p.protocol) || p.protocol in ["", "TCP"]))`,message="needs a TCP entry in spec.ports that serves the metrics",fieldPath=".metrics",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.podLabels) || !('app.kubernetes.io/name' in self.podLabels)",message="is set by the operator alone, since Deployment and Service select by it",fieldPath=".podLabels['app.kubernetes.io/name']",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.podLabels) || !('app.kubernetes.io/managed-by' in self.podLabels)",message="is set by the operator alone, since Deployment and Service select by it",fieldPath=".podLabels['app.kubernetes.io/managed-by']",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.podLabels) || !('app.kubernetes.io/instance' in self.podLabels)",message="is set by the operator alone, since Deployment and Service select by it",fieldPath=".podLabels['app.kubernetes.io/instance']",reason=FieldValueForbidden
type MyAppSpec struct {
	// size is the number of pods, from 0 to 5000. 0 stops the application and keeps everything else. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	Size *int32 `json:"size,omitempty"`

	// image is the OCI reference of the container image, for example registry.example.com:5000/team/web:1.4 or one with a
	// digest. It is passed on byte for byte. At most 1024 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image"`

	// imagePullPolicy says when a node pulls the image: Always, IfNotPresent or Never. Default: Always when the image has
	// no tag or the tag latest, and no digest; otherwise IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets name Secrets of this namespace that hold registry credentials. At most 20.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// command replaces the image's entrypoint. $(VAR) is expanded from envs. At most 100 items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=32768
	Command []string `json:"command,omitempty"`

	// args replace the image's default arguments. $(VAR) is expanded from envs. At most 200 items.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=32768
	Args []string `json:"args,omitempty"`

	// envs are the environment variables, in this order: a later one may refer to an earlier one as $(NAME). Values are
	// strings; quote numbers and booleans. At most 200.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=200
	Envs []corev1.EnvVar `json:"envs,omitempty"`

	// envFrom imports all keys of ConfigMaps or Secrets of this namespace as environment variables; envs win over it. At most 50.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// ports are the ports of the Service; the container ports follow from them. A targetPort is a number, by default the
	// port itself. Each pair of port and protocol (TCP when missing) may appear once; missing names of several ports are
	// made up. Without ports there is no Service. At most 100.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Ports []corev1.ServicePort `json:"ports,omitempty"`

	// service holds further settings of the Service. It needs ports.
	// +optional
	Service *ServiceSpec `json:"service,omitempty"`

	// resources are the compute resources of the container. Default: none, which admission warns about.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// probes tell the node when the container works. Default: none.
	// +optional
	Probes *Probes `json:"probes,omitempty"`

	// mounts put files into the container: ConfigMaps, Secrets, empty directories and claims. Their order has no meaning. At
	// most 50. A change rolls the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Mounts []Mount `json:"mounts,omitempty"`

	// ingress leads traffic from outside the cluster to a port. It needs a TCP port. Default: none.
	// +optional
	Ingress *IngressSpec `json:"ingress,omitempty"`

	// autoscaling lets a HorizontalPodAutoscaler choose the number of pods. Default: none, spec.size counts.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// podDisruptionBudget bounds how many pods a drained node may take away at once. Default: one, when at least 2 pods are
	// guaranteed.
	// +optional
	PodDisruptionBudget *PodDisruptionBudgetSpec `json:"podDisruptionBudget,omitempty"`

	// scheduling says on which nodes the pods may run. Default: anywhere, spread over zones and nodes as far as possible.
	// +optional
	Scheduling *SchedulingSpec `json:"scheduling,omitempty"`

	// rollout says how a change reaches the pods. Default: a rolling update that never has fewer pods than spec.size.
	// +optional
	Rollout *RolloutSpec `json:"rollout,omitempty"`

	// metrics lets the Prometheus operator scrape the pods. It needs a TCP port, and the Prometheus operator in the
	// cluster. Default: none.
	// +optional
	Metrics *MetricsSpec `json:"metrics,omitempty"`

	// serviceAccountName is the ServiceAccount the pods run as. Its token is mounted only when this field is set.
	// Default: the namespace's "default" account, without its token.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// securityProfile is the set of rules that the pods follow where the security contexts below say nothing: Baseline
	// (seccomp RuntimeDefault, no privilege escalation) or Restricted (the Pod Security Standard "restricted", read-only
	// root filesystem with a writable /tmp). Default: Baseline, unless the operator was started with another default.
	// +optional
	SecurityProfile SecurityProfile `json:"securityProfile,omitempty"`

	// podSecurityContext is merged over the profile's pod security context, field by field.
	// +optional
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`

	// securityContext is merged over the profile's container security context, field by field. A privileged container and
	// whatever the Pod Security Standard "baseline" forbids are refused.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// podLabels are added to the pods. app.kubernetes.io/name, app.kubernetes.io/managed-by and app.kubernetes.io/instance
	// are reserved. At most 50. A change rolls the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// podAnnotations are added to the pods. Keys under app.ydzs.io/ are reserved. At most 50. A change rolls the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// shutdownDelaySeconds is how long a pod that is to end keeps serving, so that everybody who still sends it traffic
	// learns of its end first. It is added to the grace period. 0 to 300. Default: 5 when there are ports, else 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=300
	ShutdownDelaySeconds *int64 `json:"shutdownDelaySeconds,omitempty"`

	// terminationGracePeriodSeconds is how long the container may take to end after its stop signal, before it is killed.
	// 0 to 86400. Default: 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// deletionPolicy says what becomes of the children when the MyApp is deleted: Delete leaves them to the garbage
	// collector; Drain removes them in order through a finalizer, what brings traffic first, then the pods; Orphan keeps them.
	// Default: Delete.
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// ServiceSpec holds settings of the Service besides its ports.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.type) || self.type != "LoadBalancer" || !has(oldSelf.type) || oldSelf.type != "LoadBalancer" || (has(self.loadBalancerClass) ? self.loadBalancerClass : "") == (has(oldSelf.loadBalancerClass) ? oldSelf.loadBalancerClass : "")`,message="cannot change while the type stays LoadBalancer",fieldPath=".loadBalancerClass"
type ServiceSpec struct {
	// type is ClusterIP, NodePort or LoadBalancer. Default: ClusterIP when there is an ingress and no port pins a nodePort,
	// else NodePort.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// annotations are added to the Service. Only keys under the prefixes that the operator was started with are allowed
	// (--service-annotation-prefixes; none by default). At most 50.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Annotations map[string]string `json:"annotations,omitempty"`

	// externalTrafficPolicy is Cluster or Local, for the types NodePort and LoadBalancer; without effect for ClusterIP, so that
	// the type can be switched alone. Default: Cluster.
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`

	// internalTrafficPolicy is Cluster or Local. Default: Cluster.
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	InternalTrafficPolicy corev1.ServiceInternalTrafficPolicy `json:"internalTrafficPolicy,omitempty"`

	// loadBalancerClass selects an implementation, for the type LoadBalancer, and cannot change while that stays; without
	// effect for the other types.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	LoadBalancerClass string `json:"loadBalancerClass,omitempty"`

	// sessionAffinity is None or ClientIP. Default: None.
	// +optional
	// +kubebuilder:validation:Enum=None;ClientIP
	SessionAffinity corev1.ServiceAffinity `json:"sessionAffinity,omitempty"`
}

// Probes tell the node when the container works. A port may be a number or the name of an entry of spec.ports.
type Probes struct {
	// liveness restarts the container when it fails.
	// +optional
	Liveness *corev1.Probe `json:"liveness,omitempty"`
	// readiness takes the pod out of the Service while it fails.
	// +optional
	Readiness *corev1.Probe `json:"readiness,omitempty"`
	// startup holds the other two back until it has succeeded once.
	// +optional
	Startup *corev1.Probe `json:"startup,omitempty"`
}

// MyAppStatus is the application as it was last seen.
type MyAppStatus struct {
	// observedGeneration is the metadata.generation that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of pods, as the Deployment counts them.
	// +optional
	Replicas int32 `json:"replicas"`

	// updatedReplicas is the number of pods that run the current spec.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// readyReplicas is the number of ready pods. A pod in a crash loop is not counted between two crashes.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// availableReplicas is the number of available pods. A pod in a crash loop is not counted between two crashes.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// unavailableReplicas is the number of pods still missing or not available.
	// +optional
	UnavailableReplicas int32 `json:"unavailableReplicas"`

	// selector selects exactly the pods of this MyApp, as a string, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Selector string `json:"selector,omitempty"`

	// nodes are the names of the pods, sorted; the first 100.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	Nodes []string `json:"nodes,omitempty"`

	// endpoints are the addresses the application answers on. At most 400.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=400
	Endpoints []Endpoint `json:"endpoints,omitempty"`

	// conditions are Ready, Available, Progressing and Degraded.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Endpoint is one address the application answers on.
type Endpoint struct {
	// type is Ingress, LoadBalancer, NodePort or ClusterIP.
	// +required
	// +kubebuilder:validation:MaxLength=32
	Type string `json:"type"`

	// address is a URL, IP:PORT, HOST:PORT, or :PORT on every node.
	// +required
	// +kubebuilder:validation:MaxLength=1300
	Address string `json:"address"`
}
