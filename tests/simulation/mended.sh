#!/usr/bin/env bash
# Faults that were mended, put back one at a time in a copy of the sources: the simulation finds each
# within its defaults, or this fails. BUILD_FOLDER [NAME...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
patches=$root/tests/simulation/mended
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
tree=$folder/tree
build=$folder/build

# Only what differs: what is not touched is not compiled again.
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
[ -f "$build/build.ninja" ] || meson setup "$build" "$tree" -Dbuildtype=release >"$folder/setup.log"
names=("$@")
[ $# -gt 0 ] || for patch in "$patches"/*.patch; do names+=("$(basename "$patch" .patch)"); done
failed=0
for name in "${names[@]}"; do
  refresh # an earlier one is taken back
  patch --directory="$tree" --strip=1 --silent --no-backup-if-mismatch <"$patches/$name.patch"
  ninja -C "$build" --quiet tests/simulation/simulate >"$folder/$name.log" 2>&1 || { cat "$folder/$name.log"; exit 1; }
  if "$build/tests/simulation/simulate" --jobs "$(nproc)" >"$folder/$name.out"; then
    printf '%-14s not found: %s\n' "$name" "$(grep ' seeds, ' "$folder/$name.out")"
    failed=1
  else
    printf '%-14s found in %s seeds: %s\n' "$name" \
      "$(sed -n 's/^\([0-9]*\) seeds, .*/\1/p' "$folder/$name.out")" \
      "$(sed -n 's/^seed [0-9]*: BROKEN: //p' "$folder/$name.out" | cut -c 1-90)"
  fi
done
refresh
exit "$failed"
