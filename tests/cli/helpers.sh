# Functions and variables for the `cmd` of every case. The runner reads this file before `cmd`.
#
#   $W8Y $W8YD $W8YCTL   the programs
#   $REDIS_URL           the case's own server (also $W8Y_REDIS_URL, which `w8y` reads)
#   $DIR                 the case's own directory, where cmd runs, with copies of the case's files
#   $REDBIKE             client, dispatcher and worker that behave like Redbike's
#   $SOCKET              socket on which a w8yd of the case listens, if its config names it

# Runs redis-cli on the case's server.
r() { redis-cli -s "$DIR/redis.sock" "$@"; }

# Print the number of run records of a list, and the records: those of failed runs first.
run_count() { echo $(($(r llen "$1:runs") + $(r llen "$1:failed-runs"))); }
run_records() { r lrange "$1:failed-runs" 0 -1 && r lrange "$1:runs" 0 -1; }

# Runs w8yctl with the case's config.
ctl() { "$W8YCTL" --config "$DIR/config.toml" "$@"; }

# wait_for 'condition' [seconds]: waits until the condition holds. Fails the case after this time, by default
# 120 seconds.
wait_for() {
  read -r _until _ </proc/uptime
  _until=$((${_until%.*} + ${2:-120}))
  until eval "$1" >/dev/null 2>&1; do
    read -r _now _ </proc/uptime
    if [ "${_now%.*}" -gt "$_until" ]; then
      echo "gave up waiting for: $1" >&2
      [ ! -e "$DIR/w8yd.log" ] || tail -n 20 "$DIR/w8yd.log" >&2
      exit 99
    fi
    sleep 0.1
  done
}

# start_w8yd [options]: starts w8yd with the case's config in the background, and waits until it is ready. Sets
# $W8YD_PID. The log is w8yd.log.
start_w8yd() {
  "$W8YD" --config "$DIR/config.toml" "$@" >"$DIR/w8yd.out" 2>"$DIR/w8yd.log" &
  W8YD_PID=$!
  # A request costs more than a check for the socket.
  wait_for '[ -S "$SOCKET" ] && "$W8YCTL" --socket "$SOCKET" --json status | grep -q "\"state\": *\"running\""' 30
}

# Runs a command in the middle of a cmd, and prints its exit status if it is not 0.
says() {
  "$@" || echo "exit $?"
}

# Prints the milliseconds of a clock that does not jump.
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# Prints an unused port: see free_port() in private_redis.py.
free_port() { python3 -c 'from private_redis import free_port; print(free_port())'; }

# Starts a primary, a sentinel that watches it as "main", and a cluster of one node. Their ports are $primary,
# $sentinel and $node, and their sockets p.sock, s.sock and n.sock.
start_topology() {
  primary=$(free_port) sentinel=$(free_port) node=$(free_port)
  mkdir p s n
  printf '%s\n' "port $sentinel" "bind 127.0.0.1" "unixsocket $DIR/s.sock" \
    "sentinel monitor main 127.0.0.1 $primary 1" >s/sentinel.conf
  (cd p && exec redis-server --port "$primary" --bind 127.0.0.1 --unixsocket "$DIR/p.sock" --save '') >p.log &
  _topology=$!
  (cd s && exec redis-server sentinel.conf --sentinel) >s.log &
  _topology="$_topology $!"
  (cd n && exec redis-server --port "$node" --bind 127.0.0.1 --unixsocket "$DIR/n.sock" --save '' \
    --cluster-enabled yes) >n.log &
  _topology="$_topology $!"
  trap 'kill $_topology' EXIT
  wait_for 'redis-cli -s p.sock ping && redis-cli -s s.sock ping && redis-cli -s n.sock ping'
  redis-cli -s n.sock cluster addslotsrange 0 16383 >/dev/null
  wait_for 'redis-cli -s n.sock cluster info | grep -q cluster_state:ok'
}

# Runs rights.py, which reads w8y-security(7) and queries a server.
rights() { python3 "$DIR/rights.py" "$@"; }
page=$MANUAL/w8y-security.7

# grant NUMBER [sed program]: gives the user w8y the permissions of the page's command with this number. Its
# password is "secret", and is in the file password.
grant() {
  [ -e password ] || (umask 077 && echo secret >password)
  rights block "$page" "$1" | sed "s/^redis-cli/r/; s/SECRET/secret/; ${2-}" >granted
  . ./granted >/dev/null
}
