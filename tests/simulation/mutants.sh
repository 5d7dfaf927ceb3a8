#!/usr/bin/env bash
# Reintroduces corrected faults in a copy of the sources, one at a time. Fails if the simulation with its
# default options does not find each of them. Arguments: BUILD_DIRECTORY [NAME...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
patches=$root/tests/simulation/mutants
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
tree=$folder/tree
build=$tree/build/gcc

# Copies only files that differ, so that other files are not compiled again.
refresh() {
  mkdir -p "$tree"
  (cd "$root" && find . \( -name build -o -name .git \) -prune -o -type f -print) |
    while read -r file; do
      cmp -s "$root/$file" "$tree/$file" && continue
      mkdir -p "$(dirname "$tree/$file")"
      cp "$root/$file" "$tree/$file"
    done
}

refresh
# Uses no part of the root's build: files that are compiled together are named with their full paths.
[ -f "$build/build.ninja" ] || CC=gcc CXX=g++ meson setup "$build" "$tree" >"$folder/setup.log"
names=("$@")
[ $# -gt 0 ] || for patch in "$patches"/*.patch; do names+=("$(basename "$patch" .patch)"); done
failed=0
for name in "${names[@]}"; do
  refresh # removes the previous fault
  patch --directory="$tree" --strip=1 --silent --no-backup-if-mismatch <"$patches/$name.patch"
  ninja -C "$build" --quiet tests/simulation/simulate >"$folder/$name.log" 2>&1 || { cat "$folder/$name.log"; exit 1; }
  # All seeds: a single seed may find the fault by chance.
  "$build/tests/simulation/simulate" --jobs "$(nproc)" --all --whole >"$folder/$name.out" || true
  sum=$(grep ' seeds, ' "$folder/$name.out" || echo 'it crashed')
  broken=$(sed -n 's/^seed \([0-9]*\): BROKEN: /\1: /p' "$folder/$name.out")
  if [ -z "$broken" ]; then
    printf '%-16s not found: %s\n' "$name" "$sum"
    failed=1
  else
    printf '%-16s found by %s of %s seeds, first by seed %s\n' "$name" "$(wc -l <<<"$broken")" \
      "${sum%% *}" "$(head -n 1 <<<"$broken" | cut -c 1-90)"
  fi
done
refresh
exit "$failed"
