package controllers

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"ydzs.io/myapp-operator/api/v1beta1"
)

var (
	deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}
	services    = schema.GroupResource{Resource: "services"}
)

func refused(kind string, errs ...*field.Error) error {
	return fmt.Errorf("apply %s: %w", kind, apierrors.NewInvalid(schema.GroupKind{Kind: kind}, "shop", errs))
}

func denied(message string, causes ...metav1.StatusCause) error {
	err := apierrors.NewForbidden(services, "shop", errors.New(message))
	err.ErrStatus.Details.Causes = causes
	return fmt.Errorf("apply Service: %w", err)
}

// answered is an error without details, as the API server makes one of any Go error.
func answered(code int32, message string) error {
	return fmt.Errorf("apply Service: %w", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}})
}

func TestClassify(t *testing.T) {
	const env = "spec.template.spec.containers[0].env[1].name"
	soon := now.Add(2 * time.Minute)
	cases := []struct {
		name, kind string
		err        error
		want       problem
	}{
		{"E07 the name of a variable", "Deployment", refused("Deployment", field.Invalid(field.NewPath(env), "2fa", "must be a C_IDENTIFIER")),
			problem{reason: "InvalidSpec", permanent: true, message: `spec.envs[1].name: Invalid value: "2fa": must be a C_IDENTIFIER`}},
		{"T06 two causes", "Service", refused("Service", field.Invalid(field.NewPath("metadata.name"), "1st", "must start with a letter"), field.Required(field.NewPath("spec.ports[0].port"), "")),
			problem{reason: "InvalidSpec", permanent: true, message: `metadata.name: Invalid value: "1st": must start with a letter; spec.ports[0].port: Required value`}},
		{"node port taken", "Service", refused("Service", field.Invalid(field.NewPath("spec.ports[0].nodePort"), 30002, "provided port is already allocated")),
			problem{reason: "NodePortAllocated", message: "spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated"}},
		{"P02 a key twice", "Service", answered(500, `failed to create typed patch object (ns/x; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]`),
			problem{reason: "InvalidSpec", permanent: true, message: `spec.ports: duplicate entries for key [port=80,protocol="TCP"]`}},
		{"C08 a kind that the cluster has not", "Certificate", &absentError{kind{name: "Certificate", crd: "certificates.cert-manager.io"}},
			problem{reason: "APINotInstalled", permanent: true, message: "the cluster has no Certificate, which spec.ingress.tls.issuerRef asks for: " +
				"its CustomResourceDefinition certificates.cert-manager.io is not installed; install it or remove the field"}},
		{"C08 a kind that has just come", "Certificate", errStarting,
			problem{after: 500 * time.Millisecond, message: "the operator has yet to see what there is of this kind"}},
		{"bad request", "Service", apierrors.NewBadRequest("cannot be decoded"),
			problem{reason: "InvalidSpec", permanent: true, message: "cannot be decoded"}},
		{"too large", "Deployment", apierrors.NewRequestEntityTooLargeError("limit is 3145728"),
			problem{reason: "InvalidSpec", permanent: true, message: "Request entity too large: limit is 3145728"}},
		{"quota", "Service", denied("exceeded quota: small, requested: services=1"),
			problem{reason: "QuotaExceeded", head: "a ResourceQuota leaves no room for the Service", message: `apply Service: services "shop" is forbidden: exceeded quota: small, requested: services=1`}},
		{"F02 namespace terminating", "Service", denied("unable to create new content in namespace default because it is being terminated", metav1.StatusCause{Type: corev1.NamespaceTerminatingCause}),
			problem{reason: "NamespaceTerminating", after: time.Minute, message: "the namespace is being deleted and takes no new objects"}},
		{"forbidden", "Service", denied("User cannot patch"),
			problem{reason: "Forbidden", message: `apply Service: services "shop" is forbidden: User cannot patch`}},
		{"C05 conflict", "Deployment", apierrors.NewConflict(deployments, "shop", errors.New("uid")),
			problem{after: 500 * time.Millisecond, message: `Operation cannot be fulfilled on deployments.apps "shop": uid`}},
		{"C05 already exists", "Deployment", apierrors.NewAlreadyExists(deployments, "shop"),
			problem{after: 500 * time.Millisecond, message: `deployments.apps "shop" already exists`}},
		{"too many requests", "Service", apierrors.NewTooManyRequests("slow down", 1), problem{message: "slow down"}},
		{"unavailable", "Service", apierrors.NewServiceUnavailable("starting"), problem{message: "starting"}},
		{"time-out", "Service", apierrors.NewTimeoutError("too slow", 1), problem{message: "Timeout: too slow"}},
		{"server fault", "Service", apierrors.NewInternalError(errors.New("failed calling webhook")),
			problem{reason: "ReconcileError", head: "the API server fails on the Service", message: "Internal error occurred: failed calling webhook"}},
		{"a webhook says no, with the code of a bad request", "Service", answered(400, `admission webhook "images.example.com" denied the request: the image is not signed`),
			problem{reason: "PolicyDenied", head: "a policy of the cluster refuses the Service", message: `apply Service: admission webhook "images.example.com" denied the request: the image is not signed`}},
		{"a policy says no, with the code of an invalid object", "Service", answered(422, `services "shop" is forbidden: ValidatingAdmissionPolicy 'team' with binding 'team' denied request: no team`),
			problem{reason: "PolicyDenied", head: "a policy of the cluster refuses the Service", message: `apply Service: services "shop" is forbidden: ValidatingAdmissionPolicy 'team' with binding 'team' denied request: no team`}},
		{"network", "Service", &url.Error{Op: "Patch", URL: "https://10.0.0.1/", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}},
			problem{message: `Patch "https://10.0.0.1/": dial: connection refused`}},
		{"C03 foreign, not in the cache", "Service", foreign("Service", "shop", soon),
			problem{reason: "ForeignObject", after: 2 * time.Minute, message: `a Service named "shop" exists and belongs to somebody else; delete it, or annotate it with app.ydzs.io/adopt=true to have it taken over`}},
		{"C03 foreign, watched", "Service", foreign("Service", "shop", time.Time{}),
			problem{reason: "ForeignObject", permanent: true, message: `a Service named "shop" exists and belongs to somebody else; delete it, or annotate it with app.ydzs.io/adopt=true to have it taken over`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := classify(c.kind, myApp(t, "envs: [{name: A}, {name: 2fa}]"), c.err, now)
			if !errors.Is(got.err, c.err) {
				t.Errorf("the error is lost: %v", got.err)
			}
			got.err = nil
			if c.want.permanent {
				// When to look again says nothing about a problem that is not looked at again.
				got.after = 0
			}
			c.want.kind = c.kind
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(problem{})); diff != "" {
				t.Errorf("the condition, and when it is tried again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	permanent := problem{permanent: true, reason: "InvalidSpec", err: errors.New("permanent")}
	later := func(d time.Duration) problem { return problem{after: d, err: errors.New("later")} }
	backoff := problem{err: errors.New("back off")}
	cases := []struct {
		name     string
		problems []problem
		wake     time.Duration
		want     time.Duration
		fails    bool
	}{
		{"nothing", nil, 0, 0, false},
		{"woken for another reason", nil, time.Minute, time.Minute, false},
		{"T06 permanent: not before the spec changes", []problem{permanent, permanent}, 0, 0, false},
		{"T06 permanent, woken for another reason", []problem{permanent}, time.Minute, time.Minute, false},
		{"the earliest", []problem{later(time.Hour), permanent, later(time.Minute)}, 2 * time.Minute, time.Minute, false},
		{"the wake comes first", []problem{later(time.Hour)}, time.Minute, time.Minute, false},
		{"one backs off", []problem{later(time.Second), permanent, backoff}, time.Minute, 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			result, err := retry(c.problems, c.wake)
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: c.want}, result); diff != "" {
				t.Errorf("the MyApp is looked at again (-want +got):\n%s", diff)
			}
			if (err != nil) != c.fails {
				t.Errorf("error %v, want one: %v", err, c.fails)
			}
			if errors.Is(err, reconcile.TerminalError(nil)) {
				t.Error("a terminal error swallows the retry of all others")
			}
			if errors.Is(err, permanent.err) {
				t.Error("a permanent problem is retried with the others")
			}
		})
	}
}

func TestServerFaultsThatSayNothingAboutTheMyApp(t *testing.T) {
	for code, want := range map[int]bool{
		http.StatusInternalServerError: true, http.StatusNotFound: true, http.StatusTooManyRequests: false,
		http.StatusServiceUnavailable: false, http.StatusGatewayTimeout: false,
	} {
		err := apierrors.NewGenericServerResponse(code, "patch", services, "shop", "", 0, true)
		if got := isServerFault(fmt.Errorf("apply: %w", err)); got != want {
			t.Errorf("HTTP %d is shown: %v, want %v", code, got, want)
		}
	}
}

func TestEarliest(t *testing.T) {
	for _, c := range [][3]time.Duration{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {1, 2, 1}, {-1, 2, 2}, {2, -1, 2}} {
		if got := earliest(c[0], c[1]); got != c[2] {
			t.Errorf("earliest(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// What the API server said first stays while the reason lasts: the rest of it may tick.
func TestProblemsDoNotTick(t *testing.T) {
	app := myApp(t, "")
	told := func(used string) string {
		p := classify("Service", app, denied("exceeded quota: small, used: services="+used), now)
		next, _ := nextStatus(app, finding{problems: []problem{p}, now: now})
		app.Status = next
		return conditionOf(next, v1beta1.ConditionDegraded).Message
	}
	if first, second := told("3"), told("4"); first != second {
		t.Errorf("the condition ticks: %q, then %q", first, second)
	}
}
