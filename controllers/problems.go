package controllers

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
	"ydzs.io/myapp-operator/controllers/desired"
)

// errGone stops a pass: the MyApp turned out to be deleted, or to be deleting, and the watch has yet to say so.
var errGone = errors.New("the MyApp is gone or going")

// errStarting: the API of a kind has just been installed, and its objects are being listed.
var errStarting = errors.New("the operator has yet to see what there is of this kind")

// blockedError: an object that is not ours has the name of a child.
type blockedError struct {
	reason, message string
	// lookAgain is when to ask about the object again; zero when its watch tells us.
	lookAgain time.Time
}

func (e *blockedError) Error() string { return e.message }

// problem is an error made ready for people and for the queue.
type problem struct {
	// kind is the kind of the object that the problem is about.
	kind string
	// reason and message go into the conditions; a problem without a reason mends itself and is not shown.
	reason, message string
	// head, when set, stands before the message and is all of it that has to stay the same: the rest is kept as it was
	// first told while the reason lasts.
	head string
	// permanent: nothing is tried again until the spec changes.
	permanent bool
	// after, when set, is when to try again; otherwise it is tried again with a growing delay.
	after time.Duration
	err   error
}

// trouble is the problem as it is told.
func (p problem) trouble() trouble {
	if p.head == "" {
		return trouble{p.reason, p.message, ""}
	}
	return trouble{p.reason, p.head, p.message}
}

// terminatingRetry is when to look again at a MyApp in a namespace that is being deleted: the MyApp goes with it.
const terminatingRetry = time.Minute

// conflictRetry is when to try again after another writer was faster: the cache needs a moment to show what it wrote.
const conflictRetry = 500 * time.Millisecond

// classify is the one place that says what an error means: for the user, and for when to try again.
func classify(kind string, app *v1beta1.MyApp, err error, now time.Time) problem {
	p := problem{kind: kind, err: err, message: err.Error()}
	var blocked *blockedError
	var absent *absentError
	switch {
	case errors.Is(err, errStarting), meta.IsNoMatchError(err):
		p.after = conflictRetry
	case errors.As(err, &absent):
		p.reason, p.permanent = v1beta1.ReasonAPINotInstalled, true
	case errors.As(err, &blocked):
		p.reason, p.after = blocked.reason, blocked.lookAgain.Sub(now)
		p.permanent = blocked.lookAgain.IsZero()
	default:
		p.answered(kind, app)
	}
	return p
}

// answered says what the API server's answer means.
func (p *problem) answered(kind string, app *v1beta1.MyApp) {
	err := p.err
	switch {
	case isPolicyDenial(err):
		p.reason, p.head = v1beta1.ReasonPolicyDenied, "a policy of the cluster refuses the "+kind
	case isNodePortTaken(err):
		p.reason, p.message = v1beta1.ReasonNodePortAllocated, causes(kind, app, err)
	case isRefusal(err):
		p.reason, p.message, p.permanent = v1beta1.ReasonInvalidSpec, causes(kind, app, err), true
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		p.after = conflictRetry
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		p.reason, p.after = v1beta1.ReasonNamespaceTerminating, terminatingRetry
		p.message = "the namespace is being deleted and takes no new objects"
	case apierrors.IsForbidden(err):
		p.reason = v1beta1.ReasonForbidden
		if strings.Contains(err.Error(), "exceeded quota") {
			p.reason, p.head = v1beta1.ReasonQuotaExceeded, "a ResourceQuota leaves no room for the "+kind
		}
	case isServerFault(err):
		p.reason, p.head = v1beta1.ReasonReconcileError, "the API server fails on the "+kind
	}
}

// invalid is the problem of a spec that no child can carry whole.
func invalid(wrong []string) problem {
	return problem{kind: v1beta1.Kind.Kind, reason: v1beta1.ReasonInvalidSpec, message: strings.Join(wrong, "; "), permanent: true}
}

// isRefusal tells whether the API server will refuse this very object every time. A duplicate key in a keyed list is found
// before validation and reported as a plain failure to parse.
func isRefusal(err error) bool {
	if isPolicyDenial(err) || isNodePortTaken(err) {
		return false
	}
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		strings.Contains(err.Error(), typedPatchFailure)
}

// isPolicyDenial tells whether somebody's admission policy said no. It may answer with any code, the one of an invalid
// object among them, and may say yes a minute later to the same object.
func isPolicyDenial(err error) bool {
	message := err.Error()
	return strings.Contains(message, "admission webhook ") && strings.Contains(message, "denied the request") ||
		strings.Contains(message, "ValidatingAdmissionPolicy ")
}

const typedPatchFailure = "failed to create typed patch object"

func isNodePortTaken(err error) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "provided port is already allocated")
}

// isServerFault tells whether the API server answered and failed, for example in somebody's webhook. What is merely slow,
// overloaded or out of reach is tried again and not shown: it says nothing about the MyApp.
func isServerFault(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsTooManyRequests(err) && !apierrors.IsServerTimeout(err) &&
		!apierrors.IsTimeout(err) && !apierrors.IsServiceUnavailable(err)
}

// duplicateKey finds the list in the message of a failed conversion, as in
// `.spec.ports: duplicate entries for key [port=80,protocol="TCP"]`.
var duplicateKey = regexp.MustCompile(`\.([A-Za-z0-9.\[\]]+): (duplicate entries for key \[[^\]]*\])`)

// causes words a refusal with the paths of the MyApp's own fields.
func causes(kind string, app *v1beta1.MyApp, err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil && len(status.Status().Details.Causes) > 0 {
		var all []string
		for _, c := range status.Status().Details.Causes {
			all = append(all, cause(kind, app, c))
		}
		return strings.Join(all, "; ")
	}
	if m := duplicateKey.FindStringSubmatch(err.Error()); m != nil {
		return desired.SpecPath(kind, m[1], app) + ": " + m[2]
	}
	return err.Error()
}

func cause(kind string, app *v1beta1.MyApp, c metav1.StatusCause) string {
	if c.Field == "" {
		return c.Message
	}
	return desired.SpecPath(kind, c.Field, app) + ": " + c.Message
}

// retry is the one place that turns problems into what the queue does next. An error makes the delay grow with each try;
// a problem that says when to look again is not an error; a permanent one asks for nothing. wake is another reason to
// come back, zero for none.
func retry(problems []problem, wake time.Duration) (reconcile.Result, error) {
	var failures []error
	for _, p := range problems {
		switch {
		case p.permanent:
		case p.after > 0:
			wake = earliest(wake, p.after)
		default:
			failures = append(failures, p.err)
		}
	}
	if len(failures) > 0 {
		return reconcile.Result{}, errors.Join(failures...)
	}
	return reconcile.Result{RequeueAfter: wake}, nil
}

// earliest returns the shorter of two delays, where zero or less is none.
func earliest(a, b time.Duration) time.Duration {
	if a <= 0 || (b > 0 && b < a) {
		return b
	}
	return a
}

func foreign(kind, name string, lookAgain time.Time) *blockedError {
	return &blockedError{
		reason: v1beta1.ReasonForeignObject,
		message: fmt.Sprintf("a %s named %q exists and belongs to somebody else; delete it, or annotate it with %s=true to have it taken over",
			kind, name, v1beta1.AnnotationAdopt),
		lookAgain: lookAgain,
	}
}
