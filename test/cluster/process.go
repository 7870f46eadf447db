package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Process is a component that Launch started. It ends with the cluster, if not before.
type Process struct {
	// Log is the path of the file that both its streams are written to.
	Log string

	process *os.Process
	ended   chan struct{}
}

// Launch starts a tool as a component of the cluster: a further one of the same name has a log of its own. env is what it
// has in its environment beyond this process's.
func (c *Cluster) Launch(name, tool string, env []string, args ...string) (*Process, error) {
	// By its own path below the cluster's directory the guard knows it again, whatever its arguments are.
	own := filepath.Join(c.Dir, "tools", name)
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		return nil, err
	}
	if err := os.Symlink(tool, own); err != nil && !os.IsExist(err) {
		return nil, err
	}
	binary, err := Record(c.Dir, name, own)
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(filepath.Join(c.Dir, "logs"), name+"-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Log: log.Name(), process: cmd.Process, ended: make(chan struct{})}
	go func() {
		// How it ends says nothing: it is told to, or its log says why.
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Stop asks the process to end, and makes it end if it has not within a few seconds. It may be called more than once.
func (p *Process) Stop() {
	_ = p.process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.process.Kill()
		<-p.ended
	}
}

// WaitForLine waits until the process has written this text into its log.
func (p *Process) WaitForLine(ctx context.Context, text string) error {
	const keep = 2000
	var data []byte
	err := wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(context.Context) (bool, error) {
		var err error
		if data, err = os.ReadFile(p.Log); err != nil || bytes.Contains(data, []byte(text)) {
			return true, err
		}
		select {
		case <-p.ended:
			return false, errors.New("it has ended")
		default:
			return false, nil
		}
	})
	if err != nil {
		return fmt.Errorf("%w; its log ends:\n%s", err, data[max(0, len(data)-keep):])
	}
	return nil
}
