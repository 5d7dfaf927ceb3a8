#!/bin/sh
# look.sh KIND: prints the lock during the run.
key=$(redis-cli -s "$DIR/redis.sock" KEYS 'work:*:*')
echo "$key $(redis-cli -s "$DIR/redis.sock" GET "$key" | sed "s/^run:$(hostname):\([0-9]*\)[.0-9]*:/run:HOST:\1:/")"
left=$(redis-cli -s "$DIR/redis.sock" PTTL "$key")
[ "$left" -gt 0 ] && [ "$left" -le 3000 ] && echo "$1: bounded" || echo "$1: $left ms left"
