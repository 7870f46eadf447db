// Command demo shows the operator at work on a real control plane with fake nodes, on this machine.
//
//	go run ./hack/demo cluster-up    a cluster without the operator
//	go run ./hack/demo demo          the same cluster with the operator, led through its main job
//	go run ./hack/demo cluster-down  ends both; demo-down is the same
//
// Everything is kept in .demo at the root of the repository.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ydzs.io/myapp-operator/test/cluster"
)

// nodes is the number of fake nodes.
const nodes = 3

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hack/demo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("say one of cluster-up, cluster-down, demo, demo-down")
	}
	root, err := cluster.Root()
	if err != nil {
		return err
	}
	state := filepath.Join(root, ".demo")
	switch args[0] {
	case "cluster-up":
		return clusterUp(root, state)
	case "demo":
		return demo(root, state, filepath.Join(root, "bin", "manager"))
	case "cluster-down", "demo-down":
		return down(state)
	default:
		return fmt.Errorf("%s is none of cluster-up, cluster-down, demo, demo-down", args[0])
	}
}

func clusterUp(root, state string) error {
	s, err := ensureCluster(root, state)
	if err != nil {
		return err
	}
	fmt.Printf("\nThe cluster is up. Use it with\n\n%s\nThen, for example: make install run\nStop it with: make cluster-down\n", s.usage())
	return nil
}

// ensureCluster starts the cluster unless it is up.
func ensureCluster(root, state string) (*shell, error) {
	heading("The control plane")
	tools, err := cluster.Tools("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl", "kubectl")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(state, "cluster")
	s := &shell{root: root, kubectl: tools["kubectl"], dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	if _, err := s.read("get", "--raw", "/readyz"); err == nil {
		fmt.Println("It is up already.")
		return s, nil
	}
	// What a start that was interrupted, or a restart of the machine, has left.
	if err := cluster.Remove(dir); err != nil {
		return nil, err
	}
	fmt.Printf("etcd, kube-apiserver, kube-controller-manager, kube-scheduler and %d fake nodes start …\n", nodes)
	_, err = cluster.StartFull(cluster.Options{Dir: dir, Detached: true, WithoutCRD: true, Nodes: nodes})
	return s, err
}

func down(state string) error {
	for _, dir := range []string{operatorDir(state), filepath.Join(state, "cluster")} {
		if err := cluster.Remove(dir); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(state); err != nil {
		return err
	}
	fmt.Println("Operator and cluster are stopped, and .demo is gone.")
	return nil
}
