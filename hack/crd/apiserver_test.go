package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ydzs.io/myapp-operator/test/cluster"
)

// TestOnAPIServer looks at the CRD from outside: a real API server, and kubectl.
func TestOnAPIServer(t *testing.T) {
	plane, err := cluster.StartAPIServer(cluster.Options{WithoutCRD: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	kubectl := func(t *testing.T, args ...string) string {
		t.Helper()
		out, err := plane.Kubectl(ctx, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	expect := func(t *testing.T, out, part string) {
		t.Helper()
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in:\n%s", part, out)
		}
	}

	// A client-side apply, since it alone has a limit of size.
	crd, samples := filepath.FromSlash(checkedIn), filepath.FromSlash("../../config/samples")
	expect(t, kubectl(t, "apply", "-f", crd), "created")
	kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "-f", crd)
	expect(t, kubectl(t, "apply", "-f", crd), "unchanged")
	kubectl(t, "create", "namespace", "server-side")

	t.Run("samples are unchanged by a second apply", func(t *testing.T) {
		kubectl(t, "apply", "-k", samples)
		for _, line := range strings.Split(strings.TrimSpace(kubectl(t, "apply", "-k", samples)), "\n") {
			expect(t, line, " unchanged")
		}
	})
	t.Run("a second server-side apply writes nothing", func(t *testing.T) {
		apply := func() string {
			kubectl(t, "apply", "--server-side", "-n", "server-side", "-k", samples)
			return kubectl(t, "get", "myapps", "-n", "server-side", "-o", "jsonpath={.items[*].metadata.resourceVersion}")
		}
		if first, second := apply(), apply(); first != second || first == "" {
			t.Errorf("resource versions went from %s to %s", first, second)
		}
	})
	t.Run("explain", func(t *testing.T) {
		expect(t, kubectl(t, "explain", "myapp.spec.ports"), "nodePort")
		expect(t, kubectl(t, "explain", "ma.spec.size"), "0 stops the application")
	})
	t.Run("names and columns", func(t *testing.T) {
		expect(t, kubectl(t, "get", "ma,all"), "SIZE")
		expect(t, kubectl(t, "get", "myapps", "-o", "wide"), "ENDPOINT")
		expect(t, kubectl(t, "scale", "myapp/nginx-app", "--replicas=0"), "scaled")
		expect(t, kubectl(t, "get", "myapp", "nginx-app", "-o", "jsonpath={.spec.size}"), "0")
	})
	t.Run("refusals name the field", func(t *testing.T) {
		// Kubernetes 1.30 names the type of the value that a rule refuses, and not the value.
		for spec, want := range map[string]string{
			`{image: a, securityContext: {privileged: true}}`:                         "a privileged container is not allowed",
			`{image: a, podLabels: {app.kubernetes.io/name: x}}`:                      "spec.podLabels[app.kubernetes.io/name]: Forbidden",
			`{image: a, ports: [{port: 80}, {port: 81, nodePort: 70000}]}`:            "spec.ports[1].nodePort: Invalid value: 70000",
			`{image: a, resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}}`: "spec.resources.requests[memory]: Invalid value",
		} {
			manifest := "apiVersion: app.ydzs.io/v1beta1\nkind: MyApp\nmetadata: {name: bad}\nspec: " + spec
			out, err := plane.KubectlStdin(ctx, manifest, "create", "--dry-run=server", "-f", "-")
			if err == nil {
				t.Errorf("%s is accepted", spec)
			}
			expect(t, out, want)
		}
	})
	t.Run("a size from outside 0 to 5000 cannot be written through scale", func(t *testing.T) {
		if out, err := plane.Kubectl(ctx, "scale", "myapp/nginx-app", "--replicas=5001"); err == nil {
			t.Errorf("accepted: %s", out)
		}
	})
	// The API server's validator forgets the type of a string that has a format.
	t.Run("a list as a time is refused", func(t *testing.T) {
		out, err := plane.Kubectl(ctx, "patch", "myapp", "nginx-app", "--subresource=status", "--type=merge", "-p",
			`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"A","message":"","lastTransitionTime":[]}]}}`)
		if err == nil {
			t.Error("accepted, and no Go program could read the list of MyApps any more")
		}
		expect(t, out, "lastTransitionTime")
	})
}
