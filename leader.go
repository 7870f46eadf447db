package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"ydzs.io/myapp-operator/api/v1beta1"
)

// Leader election alone does not keep a replica from writing that was frozen while it led: when it wakes, it goes on with
// whatever it was about to send and only then learns that another leads. So every write passes a fence that closes by
// itself, without anybody having to notice anything.

// errFenced is the error of a write that a replica without a fresh Lease tried.
var errFenced = errors.New("this replica has not renewed its Lease in time and must not write")

// fence lets writes pass for as long as the last renewal of the Lease is fresh.
type fence struct {
	deadline time.Duration
	// renewed is when the last successful renewal was sent, on the monotonic clock; nil before the first and after release.
	renewed atomic.Pointer[time.Time]
	now     func() time.Time
}

func newFence(deadline time.Duration) *fence { return &fence{deadline: deadline, now: time.Now} }

// open counts on both clocks: the monotonic one stands still while the machine is suspended, the other one can be set.
func (f *fence) open() bool {
	renewed := f.renewed.Load()
	if renewed == nil {
		return false
	}
	now := f.now()
	return now.Sub(*renewed) < f.deadline && now.Round(0).Sub(renewed.Round(0)) < f.deadline
}

// wrap is a transport.WrapperFunc.
func (f *fence) wrap(next http.RoundTripper) http.RoundTripper { return fencedTransport{f, next} }

type fencedTransport struct {
	fence *fence
	next  http.RoundTripper
}

// RoundTrip refuses a write through a closed fence. Reviews pass: they change nothing, and every replica needs them to
// authorize readers of its metrics.
func (t fencedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if mutates(req) && !t.fence.open() {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, errFenced
	}
	return t.next.RoundTrip(req)
}

func mutates(req *http.Request) bool {
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return !strings.HasPrefix(req.URL.Path, "/apis/authentication.k8s.io/") &&
		!strings.HasPrefix(req.URL.Path, "/apis/authorization.k8s.io/")
}

// fencedLock tells the fence of every renewal.
type fencedLock struct {
	resourcelock.Interface
	fence *fence
}

// Create creates the Lease.
func (l fencedLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.held(r, func() error { return l.Interface.Create(ctx, r) })
}

// Update renews, takes over or releases the Lease.
func (l fencedLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.held(r, func() error { return l.Interface.Update(ctx, r) })
}

// held counts the time from before the request was sent: the others do not wait longer than that.
func (l fencedLock) held(r resourcelock.LeaderElectionRecord, write func() error) error {
	sent := l.fence.now()
	if r.HolderIdentity != l.Identity() {
		l.fence.renewed.Store(nil)
	}
	err := write()
	if err == nil && r.HolderIdentity == l.Identity() {
		l.fence.renewed.Store(&sent)
	}
	return err
}

// electLeader adds leader election to the manager's options and puts the fence around its writes. The Lease has a client of
// its own, so that a busy operator does not delay its renewal.
func electLeader(config *rest.Config, options *ctrl.Options, o options) error {
	namespace, err := o.leaseNamespace()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("name this replica: %w", err)
	}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, v1beta1.OperatorName,
		resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()}, rest.CopyConfig(config), o.renewDeadline)
	if err != nil {
		return fmt.Errorf("make the Lease's lock: %w", err)
	}
	fence := newFence(o.renewDeadline)
	config.Wrap(fence.wrap)
	options.LeaderElection = true
	options.LeaderElectionReleaseOnCancel = true
	options.LeaderElectionResourceLockInterface = fencedLock{lock, fence}
	options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &o.leaseDuration, &o.renewDeadline, &o.retryPeriod
	return nil
}

const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// leaseNamespace is where the Lease is kept.
func (o *options) leaseNamespace() (string, error) {
	if o.leaderElectionNamespace != "" {
		return o.leaderElectionNamespace, nil
	}
	raw, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", errors.New("--leader-election-namespace is needed outside a cluster")
	}
	return strings.TrimSpace(string(raw)), nil
}
