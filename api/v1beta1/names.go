package v1beta1

// Names that are part of the contract with users and with other controllers; none of them may ever change.
const (
	// OperatorName is the field owner of everything the operator applies, the value of the managed-by label and the
	// prefix of its user agent.
	OperatorName = "myapp-operator"

	// LabelName and LabelManagedBy together are the selector of the Deployment, the Service and status.selector.
	// A Deployment's selector is immutable, so these two keys and their values are fixed for ever.
	LabelName      = "app.kubernetes.io/name"
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelInstance is set on every child and every pod and is reserved like the selector labels.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelApp is set on pods for people's convenience; spec.podLabels may override it.
	LabelApp = "app"

	// AnnotationPaused with the value "true" on a MyApp stops all writes to its children.
	AnnotationPaused = "app.ydzs.io/paused"
	// AnnotationAdopt with the value "true" on an object that is not ours allows the MyApp of that name to take it over.
	AnnotationAdopt = "app.ydzs.io/adopt"
	// AnnotationOwnerUID on a child holds the UID of its MyApp while deletionPolicy is Orphan and no owner reference is set.
	AnnotationOwnerUID = "app.ydzs.io/owner-uid"

	// AnnotationConfigHash on pods changes when configuration data does that they must be restarted for.
	AnnotationConfigHash = "app.ydzs.io/config-hash"
	// AnnotationConfigVersions on a Deployment holds the versions of the ConfigMaps and Secrets behind that hash.
	AnnotationConfigVersions = "app.ydzs.io/config-versions"

	// Finalizer holds a deleted MyApp until its ordered teardown (deletionPolicy Drain) has ended.
	Finalizer = "app.ydzs.io/teardown"
)

// IsReservedLabel tells whether the operator alone sets this label key on pods.
func IsReservedLabel(key string) bool {
	return key == LabelName || key == LabelManagedBy || key == LabelInstance
}

// SelectorLabels returns the labels that select exactly the pods of the MyApp of this name.
func SelectorLabels(name string) map[string]string {
	return map[string]string{LabelName: name, LabelManagedBy: OperatorName}
}

// IsPaused tells whether the MyApp asks for no writes to its children.
func (a *MyApp) IsPaused() bool { return a.Annotations[AnnotationPaused] == "true" }
