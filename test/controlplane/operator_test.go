package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"ydzs.io/myapp-operator/test/cluster"
	"ydzs.io/myapp-operator/test/wrappers"
)

// operator is a process of the real binary.
type operator struct {
	cmd     *exec.Cmd
	health  string
	metrics string
	log     string
	ended   chan struct{}
	err     error
}

// launch says how an operator is started. Flags go over the usual ones, env over the environment.
type launch struct {
	user       string
	kubeconfig string
	flags      []string
	env        []string
}

// startOperator starts an operator as this user. It is not waited for.
func (s *site) startOperator(user string, flags ...string) (*operator, error) {
	kubeconfig, err := s.kubeconfig(user)
	if err != nil {
		return nil, err
	}
	return s.launch(launch{user: user, kubeconfig: kubeconfig, flags: flags})
}

func (s *site) launch(l launch) (*operator, error) {
	ports, err := cluster.FreePorts(2)
	if err != nil {
		return nil, err
	}
	o := &operator{health: loopback(ports[0]), metrics: loopback(ports[1]), ended: make(chan struct{})}
	log, err := os.CreateTemp(filepath.Join(s.Dir, "logs"), l.user+"-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	o.log = log.Name()
	// The process records itself like a component of the control plane, so that it ends with it even when this process
	// is killed.
	args := []string{"-c", `: >"$0/$$" && exec "$@"`, filepath.Join(s.Dir, "pids"), binary,
		"--log-format=console",
		"--leader-elect", "--leader-election-namespace=" + operatorNamespace,
		"--health-probe-bind-address=" + o.health,
		"--metrics-bind-address=" + o.metrics,
		"--webhook-port=" + strconv.Itoa(s.Webhooks.Port), "--webhook-cert-dir=" + s.Webhooks.CertDir,
		"--service-annotation-prefixes=" + wrappers.ServiceAnnotationPrefix,
	}
	o.cmd = exec.Command("/bin/sh", append(args, l.flags...)...)
	o.cmd.Env = append(append(os.Environ(), "KUBECONFIG="+l.kubeconfig), l.env...)
	o.cmd.Stdout, o.cmd.Stderr = log, log
	if err := o.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	go func() {
		o.err = o.cmd.Wait()
		close(o.ended)
	}()
	return o, nil
}

// Stop asks the operator to end and returns how it did.
func (o *operator) Stop() error {
	o.Signal(syscall.SIGTERM)
	select {
	case <-o.ended:
		return o.err
	case <-time.After(40 * time.Second):
		o.Kill()
		return fmt.Errorf("the operator did not end within 40 s of SIGTERM; its log ends:\n%s", o.logTail())
	}
}

// Kill ends the operator at once.
func (o *operator) Kill() {
	o.Signal(syscall.SIGKILL)
	<-o.ended
}

// Signal sends a signal. A process that has ended is left alone.
func (o *operator) Signal(s syscall.Signal) { _ = o.cmd.Process.Signal(s) }

// running is false once the operator has ended.
func (o *operator) running() bool {
	select {
	case <-o.ended:
		return false
	default:
		return true
	}
}

// probe returns the status code of /healthz or /readyz; 0 when nobody answers.
func (o *operator) probe(path string) int {
	client := http.Client{Timeout: 2 * time.Second}
	response, err := client.Get("http://" + o.health + path)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func (o *operator) waitReady(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		if !o.running() {
			return false, fmt.Errorf("the operator has ended: %w", o.err)
		}
		return o.probe("/readyz") == http.StatusOK, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the operator to be ready: %w; its log ends:\n%s", err, o.logTail())
	}
	return nil
}

// logTail is the end of the operator's log.
func (o *operator) logTail() string {
	const keep = 4000
	data, err := os.ReadFile(o.log)
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-keep):])
}

// logs tells whether the operator has logged this text.
func (o *operator) logs(text string) bool {
	data, err := os.ReadFile(o.log)
	return err == nil && bytes.Contains(data, []byte(text))
}

// kubeconfig writes the kubeconfig of a user who has the operator's rights.
func (s *site) kubeconfig(user string) (string, error) {
	config, err := s.UserConfig(user, operatorGroup)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.Dir, user+".kubeconfig")
	return path, cluster.WriteKubeconfig(config, path)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
