package v1beta1

// Condition types of a MyApp. docs/myapp.md holds the table of their values in every state.
const (
	// ConditionReady is True when the application runs as the spec says, or with enough pods while it is only being scaled.
	ConditionReady = "Ready"
	// ConditionAvailable is True when enough pods serve, whatever their version, or when none is asked for.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while something is still on its way to the state that the spec asks for.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is True when something is wrong that will not mend by waiting alone.
	ConditionDegraded = "Degraded"
)

// Reasons of conditions. A reason is stable: alerts and scripts may match on it.
const (
	// ReasonRolledOut: every pod runs the current spec and is available.
	ReasonRolledOut = "RolledOut"
	// ReasonScaledToZero: size is 0 and no pod is left.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonProgressing: a rollout is under way.
	ReasonProgressing = "Progressing"
	// ReasonScaling: the pod template is unchanged and enough pods serve; only their number is changing.
	ReasonScaling = "Scaling"
	// ReasonPaused: the annotation app.ydzs.io/paused stops all writes to the children.
	ReasonPaused = "Paused"
	// ReasonAsExpected: nothing is wrong (Degraded=False).
	ReasonAsExpected = "AsExpected"
	// ReasonMinimumAvailable and ReasonMinimumUnavailable: Available, as counted.
	ReasonMinimumAvailable   = "MinimumAvailable"
	ReasonMinimumUnavailable = "MinimumUnavailable"
	// ReasonDraining: the MyApp is being deleted in order.
	ReasonDraining = "Draining"
	// ReasonDrainTimedOut: a step of the ordered deletion did not end in time and was skipped.
	ReasonDrainTimedOut = "DrainTimedOut"
	// ReasonProgressDeadlineExceeded: the rollout made no progress within the Deployment's deadline.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"

	// ReasonInvalidSpec: the API server refuses what the spec asks for; nothing is retried until the spec changes.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonForeignObject: an object of this name that belongs to somebody else is in the way.
	ReasonForeignObject = "ForeignObject"
	// ReasonSelectorDiffers: a Deployment that may be adopted has another selector, which is immutable.
	ReasonSelectorDiffers = "SelectorDiffers"
	// ReasonForbidden: the API server denies the operator a call.
	ReasonForbidden = "Forbidden"
	// ReasonQuotaExceeded: a ResourceQuota leaves no room for a child or a pod.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonPolicyDenied: an admission policy of the cluster refuses a child.
	ReasonPolicyDenied = "PolicyDenied"
	// ReasonNodePortAllocated: another Service holds the node port.
	ReasonNodePortAllocated = "NodePortAllocated"
	// ReasonNamespaceTerminating: the namespace is being deleted and takes no new objects.
	ReasonNamespaceTerminating = "NamespaceTerminating"
	// ReasonChildDeleting: a child is being deleted by somebody else and will be made again once it is gone.
	ReasonChildDeleting = "ChildDeleting"
	// ReasonAPINotInstalled: the spec asks for a kind that the cluster does not have, as a Certificate without cert-manager.
	ReasonAPINotInstalled = "APINotInstalled"
	// ReasonTwoAutoscalers: more than one autoscaler chooses the number of the pods.
	ReasonTwoAutoscalers = "TwoAutoscalers"
	// ReasonScalingInactive: the autoscaler cannot work; the message has its own words.
	ReasonScalingInactive = "ScalingInactive"
	// ReasonIngressNoClass: the Ingress has no class, so that no ingress controller serves it.
	ReasonIngressNoClass = "IngressNoClass"
	// ReasonIngressNoAddress: the ingress controller has not given the Ingress an address yet (Progressing=True).
	ReasonIngressNoAddress = "IngressNoAddress"
	// ReasonCertificateNotReady: cert-manager has not issued the certificate; Degraded=True when its last try failed.
	ReasonCertificateNotReady = "CertificateNotReady"
	// ReasonReconcileError: a call to the API server failed and is retried.
	ReasonReconcileError = "ReconcileError"

	// ReasonImagePullBackOff: a container's image cannot be pulled.
	ReasonImagePullBackOff = "ImagePullBackOff"
	// ReasonInvalidImageName: the node cannot parse a container's image reference.
	ReasonInvalidImageName = "InvalidImageName"
	// ReasonCrashLoopBackOff: a container ends again and again; the message has its exit code.
	ReasonCrashLoopBackOff = "CrashLoopBackOff"
	// ReasonContainerConfigError: a container cannot be created, most often for a missing Secret, ConfigMap or key.
	ReasonContainerConfigError = "CreateContainerConfigError"
	// ReasonContainerError: the node's container runtime cannot create or start a container.
	ReasonContainerError = "CreateContainerError"
	// ReasonUnschedulable: no node fits a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodSecurity: Pod Security admission refuses the pods.
	ReasonPodSecurity = "PodSecurityViolation"
	// ReasonFailedCreate: the pods are refused for another reason, given in the message.
	ReasonFailedCreate = "FailedCreate"
)

// Types of endpoints in status.endpoints.
const (
	// EndpointClusterIP is an address inside the cluster, as IP:PORT.
	EndpointClusterIP = "ClusterIP"
	// EndpointNodePort is a port on every node, as :PORT.
	EndpointNodePort = "NodePort"
	// EndpointIngress is the URL of an Ingress.
	EndpointIngress = "Ingress"
	// EndpointLoadBalancer is an address of a load balancer, as HOST:PORT.
	EndpointLoadBalancer = "LoadBalancer"
)
