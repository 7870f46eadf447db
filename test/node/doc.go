// Package node joins a real node to a control plane: containerd, a kubelet and kube-proxy on this machine, and a registry
// on loopback that it pulls images from. It needs Linux, root and the Debian packages of hack/e2e.sh.
//
// Everything runs on an address of a bridge and under a cgroup of its own, and is meant for private network, mount and
// process namespaces, which hack/e2e.sh makes: with these goes whatever a kubelet leaves behind.
package node
