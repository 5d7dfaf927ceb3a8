#!/bin/sh
# Each fault that was mended can still be put back (scripts/simulate --mended).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v patch >/dev/null || exit 77
status=0
for patch in "$root"/tests/simulation/mended/*.patch; do
  patch --directory="$root" --strip=1 --dry-run --silent <"$patch" ||
    { echo "$(basename "$patch") fits no more: write it anew"; status=1; }
done
exit $status
