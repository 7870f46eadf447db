#!/usr/bin/env bash
# Prints the path of a pinned tool, building it first where the cache does not hold it yet.
#
#   hack/tool.sh kubectl            one path
#   hack/tool.sh kube-apiserver etcd   several, a line each
#
# Every tool is a package of a Go module pinned under hack/tools/; nothing is downloaded but Go modules. K8S_VERSION
# chooses among the versions of Kubernetes that are pinned there; empty means the newest.
# The cache is ${XDG_CACHE_HOME:-~/.cache}/myapp-operator/<module>-<hash>, the hash taken over the module's
# go.mod and go.sum, the Go files it has of its own, the Go version and the platform. Progress goes to stderr, paths to
# stdout.
set -euo pipefail
shopt -s nullglob

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/myapp-operator

# place NAME: sets module and package of a tool, and the build tags it needs.
place() {
  tags=
  case "$1" in
    kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy | kubelet | kubectl)
      module=$(kubernetes) package=k8s.io/kubernetes/cmd/$1 ;;
    etcd) module=etcd package=go.etcd.io/etcd/server/v3 ;;
    kwok | kwokctl) module=kwok package=sigs.k8s.io/kwok/cmd/$1 ;;
    controller-gen) module=controller-gen package=sigs.k8s.io/controller-tools/cmd/controller-gen ;;
    cert-manager) module=cert-manager package=. ;;
    # OLM's two controllers, and the helper that its unpack Job copies into the bundle's pod.
    olm-operator) module=olm package=github.com/operator-framework/operator-lifecycle-manager/cmd/olm ;;
    olm-catalog) module=olm package=github.com/operator-framework/operator-lifecycle-manager/cmd/catalog ;;
    cpb) module=olm package=github.com/operator-framework/operator-lifecycle-manager/util/cpb ;;
    # A registry, and what to look into one with.
    crane) module=crane package=github.com/google/go-containerregistry/cmd/crane ;;
    opm)
      module=opm package=github.com/operator-framework/operator-registry/cmd/opm
      tags=containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper ;;
    kustomize) module=kustomize package=sigs.k8s.io/kustomize/kustomize/v5 ;;
    golangci-lint) module=golangci-lint package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
    *) echo "hack/tool.sh: no tool is called $1; see the list in $0" >&2; exit 2 ;;
  esac
}

# kubernetes: the module that pins K8S_VERSION.
kubernetes() {
  local version=${K8S_VERSION:-} mod
  version=${version#v}
  [ -n "$version" ] || { echo kubernetes; return; }
  for mod in "$root"/hack/tools/kubernetes*/go.mod; do
    if grep -qE "^\s*(require )?k8s.io/kubernetes v${version//./\\.}( |$)" "$mod"; then
      basename "$(dirname "$mod")"
      return
    fi
  done
  echo "hack/tool.sh: K8S_VERSION=$version is none of the pinned versions: $(sed -nE 's/^(require )?[[:space:]]*k8s.io\/kubernetes v([^ ]+).*/\2/p' "$root"/hack/tools/kubernetes*/go.mod | xargs)" >&2
  exit 2
}

# stamp MODULE: linker flags; without a version every Kubernetes component reports v0.0.0.
stamp() {
  [ "${1%%-*}" = kubernetes ] || return 0
  local v
  v=$(cd "$root/hack/tools/$1" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  local minor=${v#v1.}
  local p=k8s.io/component-base/version
  echo "-X $p.gitVersion=$v -X $p.gitMajor=1 -X $p.gitMinor=${minor%%.*}"
}

export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0
# A tool runs here, whatever platform the caller builds for.
unset GOOS GOARCH
platform=$(go env GOVERSION GOOS GOARCH | tr '\n' '-')

i=0
for name in "$@"; do
  i=$((i + 1))
  place "$name"
  dir=$root/hack/tools/$module
  key=$(cat "$dir/go.mod" "$dir/go.sum" "$dir"/*.go - <<<"$platform" | git hash-object --stdin | cut -c1-12)
  bin=$cache/$module-$key/$name
  if [ ! -x "$bin" ]; then
    echo "[$i/$#] building $name once into $cache (kube-apiserver takes about 5 minutes on 2 cores, the others less)" >&2
    start=$SECONDS
    mkdir -p "$(dirname "$bin")"
    # Moved into place whole, so that an interrupted or a second, concurrent build leaves no half of a binary.
    trap 'rm -f "$bin.$$"' EXIT
    (cd "$dir" && go build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w $(stamp "$module")" -o "$bin.$$" "$package")
    mv "$bin.$$" "$bin"
    echo "[$i/$#] built $name in $((SECONDS - start)) s" >&2
  fi
  echo "$bin"
done
