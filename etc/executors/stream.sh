#!/bin/sh
# An executor for w8yd in plain sh that takes many items, four at a time: the SHA-256 of a file.
#
#   [lists.files]
#   executor = "/opt/acme/bin/stream.sh"
#   concurrency = 4
#   cooldown = "1d"
#
# The item is the path of the file. w8yd calls
#
#   stream.sh --caps              and wants one JSON object that says what this can do;
#   stream.sh --stream NAME       once, and then sends a line per item on standard input.
#
# What a shell can't do well: it reads JSON only as w8yd writes it, without blanks. Items with a NUL,
# with bytes that are not UTF-8 (those come in base64) or with control characters but tab and newline
# are answered with an error. Lines of answers must be shorter than 4096 bytes: so long, what
# several processes write to one pipe does not mix. Each run leaves a variable behind: let
# `max_items` replace the process now and then. For more than that, there are kits for Python,
# Node and C++: see w8y-executor(7).
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

# member NAME LINE: the text between the quotes, into $value. Quotes inside of a string have a
# backslash before them, so "NAME":" is not found there.
member() {
  value=${2#*"\"$1\":\""}
  [ "$value" != "$2" ] || return 1
  # Up to the first quote without a backslash before it, or with a pair of them.
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

# One line each, by one write; what is put into it needs no quotes.
progress() { printf '{"type":"progress","id":"%s","numerator":%s,"denominator":%s}\n' "$1" "$2" "$3"; }
failed() { printf '{"type":"complete","id":"%s","error":"%s"}\n' "$1" "$2"; }

# work ID ITEM: in a process of its own, so that several run at once and one can be cancelled.
work() {
  child=
  cancelled=
  # A trap has to wait for what is in the foreground: nothing is. It may come before we know $child.
  # A shell that is on its way to become the child can miss a TERM, and then we would wait for it.
  trap 'cancelled=cancelled; [ -z "$child" ] || kill -KILL "$child" 2>/dev/null' TERM
  [ -f "$2" ] || { failed "$1" "there is no such file"; return; }
  progress "$1" 0 1
  # Standard input is the items, and standard output the protocol: not for what we start.
  out=$folder/$1
  sha256sum <"$2" >"$out" &
  child=$!
  [ -z "$cancelled" ] || kill -KILL "$child" 2>/dev/null
  # Where it was killed before we wait for it, a shell may say so on standard error. Which status a
  # wait has that a trap came into is not the same in all shells.
  wait "$child" 2>/dev/null || cancelled=${cancelled:-"the file can't be read"}
  # Some say 0 for a wait that a signal has ended: then there is no sum yet.
  sum=
  [ -n "$cancelled" ] || read -r sum _ <"$out" || cancelled=cancelled
  if [ -n "$cancelled" ]; then
    # What is not over yet would find its folder gone.
    kill -KILL "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    rm -f "$out"
    failed "$1" "$cancelled"
    return
  fi
  child= # it is done
  rm -f "$out"
  printf '{"type":"complete","id":"%s","sha256":"%s"}\n' "$1" "$sum"
}

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# The whole process group gets it, and so each item answers for itself.
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
        failed "$id" "the item has bytes that this can't read"
      fi
      ;;
    '{"type":"cancel",'*)
      # One that has ended has no process any more, and has answered.
      eval "pid=\${pid_$id-}"
      [ -z "$pid" ] || kill "$pid" 2>/dev/null
      ;;
  esac
done
# End of file: what is open is finished.
wait
exit 0
