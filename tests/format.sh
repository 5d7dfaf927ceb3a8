#!/bin/sh
# Every C++ file is as .clang-format has it. Skipped (77) without clang-format.
command -v clang-format >/dev/null || exit 77
cd "$1" || exit 1
find src include tests etc -name '*.[ch]pp' | sort | xargs clang-format --dry-run --Werror
