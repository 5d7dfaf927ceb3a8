#!/bin/sh
# Checks that every C++ file has the format of .clang-format. Releases of clang-format differ, so only the release
# that formatted the sources counts. Without it the test is skipped (77).
release=14
cd "$1" || exit 1
program=clang-format-$release
command -v "$program" >/dev/null || program=clang-format
found=$("$program" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "$found" != "$release" ]; then
  echo "skipped: the sources are formatted with clang-format $release; here is ${found:-none}"
  exit 77
fi
find src include tests etc -name '*.[ch]pp' | sort | xargs "$program" --dry-run --Werror
