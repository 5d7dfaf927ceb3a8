#!/bin/sh
# An executor for w8yd in plain sh that runs many items, four at a time: the SHA-256 of a file.
#
#   [lists.files]
#   executor = "/opt/acme/bin/stream.sh"
#   concurrency = 4
#   cooldown = "1d"
#
# The item is the path of the file. w8yd calls
#
#   stream.sh --caps              to read the capabilities, one JSON object;
#   stream.sh --stream NAME       once, and then sends one line per item on standard input.
#
# A shell has these limits:
#   - It reads JSON only as w8yd writes it, without blanks.
#   - It returns an error for items with a NUL, with bytes that are not UTF-8 (these come in base64),
#     or with control characters other than tab and newline.
#   - A line of output must be shorter than 4096 bytes. Longer lines of several processes can mix in
#     one pipe.
#   - Each run leaves a variable behind. Set `max_items`, so that w8yd replaces the process.
# For more, use the kits for Python, Node and C++: see w8y-executor(7).
set -u
LC_ALL=C
export LC_ALL
newline='
'
tab=$(printf '\t')

case $#:${1-} in
  1:--caps)
    echo '{"type":"caps","caps":["stream"],"concurrency":4,"version":"1.0"}'
    exit 0
    ;;
  2:--stream) ;;
  *)
    echo "usage: stream.sh --caps | --stream NAME" >&2
    exit 2
    ;;
esac

# member NAME LINE: sets $value to the text of a member. Quotes inside a string have a backslash
# before them, so "NAME":" does not match there.
member() {
  value=${2#*"\"$1\":\""}
  [ "$value" != "$2" ] || return 1
  # Read up to the closing quote, and decode escapes.
  rest=$value value=
  while :; do
    part=${rest%%[\"\\]*}
    value=$value$part
    rest=${rest#"$part"}
    # shellcheck disable=SC1003
    case $rest in
      \"*) return 0 ;;
      '\n'*) value=$value$newline ;;
      '\t'*) value=$value$tab ;;
      '\"'* | '\\'* | '\/'*) value=$value$(printf '%.1s' "${rest#?}") ;;
      *) return 1 ;;
    esac
    rest=${rest#??}
  done
}

# Each prints one line with one write. The values need no escapes.
progress() { printf '{"type":"progress","id":"%s","numerator":%s,"denominator":%s}\n' "$1" "$2" "$3"; }
failed() { printf '{"type":"complete","id":"%s","error":"%s"}\n' "$1" "$2"; }

# work ID ITEM: runs one item, in a separate process so that it can be cancelled.
work() {
  child=
  cancelled=
  # A trap waits for a foreground command, so there is none. It may run before $child is set.
  # A shell that is about to become the child can miss SIGTERM, so the trap sends SIGKILL.
  trap 'cancelled=cancelled; [ -z "$child" ] || kill -KILL "$child" 2>/dev/null' TERM
  [ -f "$2" ] || { failed "$1" "there is no such file"; return; }
  progress "$1" 0 1
  # Standard input has the items, and standard output the protocol, so the child gets neither.
  out=$folder/$1
  sha256sum <"$2" >"$out" &
  child=$!
  [ -z "$cancelled" ] || kill -KILL "$child" 2>/dev/null
  # If the child was killed before the wait, a shell may print a message on standard error. If a trap
  # interrupts the wait, the status differs between shells.
  wait "$child" 2>/dev/null || cancelled=${cancelled:-"cannot read the file"}
  # Some shells return 0 for a wait that a signal interrupted. Then there is no sum yet.
  sum=
  [ -n "$cancelled" ] || read -r sum _ <"$out" || cancelled=cancelled
  if [ -n "$cancelled" ]; then
    # End the child before its output file is removed.
    kill -KILL "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    rm -f "$out"
    failed "$1" "$cancelled"
    return
  fi
  child= # it has exited
  rm -f "$out"
  printf '{"type":"complete","id":"%s","sha256":"%s"}\n' "$1" "$sum"
}

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# The whole process group gets SIGTERM, so each item sends its own message.
trap 'wait; exit 143' TERM

while IFS= read -r line; do
  member id "$line" || continue
  id=$value
  case $id in '' | *[!A-Za-z0-9]*) continue ;; esac
  case $line in
    '{"type":"item",'*)
      if member item "$line"; then
        work "$id" "$value" </dev/null &
        eval "pid_$id=$!"
      else
        failed "$id" "the item has bytes that stream.sh cannot read"
      fi
      ;;
    '{"type":"cancel",'*)
      # An item that has ended has no process, and has already sent its message.
      eval "pid=\${pid_$id-}"
      [ -z "$pid" ] || kill "$pid" 2>/dev/null
      ;;
  esac
done
# End of file: finish the open items.
wait
exit 0
