package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"ydzs.io/myapp-operator/test/cluster"
)

func operatorDir(state string) string { return filepath.Join(state, "operator") }

// operator is the operator as a process of this machine.
type operator struct {
	webhookPort int
	caPEM       []byte
	log         string
}

// startOperator starts the operator with a fresh serving certificate, in place of one that runs already, and waits
// until it is ready. It goes on when this command has ended.
func startOperator(s *shell, state, manager string) (*operator, error) {
	dir := operatorDir(state)
	if err := cluster.Remove(dir); err != nil {
		return nil, err
	}
	command, err := cluster.Record(dir, "manager", manager)
	if err != nil {
		return nil, err
	}
	authority, err := cluster.NewAuthority()
	if err != nil {
		return nil, err
	}
	certs := filepath.Join(dir, "certs")
	if err := authority.WriteServing(certs); err != nil {
		return nil, err
	}
	ports, err := cluster.FreePorts(2)
	if err != nil {
		return nil, err
	}
	o := &operator{webhookPort: ports[0], caPEM: authority.PEM(), log: filepath.Join(dir, "manager.log")}
	health := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[1]))
	cmd := exec.Command(command,
		"--webhook-cert-dir="+certs, "--webhook-port="+strconv.Itoa(o.webhookPort),
		"--metrics-bind-address=0", "--health-probe-bind-address="+health,
		"--leader-elect=false", "--log-format=console")
	return o, o.start(cmd, s.kubeconfig, "http://"+health+"/readyz")
}

func (o *operator) start(cmd *exec.Cmd, kubeconfig, readyURL string) error {
	log, err := os.Create(o.log)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "ENABLE_WEBHOOKS=true", "WATCH_NAMESPACE=")
	// Out of reach of a Ctrl-C in this terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the operator: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("it is not ready within a minute"))
	defer cancel()
	ctx, ended := context.WithCancelCause(ctx)
	go func() {
		if err := cmd.Wait(); err != nil {
			ended(fmt.Errorf("it ended: %w", err))
		}
		ended(errors.New("it ended without an error"))
	}()
	if err := untilOK(ctx, readyURL); err != nil {
		tail, _ := os.ReadFile(o.log)
		return fmt.Errorf("the operator: %w\n%s", err, tail)
	}
	return nil
}

// untilOK asks a URL until it answers 200.
func untilOK(ctx context.Context, url string) error {
	return until(ctx, func() bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
}

// until calls done until it returns true; the error says why it gave up.
func until(ctx context.Context, done func() bool) error {
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}
