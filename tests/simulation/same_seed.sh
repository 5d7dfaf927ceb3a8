#!/bin/sh
# The same seed gives the same log, to the byte, in another process too: SIMULATE
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for turn in 1 2; do
  # Wall time is on a line of its own.
  "$1" --seed 21 --seeds 3 --for 100s --log | sed '/^[0-9.]* s$/d' >"$folder/$turn"
done
[ "$(wc -l <"$folder/1")" -gt 1000 ]
cmp "$folder/1" "$folder/2"
