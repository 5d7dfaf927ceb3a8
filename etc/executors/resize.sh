#!/bin/sh
# An executor for w8yd in plain sh: makes a small copy of an image, with ImageMagick.
#
#   [lists.thumbnails]
#   executor = "/opt/acme/bin/resize.sh"
#   args = ["--size", "320x320"]
#   env = { IMAGES = "/srv/images", THUMBNAILS = "/srv/thumbnails" }
#   timeout = "5m"
#
# w8yd calls it in two ways. What the list has as `args` comes first, each time:
#
#   resize.sh [--size WxH] --caps             what can you do?
#   resize.sh [--size WxH] NAME ID LENGTH     run one item: LENGTH bytes on standard input
#
# NAME is the list's prefix. ID is new for each run, and good for names of temporary files.
# The environment is not w8yd's own: it holds PATH, LANG, TZ, what the list's env… keys say, and
# W8Y_LIST, W8Y_ITEM, W8Y_RUN_ID, W8Y_FENCE, W8Y_ATTEMPT and W8Y_HOST.
#
# Standard output is for JSON, one object per line. Whatever else is to be said goes to standard
# error: it is the log, and its end is kept with a run that failed.
set -u
LC_ALL=C # ${#item} is to count bytes, and [A-Z] to mean just these
export LC_ALL

size=320x320
if [ "${1-}" = --size ]; then
  size=$2
  shift 2
fi
tool=$(command -v magick || command -v convert)

# Asked at start and at each reload. To answer "no", by any exit status but 0, is no mistake: the
# list is then left to other hosts. So this is the place to look whether all that is needed is here.
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

# No text from outside is put into JSON here. If you need to, use a tool that quotes it, such as jq.
progress() { echo "{\"type\":\"progress\",\"numerator\":$1,\"denominator\":$2}"; }
# The item is at fault, or its file: the run has failed, in an orderly way. Any exit status but 0
# would say that it crashed. Either way the item rests, longer each time, before it is tried again.
failed() {
  echo "{\"type\":\"complete\",\"error\":\"$1\"}"
  exit 0
}

# When a run is to end (timeout, shutdown, an operator's cancel), its whole process group gets
# SIGTERM, and after `kill_grace` SIGKILL: so clean up, and be gone. The exit status makes no
# difference then, as w8yd knows why the run ended.
part=
child=
trap '[ -z "$part" ] || rm -f -- "$part"' EXIT
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 143' TERM INT HUP

# Exactly LENGTH bytes. An item is any bytes, but a shell can't hold NULs: the length tells.
item=$(head -c "$length" && printf x)
item=${item%x}
[ "${#item}" -eq "$length" ] || failed "the item holds NUL bytes, or is cut short"

# An item comes from whoever can write to the list: never trust it with a path.
case /$item/ in
  *[!A-Za-z0-9._/-]* | *//* | */../*) failed "the item is not the path of an image" ;;
esac
[ -f "${IMAGES:?}/$item" ] || failed "there is no such image"

# A run may be cut off anywhere, and then the item is run again: write beside the result, and move
# it there at the end. Then it makes no difference how often the item has been run before.
progress 0 2
folder=$(dirname -- "${THUMBNAILS:?}/$item")
part=$folder/.$id.$(basename -- "$item")
mkdir -p -- "$folder" || exit 1
# In the background, because a trap has to wait for what is in the foreground.
"$tool" "$IMAGES/$item" -auto-orient -thumbnail "$size" "$part" >&2 &
child=$!
wait "$child" || failed "ImageMagick can't make anything of it"
child=
progress 1 2
bytes=$(wc -c <"$part")
mv -f -- "$part" "$THUMBNAILS/$item" || exit 1
progress 2 2

# All but "type" is kept as the run's result.
echo "{\"type\":\"complete\",\"bytes\":$((bytes))}"
