package v1beta1

// Constant defaults. What depends on another field is not here but resolved in package desired on every reconcile, since
// a stored value would freeze when that other field changes.
const (
	// DefaultSize is the number of replicas when spec.size is missing. 0 is a value of its own.
	DefaultSize int32 = 1
	// DefaultTerminationGracePeriodSeconds is the Kubernetes default, written out so that it is visible.
	DefaultTerminationGracePeriodSeconds int64 = 30
)

// SetDefaults fills missing fields with constants. It is idempotent and never touches a list element: lists of a custom
// resource are atomic in a merge patch, so one default inside an element would make every second `kubectl apply` a write.
func SetDefaults(app *MyApp) {
	spec := &app.Spec
	if spec.Size == nil {
		size := DefaultSize
		spec.Size = &size
	}
	if spec.DeletionPolicy == "" {
		spec.DeletionPolicy = DeletionPolicyDelete
	}
	if spec.TerminationGracePeriodSeconds == nil {
		grace := DefaultTerminationGracePeriodSeconds
		spec.TerminationGracePeriodSeconds = &grace
	}
}
