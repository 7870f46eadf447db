#!/usr/bin/env bash
# Regenerates what is generated and fails if that changes a file, or if a module is not tidy, a file not formatted, or
# go vet finds something. It compares with the files as they are, not with a commit, so that it also works in the
# middle of a change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# files PATTERN...: what git tracks or would track, and is there.
files() {
  git ls-files --cached --others --exclude-standard -- "$@" | sort -u | while IFS= read -r file; do
    [ ! -f "$file" ] || echo "$file"
  done
}

# contents: a line with hash and name for every file.
contents() { paste -d ' ' <(files | git hash-object --stdin-paths) <(files); }

failed=
# check WHAT COMMAND...: runs a check; the others run whatever it finds.
check() {
  local what=$1
  shift
  echo "verify: $what"
  "$@" || failed=1
}

unformatted() {
  local found
  found=$(files '*.go' | xargs gofmt -l)
  [ -z "$found" ] || { echo "not formatted, run make fmt:"; echo "$found"; return 1; }
}

tidy() {
  local mod ok=0
  for mod in go.mod hack/tools/*/go.mod; do
    (cd "$(dirname "$mod")" && go mod tidy -diff) || { echo "not tidy, run go mod tidy in $(dirname "$mod")"; ok=1; }
  done
  return $ok
}

generated() {
  local before after stale
  before=$(contents)
  make --no-print-directory generate manifests bundle || return 1
  after=$(contents)
  stale=$(comm -3 <(sort <<<"$before") <(sort <<<"$after") | awk '{print $2}' | sort -u)
  [ -z "$stale" ] || { echo "stale, now regenerated; add to your change:"; echo "$stale"; return 1; }
}

check "generated files" generated
check "modules" tidy
check "formatting" unformatted
check "go vet" go vet -tags e2e ./...
[ -z "$failed" ] || { echo "verify: failed" >&2; exit 1; }
echo "verify: all good"
