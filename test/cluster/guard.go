package cluster

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

//go:embed assets/guard.sh
var guardScript string

// guard is a child process that outlives this one for a moment. It holds the reading end of a pipe whose only writing
// end is here: when this process ends, be it by SIGKILL, the kernel closes the pipe and the guard ends every recorded
// process of the cluster and removes its directory. Stop closes the pipe by hand, so both ways are the same way.
type guard struct {
	cmd  *exec.Cmd
	pipe io.Closer
	once sync.Once
	err  error
}

func guardCommand(dir string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "guard", dir)
	// A session of its own keeps the guard out of reach of a Ctrl-C that is meant for the tests.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Not in dir, which could then not be removed everywhere.
	cmd.Dir = "/"
	return cmd
}

func startGuard(dir string) (*guard, error) {
	cmd := guardCommand(dir)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &guard{cmd: cmd, pipe: pipe}, nil
}

// release lets the guard do its work and waits for it.
func (g *guard) release() error {
	g.once.Do(func() {
		if err := g.pipe.Close(); err != nil {
			g.err = fmt.Errorf("release the cluster's guard: %w", err)
			return
		}
		if err := g.cmd.Wait(); err != nil {
			g.err = fmt.Errorf("end the cluster's processes: %w", err)
		}
	})
	return g.err
}

// Remove ends a detached cluster: every process recorded in dir (see Record), then dir itself. It does nothing where dir does not
// exist.
func Remove(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if out, err := guardCommand(dir).CombinedOutput(); err != nil {
		return fmt.Errorf("end the processes of %s: %w: %s", dir, err, out)
	}
	return nil
}

// Record makes dir/bin/name, a command that writes down its process id in dir/pids and becomes the tool. The component
// records itself before it does anything else, so that there is no moment at which it runs unrecorded; and once the
// guard has taken dir/pids away, none can start any more. Its arguments must name something inside dir: by that the
// guard knows it again.
func Record(dir, name, tool string) (string, error) {
	pids, bin := filepath.Join(dir, "pids"), filepath.Join(dir, "bin")
	for _, sub := range []string{pids, bin} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return "", err
		}
	}
	path := filepath.Join(bin, name)
	script := fmt.Sprintf("#!/bin/sh\n: > %s/$$ || exit 1\nexec %s \"$@\"\n", quote(pids), quote(tool))
	return path, os.WriteFile(path, []byte(script), 0o755)
}

// quote makes s one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
