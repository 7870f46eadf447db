package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// shell runs kubectl against the demo's cluster, at the root of the repository, and shows what it does.
type shell struct {
	root       string
	kubectl    string
	dir        string
	kubeconfig string
}

func (s *shell) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.kubectl, args...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+s.kubeconfig, "KUBERC=off", "KUBECACHEDIR="+filepath.Join(s.dir, "kubectl-cache"))
	return cmd
}

// show prints the command as a person would type it, and runs it.
func (s *shell) show(args ...string) error {
	echo(args)
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kubectl %s: %w", args[0], err)
	}
	return nil
}

// showRefusal is show for a command that has to fail. It returns what kubectl printed.
func (s *shell) showRefusal(args ...string) (string, error) {
	echo(args)
	out, err := s.command(args...).CombinedOutput()
	fmt.Print(string(out))
	if err == nil {
		return "", fmt.Errorf("kubectl %s was accepted and should have been refused", strings.Join(args, " "))
	}
	return string(out), nil
}

// read runs a command silently and returns what it printed.
func (s *shell) read(args ...string) (string, error) {
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// usage says how to reach the cluster from a terminal.
func (s *shell) usage() string {
	lines := fmt.Sprintf("  export KUBECONFIG=%s\n", s.kubeconfig)
	if _, err := exec.LookPath("kubectl"); err != nil {
		lines += fmt.Sprintf("  export PATH=%s:$PATH   # a kubectl, since there is none in your PATH\n", filepath.Dir(s.kubectl))
	}
	return lines
}

func echo(args []string) {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if strings.ContainsAny(arg, " ${}[]'\"*?") {
			words[i] = "'" + arg + "'"
		}
	}
	fmt.Println("\n$ kubectl", strings.Join(words, " "))
}

func heading(text string) { fmt.Printf("\n=== %s\n", text) }
