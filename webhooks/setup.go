package webhooks

import (
	"errors"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Mutating ignores failures, since the reconciler sets the same defaults in memory; validating does not, since nothing
// would say no in its place. The rules name our resource alone: a wider scope could stop a cluster from starting.
//
// +kubebuilder:webhook:name=mmyapp.app.ydzs.io,path=/mutate-app-ydzs-io-v1beta1-myapp,mutating=true,failurePolicy=ignore,groups=app.ydzs.io,versions=v1beta1,resources=myapps,verbs=create;update,sideEffects=None,matchPolicy=Equivalent,timeoutSeconds=5,admissionReviewVersions=v1
// +kubebuilder:webhook:name=vmyapp.app.ydzs.io,path=/validate-app-ydzs-io-v1beta1-myapp,mutating=false,failurePolicy=fail,groups=app.ydzs.io,versions=v1beta1,resources=myapps,verbs=create;update,sideEffects=None,matchPolicy=Equivalent,timeoutSeconds=5,admissionReviewVersions=v1

const (
	mutatePath   = "/mutate-app-ydzs-io-v1beta1-myapp"
	validatePath = "/validate-app-ydzs-io-v1beta1-myapp"
)

// Options are the operator's own settings that admission depends on.
type Options struct {
	// ServiceAnnotationPrefixes are the prefixes of keys that spec.service.annotations may use. None by default: many
	// controllers take orders from Service annotations, so an administrator has to open each family on purpose.
	ServiceAnnotationPrefixes []string
	// IngressAnnotationPrefixes are those of spec.ingress.annotations; v1beta1.RefuseIngressAnnotation says how they count.
	IngressAnnotationPrefixes []string
	// DisabledChildren are the kinds of children that the operator makes for nobody, in lower case.
	DisabledChildren []string
	// DefaultSecurityProfile is the profile of MyApps that name none. Empty means Baseline.
	DefaultSecurityProfile v1beta1.SecurityProfile
}

// check finds settings that would silently open or close more than they say.
func (o Options) check() error {
	// Every key has the empty prefix.
	if slices.Contains(o.ServiceAnnotationPrefixes, "") {
		return errors.New("an allowed prefix of Service annotations is empty")
	}
	if slices.Contains(o.IngressAnnotationPrefixes, "") {
		return errors.New("an allowed prefix of Ingress annotations is empty")
	}
	switch o.DefaultSecurityProfile {
	case "", v1beta1.SecurityProfileBaseline, v1beta1.SecurityProfileRestricted:
		return nil
	default:
		return fmt.Errorf("the default security profile %q is neither %s nor %s",
			o.DefaultSecurityProfile, v1beta1.SecurityProfileBaseline, v1beta1.SecurityProfileRestricted)
	}
}

// Setup registers both webhooks on the manager's webhook server.
func Setup(mgr ctrl.Manager, opts Options) error {
	if err := opts.check(); err != nil {
		return fmt.Errorf("set up webhooks: %w", err)
	}
	scheme, server := mgr.GetScheme(), mgr.GetWebhookServer()
	server.Register(mutatePath, &admission.Webhook{Handler: &mutator{decoder: admission.NewDecoder(scheme)}})
	server.Register(validatePath, admission.WithValidator(scheme, &validator{opts: opts}))
	return nil
}
