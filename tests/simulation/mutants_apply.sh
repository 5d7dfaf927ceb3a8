#!/bin/sh
# Checks that each corrected fault can be reintroduced (scripts/simulate --mutants).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v patch >/dev/null || exit 77
status=0
for patch in "$root"/tests/simulation/mutants/*.patch; do
  patch --directory="$root" --strip=1 --dry-run --silent <"$patch" ||
    { echo "$(basename "$patch") does not apply any more: update it"; status=1; }
done
exit $status
