#!/bin/sh
# An executor for w8yd in plain sh: makes a thumbnail of an image with ImageMagick.
#
#   [lists.thumbnails]
#   executor = "/opt/acme/bin/resize.sh"
#   args = ["--size", "320x320"]
#   env = { IMAGES = "/srv/images", THUMBNAILS = "/srv/thumbnails" }
#   timeout = "5m"
#
# w8yd calls it in two ways. The `args` of the list are the first arguments each time:
#
#   resize.sh [--size WxH] --caps             to read its capabilities
#   resize.sh [--size WxH] NAME ID LENGTH     to run one item: LENGTH bytes on standard input
#
# NAME is the name of the list. ID is new for each run, and can be used in names of temporary files.
# The environment is not that of w8yd. It has PATH, LANG, TZ, the variables of the list's env… keys,
# and W8Y_LIST, W8Y_ITEM, W8Y_RUN_ID, W8Y_FENCE, W8Y_ATTEMPT and W8Y_HOST.
#
# Standard output is for JSON, one object per line. All other output must go to standard error. w8yd
# logs it, and stores its end in the record of a failed run.
set -u
LC_ALL=C # so that ${#item} counts bytes, and [A-Z] matches ASCII letters only
export LC_ALL

size=320x320
if [ "${1-}" = --size ]; then
  size=$2
  shift 2
fi
tool=$(command -v magick || command -v convert)

# w8yd calls this at start and at each reload. With an exit status other than 0, this host is
# ineligible for the list, and other hosts serve it. So check all prerequisites here.
if [ "${1-}" = --caps ]; then
  [ -n "$tool" ] || { echo "ImageMagick is not installed" >&2; exit 1; }
  echo '{"type":"caps","caps":["single"],"version":"1.0"}'
  exit 0
fi

id=${2-}
length=${3-}
case $#:$length in
  3:*[!0-9]* | 3: | [!3]:*)
    echo "usage: resize.sh [--size WxH] --caps | NAME ID LENGTH" >&2
    exit 2
    ;;
esac

# The JSON here contains no text from outside. To add such text, use a tool that quotes it, such as jq.
progress() { echo "{\"type\":\"progress\",\"numerator\":$1,\"denominator\":$2}"; }
# The run has failed because of its item. An exit status other than 0 means that the run crashed. In
# both cases the item is delayed by its backoff, longer each time, before it runs again.
failed() {
  echo "{\"type\":\"complete\",\"error\":\"$1\"}"
  exit 0
}

# To stop a run (timeout, shutdown, cancel by an operator), w8yd sends SIGTERM to its process group,
# and SIGKILL after `kill_grace`: clean up and exit. w8yd ignores the exit status then.
part=
child=
trap '[ -z "$part" ] || rm -f -- "$part"' EXIT
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 143' TERM INT HUP

# Read exactly LENGTH bytes. A shell variable cannot hold NUL bytes; its length shows if some were lost.
item=$(head -c "$length" && printf x)
item=${item%x}
[ "${#item}" -eq "$length" ] || failed "the item has NUL bytes, or is shorter than LENGTH"

# Any client that can write to the list chooses the item, so never use it as a path unchecked.
case /$item/ in
  *[!A-Za-z0-9._/-]* | *//* | */../*) failed "the item is not the path of an image" ;;
esac
[ -f "${IMAGES:?}/$item" ] || failed "there is no such image"

# w8yd can kill a run at any point and run the item again. So write a temporary file in the directory
# of the result, and rename it at the end. Then the item can run any number of times.
progress 0 2
folder=$(dirname -- "${THUMBNAILS:?}/$item")
part=$folder/.$id.$(basename -- "$item")
mkdir -p -- "$folder" || exit 1
# Run in the background, because a trap waits for a foreground command.
"$tool" "$IMAGES/$item" -auto-orient -thumbnail "$size" "$part" >&2 &
child=$!
wait "$child" || failed "ImageMagick cannot convert the image"
child=
progress 1 2
bytes=$(wc -c <"$part")
mv -f -- "$part" "$THUMBNAILS/$item" || exit 1
progress 2 2

# w8yd stores all members except "type" as the result of the run.
echo "{\"type\":\"complete\",\"bytes\":$((bytes))}"
