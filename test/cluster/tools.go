package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root returns the root of this repository, found upwards from the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "hack", "tool.sh")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("the working directory is not inside the repository: no hack/tool.sh above it")
		}
		dir = parent
	}
}

// Tools returns the paths of pinned tools by name, building those that the cache does not hold; the progress of a
// build goes to standard error.
func Tools(names ...string) (map[string]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(root, "hack", "tool.sh"), names...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("find or build %s: %w", strings.Join(names, ", "), err)
	}
	paths := strings.Fields(string(out))
	if len(paths) != len(names) {
		return nil, fmt.Errorf("hack/tool.sh printed %d paths for %d tools: %q", len(paths), len(names), out)
	}
	tools := make(map[string]string, len(names))
	for i, name := range names {
		tools[name] = paths[i]
	}
	return tools, nil
}

// assets returns the tools of an API server. A directory that the user names in KUBEBUILDER_ASSETS wins, and then
// nothing is built.
func assets() (map[string]string, error) {
	names := []string{"etcd", "kube-apiserver", "kubectl"}
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		return Tools(names...)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	tools := map[string]string{}
	for _, name := range names {
		tools[name] = filepath.Join(dir, name)
		if _, err := os.Stat(tools[name]); err != nil {
			return nil, fmt.Errorf("KUBEBUILDER_ASSETS: %w", err)
		}
	}
	return tools, nil
}
