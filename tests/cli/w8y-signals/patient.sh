#!/bin/sh
for signal in INT TERM HUP; do
  trap "echo child: $signal; exit 3" $signal
done
touch up
while :; do sleep 0.05; done
