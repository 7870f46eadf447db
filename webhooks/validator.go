package webhooks

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// validator answers with 422 and one cause per problem, which is what kubectl and other tools know how to show; a bare
// error would become 403.
type validator struct {
	opts Options
}

var _ admission.Validator[*v1beta1.MyApp] = &validator{}

// ValidateCreate judges a new MyApp.
func (v *validator) ValidateCreate(_ context.Context, app *v1beta1.MyApp) (admission.Warnings, error) {
	app = defaulted(app)
	errs := append(validateName(field.NewPath("metadata", "name"), app.Name), validate(app, v.opts)...)
	return warnings(app), invalid(app, errs)
}

// ValidateUpdate refuses only what the change makes worse. A MyApp that is being deleted passes, whatever it holds:
// taking its finalizer off is an update, and one refused would keep it for ever. Nothing else is let off: an update that
// takes a finalizer off a living MyApp is judged like any other.
func (v *validator) ValidateUpdate(_ context.Context, old, app *v1beta1.MyApp) (admission.Warnings, error) {
	if !app.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	old, app = defaulted(old), defaulted(app)
	introduced, kept := validateUpdate(old, app, v.opts)
	return append(warnings(app), keptWarnings(kept)...), invalid(app, introduced)
}

// ValidateDelete is never asked: the webhook's rules leave deletion out.
func (v *validator) ValidateDelete(context.Context, *v1beta1.MyApp) (admission.Warnings, error) {
	return nil, nil
}

// defaulted is needed although there is a mutating webhook: that one may be down.
func defaulted(app *v1beta1.MyApp) *v1beta1.MyApp {
	app = app.DeepCopy()
	v1beta1.SetDefaults(app)
	return app
}

func invalid(app *v1beta1.MyApp, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(v1beta1.Kind.GroupKind(), app.Name, errs)
}
