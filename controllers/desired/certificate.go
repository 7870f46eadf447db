package desired

import (
	"cmp"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	certmanagerv1ac "github.com/cert-manager/cert-manager/pkg/client/applyconfigurations/certmanager/v1"
	certmetav1ac "github.com/cert-manager/cert-manager/pkg/client/applyconfigurations/meta/v1"
)

// +kubebuilder:rbac:groups=cert-manager.io,resources=certificates,verbs=get;list;watch;create;patch;delete

// Certificate builds the certificate of the Ingress; nil unless cert-manager is to issue one.
func Certificate(in Input, _ *certmanagerv1.Certificate) *certmanagerv1ac.CertificateApplyConfiguration {
	app, ingress := in.App, in.App.Spec.Ingress
	if ingress == nil || ingress.TLS == nil || ingress.TLS.IssuerRef == nil {
		return nil
	}
	issuer := ingress.TLS.IssuerRef
	c := certmanagerv1ac.Certificate(app.Name, app.Namespace).
		WithLabels(in.labels()).
		WithAnnotations(in.annotations(nil)).
		WithSpec(certmanagerv1ac.CertificateSpec().
			WithSecretName(tlsSecret(app)).
			WithDNSNames(ingress.Host).
			WithIssuerRef(certmetav1ac.IssuerReference().
				WithName(issuer.Name).
				WithKind(cmp.Or(issuer.Kind, certmanagerv1.IssuerKind)).
				WithGroup(certmanagerv1.SchemeGroupVersion.Group)))
	if owner := in.owner(); owner != nil {
		c.WithOwnerReferences(owner)
	}
	return c
}
