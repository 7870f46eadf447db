#!/usr/bin/env bash
# Runs the end-to-end suites: the operator as an image on a real node, installed as users install it.
#
# With KUBECONFIG set they use that cluster, and E2E_REGISTRY names a registry, as host:port/path, that images can be
# pushed to from here with buildah and pulled from by its nodes. Otherwise they bring up a control plane and a node on
# this machine, which takes Linux, root and a few Debian packages. Everything runs in network, mount and process
# namespaces of its own: when these end, by whatever end of this script, all that was started has ended, and nothing is
# left of what it wrote but dist/e2e, the logs after a failure.
#
# E2EFLAGS are more arguments for the suites: -ginkgo.focus=…
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What of Debian the node is made of, command and package a line. The CNI plugins are no commands but files.
readonly NEEDED='containerd containerd
runc runc
/usr/lib/cni/bridge containernetworking-plugins
iptables iptables
conntrack conntrack
ip iproute2
buildah buildah
busybox busybox-static
unshare util-linux
setpriv util-linux'
readonly TOOLS='etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok kwokctl kubelet kube-proxy crane
cert-manager olm-operator olm-catalog cpb opm kustomize'
readonly HIERARCHIES=/sys/fs/cgroup

# missing: why this machine cannot be the node, a line each.
missing() {
  [ "$(uname -s)" = Linux ] || { echo "Linux: a node has no other system"; return; }
  [ "$(id -u)" = 0 ] || echo "root: a node makes namespaces, mounts and cgroups"
  local command package packages=
  while read -r command package; do
    command -v "$command" >/dev/null || case "$packages " in *" $package "*) ;; *) packages+=" $package" ;; esac
  done <<<"$NEEDED"
  [ -z "$packages" ] || echo "Debian packages:$packages (apt-get install --no-install-recommends$packages)"
  [ -e /proc/sys/net/bridge ] || echo "the kernel module br_netfilter (modprobe br_netfilter)"
}

# cgroups PID: the cgroups of a run, one in each hierarchy.
cgroups() {
  local dir
  for dir in "$HIERARCHIES"/*/; do
    # Version 2 has one hierarchy, whose files are in the root itself.
    [ ! -e "$HIERARCHIES/cgroup.controllers" ] || dir=$HIERARCHIES/
    echo "${dir}myapp-e2e-$1"
  done | sort -u
}

# release PID: removes the cgroups of a run that has ended. The kernel may still be at ending what was killed.
release() {
  local dir tries
  for dir in $(cgroups "$1"); do
    for tries in {1..50}; do
      [ -d "$dir" ] || break
      find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2
    done
    [ ! -d "$dir" ] || echo "hack/e2e.sh: $dir is still in use after $tries tries" >&2
  done
}

# check: fails, and says what is missing, on a machine that cannot be the node.
check() {
  local why
  why=$(missing)
  [ -z "$why" ] || {
    printf 'hack/e2e.sh: without KUBECONFIG this machine becomes a node, and for that it lacks\n%s\n' "$why" >&2
    exit 1
  }
}

# outside: makes the cgroups, which no namespace holds, and goes inside.
outside() {
  local dir stale
  for dir in "$HIERARCHIES"/*/myapp-e2e-* "$HIERARCHIES"/myapp-e2e-*; do
    stale=${dir##*-}
    # Left by a run that was killed.
    [ ! -d "$dir" ] || kill -0 "$stale" 2>/dev/null || release "$stale"
  done

  export E2E_CGROUP=/myapp-e2e-$$
  trap 'release $$' EXIT
  for dir in $(cgroups $$); do mkdir -p "$dir"; done
  # A cpuset begins with no processor and no memory, and lets nothing in.
  for dir in "$HIERARCHIES"/cpuset; do
    [ ! -d "$dir" ] || for file in cpuset.cpus cpuset.mems; do cat "$dir/$file" >"$dir$E2E_CGROUP/$file"; done
  done
  # The suites end with this script, be it killed.
  setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc "$0" inside
}

# inside: as the first process of the namespaces.
inside() {
  mount -t tmpfs -o mode=755 tmpfs /run
  mkdir -p /run/var /run/var-work /run/e2e
  mount -t overlay -o lowerdir=/var,upperdir=/run/var,workdir=/run/var-work overlay /var
  ip link set lo up
  export TMPDIR=/run/e2e GOPROXY=off
  suites &
  # A script that waits hears of a signal at once; the suites were told themselves, or are told here, and clean up.
  local pid=$! rc=0
  trap 'kill -INT $pid 2>/dev/null' INT TERM
  until wait $pid; rc=$?; [ $rc -lt 128 ] || ! kill -0 $pid 2>/dev/null; do :; done
  return $rc
}

# suites: runs what prepare built.
suites() {
  cd test/e2e
  # shellcheck disable=SC2086 # arguments, not one argument
  exec ../../bin/e2e.test -test.timeout 60m -ginkgo.v -ginkgo.no-color ${E2EFLAGS:-}
}

# prepare: makes what cannot be made without a network.
prepare() {
  # shellcheck disable=SC2086 # names, not one name
  hack/tool.sh $TOOLS >/dev/null
  # Their CRDs are read from the modules, which the cache of the tools does not hold.
  go mod download
  (cd hack/tools/cert-manager && go mod download github.com/cert-manager/cert-manager)
  (cd hack/tools/olm && go mod download github.com/operator-framework/api)
  make --no-print-directory build
  go test -c -tags e2e -o bin/e2e.test ./test/e2e
  rm -rf dist/e2e
}

case "${1:-}" in
  inside) inside ;;
  '')
    [ -n "${KUBECONFIG:-}" ] || check
    prepare
    if [ -n "${KUBECONFIG:-}" ]; then suites; else outside; fi ;;
  *) echo "usage: hack/e2e.sh" >&2; exit 2 ;;
esac
