#!/usr/bin/env bash
# Installs, uses, upgrades, removes and purges the package in a root directory without any of its files
# (scripts/package --test calls it there):
#
#   in_clean_root.sh PACKAGE.deb DBGSYM.deb
#
# There is no systemd to start w8yd: it runs like in the unit, with the unit's user and directories.
set -euo pipefail

package=$1 dbgsym=$2
version=$(dpkg-deb -f "$package" Version)
work=/srv/work

ok() { printf 'ok: %s\n' "$*"; }
fail() {
  tail -n 20 "$work"/*.log >&2 2>/dev/null || true
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
same() { [ "$1" = "$2" ] || fail "$3: '$1', not '$2'"; }
# wait_for 'condition': waits until the condition holds.
wait_for() {
  local until=$((SECONDS + 60))
  until eval "$1" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || fail "waited too long for: $1"
    sleep 0.05
  done
}

apt() {
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -y \
    -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$@" >"$work/apt.log" 2>&1 ||
    fail "apt-get $*"
}

# An array, not a function: in the background, $! is then the pid of the program.
as_w8y=(
  setpriv --reuid w8y --regid w8y --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all
  env -i PATH=/usr/bin:/bin RUNTIME_DIRECTORY=/run/w8y STATE_DIRECTORY=/var/lib/w8y
)
# start_w8yd LOG [OPTION...]: starts w8yd and sets $w8yd to its pid.
start_w8yd() {
  local log=$work/$1
  shift
  "${as_w8y[@]}" /usr/bin/w8yd "$@" >"$log" 2>&1 &
  w8yd=$!
  wait_for "grep -q 'info: ready' $log"
  same "$(awk '/^Uid:/ { print $2 }' "/proc/$w8yd/status")" "$(id -u w8y)" "who w8yd is"
}
stop_w8yd() {
  local status=0
  kill -TERM "$w8yd"
  wait "$w8yd" || status=$?
  same "$status" 0 "the end of w8yd"
}
add() { redis-cli -s "$work/redis.sock" RPUSH work:list "$1" >/dev/null; }

mkdir -m 1777 "$work"
cp "$package" "$dbgsym" "$work"
package=$work/$(basename "$package") dbgsym=$work/$(basename "$dbgsym")
apt update

# ---- contents
same "$(dpkg-deb --info "$package" conffiles)" /etc/w8y.toml "its conffiles"
same "$(dpkg-deb -c "$dbgsym" | grep -c 'build-id/.*\.debug$')" 4 "the programs with a debugger's table of their own"

# ---- install
apt install "$package"
same "$(dpkg-query -W -f '${db:Status-Abbrev}${Version}' w8y)" "ii $version" "what dpkg says of it"
same "$(dpkg --verify w8y)" "" "what dpkg --verify says"
dpkg -L w8y >"$work/files"
same "$(getent passwd w8y | cut -d: -f6,7)" /var/lib/w8y:/usr/sbin/nologin "its account"
# Systemd creates the unit's directories, with the unit's user as owner.
same "$(ls -d /run/w8y /var/lib/w8y /var/log/w8y 2>/dev/null)" "" "directories that the package makes"
install -d -o w8y -g w8y -m 0750 /run/w8y /var/log/w8y
install -d -o w8y -g w8y -m 0700 /var/lib/w8y
same "$(stat -c '%U:%G %a' /etc/w8y.toml)" 'root:root 644' "its config"
same "$(systemctl is-enabled w8yd 2>&1)" disabled "whether the unit is enabled"
same "$(find /etc/systemd/system /etc/rc?.d -name '*w8y*')" "" "links to the unit"
systemd-analyze verify --man=no w8yd.service 2>&1 | grep w8y && fail "the unit is not right"
for program in w8y w8yd w8yctl; do
  same "$($program --version)" "$program ${version%%+*}" "the version of $program"
done
for page in w8y.1 w8yctl.1 w8yctl-items.1 w8y.toml.5 w8y-clients.7 w8y-executor.7 w8yd.8; do
  [ -s "/usr/share/man/man${page##*.}/$page.gz" ] || fail "there is no page $page"
done
same "$(w8y -u rediss://127.0.0.1:1 -k work true 2>&1 | grep -c 'Connection refused')" 1 "w8y with TLS"
"${as_w8y[@]}" w8yd --check || fail "the config as it comes"
ok "installed"

# ---- temporary directories of runs survive the cleaning of /tmp
mkdir /tmp/w8y-Ab12Cd /tmp/other /tmp/systemd-private-1-w8yd.service-2{,/tmp{,/w8y-Ab12Cd,/other}}
printf 'd /tmp - - - 1ms\n' >/etc/tmpfiles.d/soon.conf
systemd-tmpfiles --clean soon.conf w8y.conf
rm /etc/tmpfiles.d/soon.conf
same "$(find /tmp -name 'w8y-Ab*' -o -name other | sort | tr '\n' ,)" \
  /tmp/systemd-private-1-w8yd.service-2/tmp/w8y-Ab12Cd,/tmp/w8y-Ab12Cd, "what is left of /tmp"
rm -r /tmp/w8y-Ab12Cd /tmp/systemd-private-*
ok "tmpfiles"

# ---- use
apt install redis-server
cat >/usr/local/bin/work <<'END'
#!/bin/sh
echo $$ >"/srv/work/$1.began"
until [ -e "/srv/work/$1.go" ]; do sleep 0.05; done
id -un >"/srv/work/$1.ended"
END
chmod +x /usr/local/bin/work
sed -i "s|^#url = .*|url = \"unix://$work/redis.sock\"|" /etc/w8y.toml
cat >>/etc/w8y.toml <<END

[lists.work]
command = ["/usr/local/bin/work", "{}"]
cooldown = "1h"
concurrency = 8
[lists.mix]
source = "schedule"
queues = "A"
command = ["true"]
END
cp /etc/w8y.toml "$work/w8y.toml"
"${as_w8y[@]}" redis-server --port 0 --unixsocket "$work/redis.sock" --dir "$work" >"$work/redis.log" 2>&1 &
redis=$!
trap 'kill "$redis" || true' EXIT
wait_for "redis-cli -s $work/redis.sock PING"
start_w8yd first.log
same "$(w8yctl lists | grep -cE '^(work|mix) +idle')" 2 "the lists that this host runs"
first=$w8yd
add apple
wait_for "[ -s $work/apple.began ]"
apple=$(cat "$work/apple.began")
ok "runs as w8y"

# ---- upgrade during a run: to the same package, then to another version with another sample config
dpkg-deb -R "$package" "$work/next"
sed -i "s/^Version: .*/&+next/" "$work/next/DEBIAN/control"
echo '# A new line.' >>"$work/next/etc/w8y.toml"
dpkg-deb --root-owner-group -b "$work/next" "$work/next.deb" >/dev/null
apt install "$work/next.deb"
same "$(dpkg-query -W -f '${Version}' w8y)" "$version+next" "the version after the upgrade"
cmp /etc/w8y.toml "$work/w8y.toml" || fail "the upgrade changed the operator's config"
[ -e /etc/w8y.toml.dpkg-dist ] || fail "the upgrade left no new sample"
same "$(readlink "/proc/$first/exe")" "/usr/bin/w8yd (deleted)" "the program that goes on"
same "$(cat "/proc/$apple/comm")" work "the run that goes on"
w8yctl reload
add pear
wait_for "[ -s $work/pear.began ]"
touch "$work/apple.go"
wait_for "[ -s $work/apple.ended ]"
same "$(cat "$work/apple.ended")" w8y "who the run was"
ok "upgraded while a run went on, and one more began"

# ---- restart by hand: the old w8yd drains; the new one waits for its end, then starts
kill -TERM "$first"
wait_for "w8yctl --json status | grep -q '\"state\": *\"draining\"'"
"${as_w8y[@]}" /usr/bin/w8yd >"$work/second.log" 2>&1 &
w8yd=$!
wait_for "grep -q 'waiting for w8yd (pid $first), which is draining' $work/second.log"
touch "$work/pear.go"
wait "$first" || fail "the drained one ended with $?"
wait_for "grep -q 'info: ready' $work/second.log"
same "$(readlink "/proc/$w8yd/exe")" /usr/bin/w8yd "the program that took its place"
same "$(cat "$work/pear.ended")" w8y "the run that the drain waited for"
same "$(w8yctl runs work | grep -c succeeded)" 2 "the runs that succeeded"
stop_w8yd
ok "restarted"

# ---- embedded Redis, in the unit's directory
start_w8yd embedded.log --embedded
same "$(stat -c %U /var/lib/w8y/redis.sock)" w8y "whose the embedded Redis is"
stop_w8yd
ok "embedded"

# ---- remove, twice
apt remove w8y
cmp /etc/w8y.toml "$work/w8y.toml" || fail "the removal changed the operator's config"
[ -d /var/lib/w8y ] || fail "the removal took the data along"
for program in w8y w8yd w8yctl; do [ ! -e "/usr/bin/$program" ] || fail "$program is still there"; done
apt install "$package" "$dbgsym"
cmp /etc/w8y.toml "$work/w8y.toml" || fail "the new installation changed the operator's config"
ok "removed and installed again"

# ---- purge
apt purge w8y w8y-dbgsym
# Only the account remains.
same "$(find / /run /tmp -xdev \( -path "$work" -o -path /w8y \) -prune -o \
  \( -name '*w8y*' -o -user w8y -o -group w8y \) -print)" "" "what is left"
while read -r file; do
  [ ! -f "$file" ] || fail "$file is still there"
done <"$work/files"
same "$(getent passwd w8y | cut -d: -f1)" w8y "the account"
ok "purged"
