#!/usr/bin/env bash
# Breaks the operator on purpose and demands that a test notices. Each test/mutants/ID.patch puts the fault of field report
# ID back into the code; the tests that its lines "# test: COMMAND" name pass without it and fail with it. A mutant that
# does not apply or build proves nothing and counts as a failure.
#
#   hack/mutants.sh            all of them
#   hack/mutants.sh P01 C11    these
#
# It works on a copy of the tree as it is, uncommitted changes included, and leaves the tree alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
limit=${MUTANT_TIMEOUT:-300}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ ! -f "$file" ] || printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -C "$copy" -xf -
cd "$copy"
# Patches are applied to the copy, wherever it lies.
export GIT_CEILING_DIRECTORIES=${copy%/*}
log=$copy.log
trap 'rm -rf "$copy" "$log"' EXIT

# tests PATCH: the commands that a patch names.
tests() { sed -n 's/^# test: //p' "$1"; }

# passes COMMAND: the tests ran and passed.
passes() { timeout "$limit" bash -c "$1" >"$log" 2>&1 && ! grep -q 'no tests to run' "$log"; }

# fails COMMAND: a test ran and failed; a broken build, a timeout or a suite that never began is something else.
fails() {
  ! timeout "$limit" bash -c "$1" >"$log" 2>&1 && grep -q -e '^ *--- FAIL' "$log" &&
    ! grep -q -e '\[build failed\]' -e '\[setup failed\]' -e '\[FAIL\].*\[BeforeSuite\]' "$log"
}

# judge PATCH: prints what is wrong with a mutant; nothing when a test notices it.
judge() {
  local command
  [ -n "$(tests "$1")" ] || { echo "names no test"; return; }
  git apply --check "$1" 2>"$log" || { echo "does not apply"; return; }
  git apply "$1"
  if ! go build ./... >"$log" 2>&1; then
    echo "does not build"
  else
    while IFS= read -r command; do
      fails "$command" </dev/null || echo "survives: $command"
    done < <(tests "$1")
  fi
  git apply -R "$1"
}

patches=(test/mutants/*.patch)
[ $# -eq 0 ] || { patches=(); for id in "$@"; do patches+=("test/mutants/$id.patch"); done; }

bad=0
while IFS= read -r command; do
  if ! passes "$command" </dev/null; then
    echo "fails without any mutant: $command"
    tail -n 20 "$log"
    bad=1
  fi
done < <(for patch in "${patches[@]}"; do tests "$patch"; done | sort -u)
[ $bad -eq 0 ] || { echo "mutants: the tests must pass first" >&2; exit 1; }

for patch in "${patches[@]}"; do
  id=$(basename "$patch" .patch)
  start=$SECONDS
  wrong=$(judge "$patch")
  if [ -z "$wrong" ]; then
    echo "$id killed in $((SECONDS - start)) s"
  else
    echo "$id $wrong"
    tail -n 20 "$log"
    bad=$((bad + 1))
  fi
done
[ $bad -eq 0 ] || { echo "mutants: $bad of ${#patches[@]} not killed" >&2; exit 1; }
echo "mutants: all ${#patches[@]} killed"
