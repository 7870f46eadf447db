// Package webhooks judges and completes MyApps at admission time. It is the only place that turns a mistake in a spec into
// a message for the person who made it.
//
// It imports the API types and nothing else of this module, and it holds no client: every answer follows from the request
// and the operator's flags alone, so that it is the same on every replica, leader or not, and from the first request on.
// It never looks another object up; whether a Secret exists or a node port is free is for the reconciler to report.
//
// Two adapters (mutate.go, validator.go) stand before pure functions: defaultingPatch, validate, validateUpdate, warnings.
// A rule returns a field.ErrorList; what it says about a value tells what is wrong and what to do. No rule puts an index
// into its detail and none shows the value of an environment variable: validateUpdate compares details, and messages end
// up in logs. What the CRD's schema can say is said there and not repeated here, since the schema holds when webhooks are
// down.
package webhooks
