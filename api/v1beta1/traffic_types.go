package v1beta1

// IngressSpec leads traffic for one host and path from outside the cluster to a port of the Service.
type IngressSpec struct {
	// host is the DNS name that the traffic asks for, as shop.example.com; *.example.com stands for all names one level
	// below example.com. An IP address is none. At most 253 characters. A change touches the Ingress and its certificate, never the pods.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]+[.]){3}[0-9]+$')",message="must be a DNS name, not an IP address"
	Host string `json:"host"`

	// path is the beginning of the URL path, or with pathType Exact the whole path. It starts with '/'. At most 1024
	// characters. Default: /.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^\s"'{};\\$]*$`
	Path string `json:"path,omitempty"`

	// pathType is Prefix, Exact or ImplementationSpecific. Default: Prefix.
	// +optional
	// +kubebuilder:validation:Enum=Prefix;Exact;ImplementationSpecific
	PathType string `json:"pathType,omitempty"`

	// className names the IngressClass, that is, which ingress controller serves the host. Default: the cluster's default
	// class. A class once set stays when the field is removed. At most 253 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// port is the number of the entry of spec.ports that the traffic goes to; it must be a TCP one. Default: the first TCP
	// entry.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// annotations are added to the Ingress. Only keys under the prefixes that the operator was started with are allowed
	// (--ingress-annotation-prefixes); those that inject configuration, authentication or rewrites only where the
	// administrator named them. At most 50.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Annotations map[string]string `json:"annotations,omitempty"`

	// tls encrypts the traffic. Default: none.
	// +optional
	TLS *IngressTLS `json:"tls,omitempty"`
}

// IngressTLS says where the certificate of an Ingress comes from.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretName) || has(self.issuerRef)",message="needs secretName, issuerRef or both"
type IngressTLS struct {
	// secretName is the Secret of this namespace, of type kubernetes.io/tls, that holds the certificate. With issuerRef it
	// is where cert-manager puts it. At most 253 characters. Default with issuerRef: the MyApp's name with "-tls".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName,omitempty"`

	// issuerRef lets cert-manager issue the certificate for the host and renew it. It needs cert-manager in the cluster.
	// +optional
	IssuerRef *IssuerReference `json:"issuerRef,omitempty"`
}

// IssuerReference names an issuer of cert-manager.
type IssuerReference struct {
	// name of the issuer. At most 253 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// kind is Issuer, for one of this namespace, or ClusterIssuer. Default: Issuer.
	// +optional
	// +kubebuilder:validation:Enum=Issuer;ClusterIssuer
	Kind string `json:"kind,omitempty"`
}

// MetricsSpec lets the Prometheus operator scrape the pods, through a ServiceMonitor.
type MetricsSpec struct {
	// port is the number of the entry of spec.ports that serves the metrics; it must be a TCP one. Default: the first TCP
	// entry.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// path of the metrics. It starts with '/'. At most 1024 characters. Default: /metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/\S*$`
	Path string `json:"path,omitempty"`

	// interval between two scrapes, as 30s or 1m30s. Default: that of the Prometheus.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^(([0-9]{1,6})h)?(([0-9]{1,6})m)?(([0-9]{1,6})s)?$`
	// +kubebuilder:validation:XValidation:rule="self.matches('[1-9]')",message="must be longer than 0, as 30s or 1m30s"
	Interval string `json:"interval,omitempty"`
}
