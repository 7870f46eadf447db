package cluster_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ydzs.io/myapp-operator/test/cluster"
)

// What the child of TestKilled starts, and where.
const (
	childStarts = "CLUSTER_TEST_CHILD_STARTS"
	childDir    = "CLUSTER_TEST_CHILD_DIR"
)

// A process that is killed leaves nothing behind: neither once its cluster runs nor in the middle of a start.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		starts string
		// kill returns when it is time.
		kill func(t *testing.T, dir string, output *bufio.Scanner)
		runs []string
	}{
		{"API server", "api", untilReady, []string{"etcd", "kube-apiserver"}},
		{"full", "full", untilReady, []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"}},
		{"full, while it starts", "full", untilServerRuns, []string{"etcd", "kube-apiserver"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "cluster")
			child, output := startChild(t, test.starts, dir)
			test.kill(t, dir, output)
			before := strings.Join(processes(t, dir), "\n")
			for _, name := range test.runs {
				if !strings.Contains(before, "/"+name+" ") {
					t.Errorf("%s does not run before the end; there is\n%s", name, before)
				}
			}
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the directory goes away", func() bool {
				_, err := os.Stat(dir)
				return os.IsNotExist(err)
			})
			if left := processes(t, dir); len(left) > 0 {
				t.Errorf("still running: %q", left)
			}
		})
	}
}

func startChild(t *testing.T, starts, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$", "-test.v")
	cmd.Env = append(os.Environ(), childStarts+"="+starts, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(output)
}

const ready = "the cluster is ready"

func untilReady(t *testing.T, _ string, output *bufio.Scanner) {
	t.Helper()
	for output.Scan() {
		if output.Text() == ready {
			return
		}
		t.Log(output.Text())
	}
	t.Fatal("the child ended early")
}

func untilServerRuns(t *testing.T, dir string, _ *bufio.Scanner) {
	t.Helper()
	eventually(t, "kube-apiserver runs", func() bool {
		return strings.Contains(strings.Join(processes(t, dir), "\n"), "--etcd-servers")
	})
}

// TestKilledChild is the process that TestKilled kills; by itself it does nothing.
func TestKilledChild(t *testing.T) {
	start := map[string]starter{"api": cluster.StartAPIServer, "full": cluster.StartFull}[os.Getenv(childStarts)]
	if start == nil {
		t.Skip("only as a child of TestKilled")
	}
	if _, err := start(cluster.Options{Dir: os.Getenv(childDir), WithoutCRD: true, Nodes: 1}); err != nil {
		t.Fatal(err)
	}
	fmt.Println(ready)
	select {}
}

// A detached cluster outlives its guardless process, and Remove ends it; a second Remove finds nothing to do.
func TestDetached(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cluster")
	c, err := cluster.StartAPIServer(cluster.Options{Dir: dir, Detached: true, WithoutCRD: true})
	if err != nil {
		t.Fatal(err)
	}
	kubectl(t, c, "get", "namespaces")
	for range 2 {
		if err := cluster.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if left := processes(t, dir); len(left) > 0 {
			t.Errorf("still running: %q", left)
		}
	}
}

// processes returns the command lines that name dir, from the whole machine. A process that has ended and is not
// waited for yet has none.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are read from /proc")
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		line := strings.ReplaceAll(string(data), "\x00", " ")
		if err == nil && strings.Contains(line, dir+"/") {
			lines = append(lines, line)
		}
	}
	return lines
}
