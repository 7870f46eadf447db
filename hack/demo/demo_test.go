package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ydzs.io/myapp-operator/test/cluster"
)

// The demo shows what it says on a fresh cluster and again on one that is up, and leaves nothing behind.
func TestDemo(t *testing.T) {
	root, err := cluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	manager, state := filepath.Join(dir, "manager"), filepath.Join(dir, "state")
	if out, err := exec.Command("go", "build", "-o", manager, root).CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if err := down(state); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(state); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", state, err)
		}
	})
	for _, run := range []string{"first", "second"} {
		if err := demo(root, state, manager); err != nil {
			t.Fatalf("%s run: %v", run, err)
		}
	}
}

// A demo that cannot show something fails, instead of showing the failure and going on.
func TestDemoFails(t *testing.T) {
	s := &shell{root: t.TempDir(), kubectl: "false"}
	if err := s.show("get", "pods"); err == nil {
		t.Error("a command that failed passes")
	}
	s.kubectl = "true"
	if _, err := s.showRefusal("apply", "-f", "bad.yaml"); err == nil {
		t.Error("a bad manifest that was accepted passes")
	}
	if err := os.MkdirAll(filepath.Join(s.root, filepath.Dir(bad)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.root, bad), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// It fails, but says nothing of an invalid manifest, as when the webhook cannot be reached.
	s.kubectl = "false"
	if err := showRefusal(s); err == nil {
		t.Error("a refusal for another reason passes")
	}
	o := &operator{log: filepath.Join(t.TempDir(), "log")}
	if err := o.start(exec.Command("false"), "", "http://127.0.0.1:0/readyz"); err == nil {
		t.Error("an operator that ended passes")
	}
}
