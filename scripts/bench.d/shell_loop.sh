#!/bin/sh
# shell_loop.sh SOCKET PROGRAM: a common shell loop, with a lock per item by redis-cli.
while :; do
  item=$(redis-cli -s "$1" LMOVE bench:list bench:list LEFT RIGHT)
  [ "$(redis-cli -s "$1" SET "bench:shell:$item" "$$" NX PX 5000)" = OK ] || continue
  "$2"
  redis-cli -s "$1" DEL "bench:shell:$item" >/dev/null
done
