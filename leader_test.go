package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fakeLock is a Lease that a replica of the given identity writes; during is called while the request is under way.
type fakeLock struct {
	resourcelock.Interface
	identity string
	err      error
	during   func()
}

func (l *fakeLock) Identity() string { return l.identity }

func (l *fakeLock) Create(context.Context, resourcelock.LeaderElectionRecord) error {
	if l.during != nil {
		l.during()
	}
	return l.err
}

func (l *fakeLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.Create(ctx, r)
}

// clockedFence is a fence with a deadline of 40 s, its lock and a clock that is moved by hand.
func clockedFence() (*fence, *fakeLock, fencedLock, func(time.Duration)) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	f := newFence(40 * time.Second)
	f.now = func() time.Time { return now }
	lock := &fakeLock{identity: "me"}
	return f, lock, fencedLock{lock, f}, func(d time.Duration) { now = now.Add(d) }
}

func held(by string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: by}
}

func TestC09FenceClosesByItself(t *testing.T) {
	f, lock, lease, pass := clockedFence()
	ctx := t.Context()
	if f.open() {
		t.Error("a replica that never led may write")
	}
	if err := lease.Create(ctx, held("me")); err != nil || !f.open() {
		t.Errorf("the new leader may not write: %v", err)
	}
	pass(40*time.Second - 1)
	if !f.open() {
		t.Error("the leader may not write within its deadline")
	}
	pass(1)
	if f.open() {
		t.Error("a leader that was frozen for its deadline may still write")
	}
	if err := lease.Update(ctx, held("me")); err != nil || !f.open() {
		t.Errorf("a renewal does not open the fence: %v", err)
	}
	lock.err = errors.New("no answer")
	pass(30 * time.Second)
	if err := lease.Update(ctx, held("me")); !errors.Is(err, lock.err) {
		t.Errorf("the failure of a renewal is swallowed: %v", err)
	}
	if !f.open() {
		t.Error("one failed renewal stops a leader whose Lease is still fresh")
	}
	pass(10 * time.Second)
	if f.open() {
		t.Error("a renewal that failed counts")
	}
}

func TestC09RenewalCountsFromBeforeTheRequest(t *testing.T) {
	f, lock, lease, pass := clockedFence()
	lock.during = func() { pass(39 * time.Second) }
	if err := lease.Update(t.Context(), held("me")); err != nil {
		t.Fatal(err)
	}
	pass(time.Second)
	if f.open() {
		t.Error("a slow renewal lets the old leader write while the next one already leads")
	}
}

func TestC10ReleaseClosesTheFence(t *testing.T) {
	f, lock, lease, _ := clockedFence()
	_ = lease.Update(t.Context(), held("me"))
	lock.during = func() {
		if f.open() {
			t.Error("writes pass while the Lease is being given up")
		}
	}
	if err := lease.Update(t.Context(), held("")); err != nil || f.open() {
		t.Errorf("after the release writes pass: %v", err)
	}
	_ = lease.Update(t.Context(), held("somebody else"))
	if f.open() {
		t.Error("the Lease of another opens the fence")
	}
}

type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error { b.closed = true; return nil }

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestFencedTransport(t *testing.T) {
	f, _, lease, _ := clockedFence()
	sent := 0
	rt := f.wrap(transport(func(*http.Request) (*http.Response, error) { sent++; return &http.Response{}, nil }))
	send := func(method, path string) (*body, error) {
		b := &body{Reader: strings.NewReader("{}")}
		req, err := http.NewRequest(method, "https://10.0.0.1"+path, b)
		if err != nil {
			t.Fatal(err)
		}
		_, err = rt.RoundTrip(req)
		return b, err
	}
	const deployment, review = "/apis/apps/v1/namespaces/a/deployments/shop", "/apis/authorization.k8s.io/v1/subjectaccessreviews"

	for _, allowed := range [][2]string{{http.MethodGet, deployment}, {http.MethodPost, review}} {
		if _, err := send(allowed[0], allowed[1]); err != nil {
			t.Errorf("a replica that stands by cannot %s %s: %v", allowed[0], allowed[1], err)
		}
	}
	b, err := send(http.MethodPatch, deployment)
	if !errors.Is(err, errFenced) || sent != 2 {
		t.Errorf("a replica that does not lead writes: %v, %d requests sent", err, sent)
	}
	if !b.closed {
		t.Error("the body of a refused request is never closed")
	}
	if req, _ := http.NewRequest(http.MethodDelete, "https://10.0.0.1"+deployment, nil); req != nil {
		if _, err := rt.RoundTrip(req); !errors.Is(err, errFenced) {
			t.Errorf("a delete without a body passes: %v", err)
		}
	}
	_ = lease.Update(t.Context(), held("me"))
	if _, err := send(http.MethodPatch, deployment); err != nil || sent != 3 {
		t.Errorf("the leader cannot write: %v", err)
	}
}

func TestMutates(t *testing.T) {
	cases := []struct {
		method, path string
		want         bool
	}{
		{http.MethodGet, "/api/v1/pods", false},
		{http.MethodHead, "/api/v1/pods", false},
		{http.MethodOptions, "/api/v1/pods", false},
		{http.MethodPost, "/api/v1/namespaces/a/services", true},
		{http.MethodPut, "/api/v1/namespaces/a/services/shop", true},
		{http.MethodPatch, "/apis/app.ydzs.io/v1beta1/namespaces/a/myapps/shop/status", true},
		{http.MethodDelete, "/api/v1/namespaces/a/services/shop", true},
		{http.MethodPost, "/apis/events.k8s.io/v1/namespaces/a/events", true},
		{http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", false},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", false},
		{http.MethodPost, "/apis/authorization.k8s.io.example.com/v1/things", true},
		{http.MethodPost, "/api/v1/namespaces/a/services/apis/authorization.k8s.io/", true},
	}
	for _, c := range cases {
		req, err := http.NewRequest(c.method, "https://10.0.0.1"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := mutates(req); got != c.want {
			t.Errorf("%s %s is a write: %v, want %v", c.method, c.path, got, c.want)
		}
	}
}
