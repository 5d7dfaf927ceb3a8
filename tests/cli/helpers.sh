# What every case's `cmd` finds defined. The runner reads this file before it.
#
#   $W8Y $W8YD $W8YCTL   the programs
#   $REDIS_URL           the case's own server (also $W8Y_REDIS_URL, which `w8y` reads)
#   $DIR                 the case's own folder, where cmd runs: the files of the case, copied
#   $REDBIKE             a client, dispatcher and worker that do what Redbike's do
#   $SOCKET              where a w8yd of the case listens, if its config says so

# redis-cli on the case's server.
r() { redis-cli -s "$DIR/redis.sock" "$@"; }

# w8yctl with the case's config.
ctl() { "$W8YCTL" --config "$DIR/config.toml" "$@"; }

# wait_for 'condition' [seconds]: until the fact is there; gives the case up after 60 seconds, or as
# many as it says.
wait_for() {
  _until=$(($(date +%s) + ${2:-60}))
  until eval "$1" >/dev/null 2>&1; do
    if [ "$(date +%s)" -gt "$_until" ]; then
      echo "gave up waiting for: $1" >&2
      [ ! -e "$DIR/w8yd.log" ] || tail -n 20 "$DIR/w8yd.log" >&2
      exit 99
    fi
    sleep 0.03
  done
}

# start_w8yd [options]: with the case's config, in the background, until it serves; $W8YD_PID.
# Its log is w8yd.log.
start_w8yd() {
  "$W8YD" --config "$DIR/config.toml" "$@" >"$DIR/w8yd.out" 2>"$DIR/w8yd.log" &
  W8YD_PID=$!
  # To ask costs more than to look whether there is somebody to ask.
  wait_for '[ -S "$SOCKET" ] && "$W8YCTL" --socket "$SOCKET" --json status | grep -q "\"state\": *\"running\""' 30
}

# Says how a command ended, when it did not end with 0; for use in the middle of a cmd.
says() {
  "$@" || echo "exit $?"
}

# Milliseconds on a clock that does not jump.
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
