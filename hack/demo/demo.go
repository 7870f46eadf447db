package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ydzs.io/myapp-operator/test/cluster"
)

const (
	sample = "config/samples/app_v1beta1_myapp.yaml"
	bad    = "hack/demo/bad.yaml"
	// app is the name of the sample's MyApp, and so of its children.
	app = "nginx-app"
)

// demo leads through the main job with the given binary of the operator. It fails when a step does not show what it
// should.
func demo(root, state, manager string) error {
	s, err := ensureCluster(root, state)
	if err != nil {
		return err
	}
	heading("The CRD")
	if err := installCRD(s); err != nil {
		return err
	}
	heading("The operator")
	o, err := startOperator(s, state, manager)
	if err != nil {
		return err
	}
	fmt.Printf("It runs on this machine; its log is %s\n", o.log)
	if err := installWebhooks(s, state, o); err != nil {
		return err
	}
	for _, step := range []struct {
		heading string
		show    func(*shell) error
	}{
		{"One MyApp becomes a running application", showMainJob},
		{"A mistake is refused", showRefusal},
		{"What is deleted by hand comes back", showRepair},
	} {
		heading(step.heading)
		if err := step.show(s); err != nil {
			return err
		}
	}
	heading("Go on")
	fmt.Printf("Cluster and operator keep running. Use them with\n\n%s\nStop them with: make demo-down\n", s.usage())
	return nil
}

func installCRD(s *shell) error {
	const dir = "config/crd/bases"
	if err := s.show("apply", "--server-side", "-f", dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("the CRD is not served within a minute"))
	defer cancel()
	return until(ctx, func() bool {
		// It fails, instead of waiting, on a CRD so new that it has no conditions yet.
		_, err := s.read("wait", "--for=condition=Established", "--timeout=10s", "-f", dir)
		return err == nil
	})
}

// installWebhooks points both webhook configurations at the operator's process.
func installWebhooks(s *shell, state string, o *operator) error {
	manifest, err := cluster.LocalWebhooks(o.webhookPort, o.caPEM)
	if err != nil {
		return err
	}
	path := filepath.Join(operatorDir(state), "webhooks.yaml")
	if err := os.WriteFile(path, manifest, 0o644); err != nil {
		return err
	}
	relative, err := filepath.Rel(s.root, path)
	if err != nil {
		return err
	}
	return s.show("apply", "--server-side", "-f", relative)
}

func showMainJob(s *shell) error {
	for _, args := range [][]string{
		{"apply", "-f", sample},
		{"wait", "--for=condition=Ready", "--timeout=60s", "myapp/" + app},
		{"get", "myapp,deploy,svc,pods"},
		{"describe", "myapp", app},
	} {
		if err := s.show(args...); err != nil {
			return err
		}
	}
	return nil
}

// showRefusal applies a manifest with mistakes. An answer that is not about the manifest, such as that of a webhook
// that cannot be reached, is no refusal.
func showRefusal(s *shell) error {
	manifest, err := os.ReadFile(filepath.Join(s.root, bad))
	if err != nil {
		return err
	}
	fmt.Print(string(manifest))
	out, err := s.showRefusal("apply", "-f", bad)
	if err != nil {
		return err
	}
	if !strings.Contains(out, "is invalid") {
		return errors.New("the bad manifest was refused, but not as invalid")
	}
	return nil
}

func showRepair(s *shell) error {
	const path = "jsonpath={.metadata.uid}"
	before, err := s.read("get", "service", app, "-o", path)
	if err != nil {
		return err
	}
	if err := s.show("delete", "service", app); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), 30*time.Second, errors.New("the deleted Service did not come back within 30 s"))
	defer cancel()
	err = until(ctx, func() bool {
		after, err := s.read("get", "service", app, "--ignore-not-found", "-o", path)
		return err == nil && after != "" && after != before
	})
	if err != nil {
		return err
	}
	return s.show("get", "service", app)
}
