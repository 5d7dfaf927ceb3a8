#!/usr/bin/env python3
"""Writes w8y_order.ld: what one run of w8y calls, side by side in its file. w8y_order.py BUILD_FOLDER

A start maps 64 KiB of text for each fault; what a run calls was spread over 35 such pieces, and is in
nine now. Nothing breaks where the list is out of date: what it names and is not there is passed over, and
what it does not name stands behind it. So it is made anew now and then, after larger changes of what
w8y does. Needs valgrind and redis-server.
"""
import bisect
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PLACE = pathlib.Path(__file__).resolve().parent / "w8y_order.ld"
HEAD = """/* What one run of w8y calls, side by side. Made by w8y_order.py, which says why. */
SECTIONS
{
  .text.called : ALIGN(4096)
  {
"""
# valgrind hides the vDSO, whose functions each start looks up, and newer vector instructions.
UNSEEN = ["*libc.a:dl-object.o(.text)", "*libc.a:dl-lookup.o(.text)"]
NEWER = [("-avx2.o(.text.avx", "-evex.o(.text.evex"), ("-avx2-movbe.o(.text.avx", "-evex-movbe.o(.text.evex"),
         ("-avx-unaligned-erms.o(.text.avx", "-evex-unaligned-erms.o(.text.evex"),
         ("-avx-unaligned-erms.o(.text.avx", "-avx512-unaligned-erms.o(.text.evex512"),
         ("-avx2-unaligned-erms.o(.text.avx", "-evex-unaligned-erms.o(.text.evex"),
         ("-avx2-unaligned-erms.o(.text.avx", "-avx512-unaligned-erms.o(.text.evex512")]
TAIL = "  }\n}\nINSERT BEFORE .text;\n"


def sections_of(build, folder):
    """(address, size, name, file) of the text in w8y, by its linker's map; and its symbols."""
    link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "src/app/w8y"],
                          check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    link = re.sub(r"-Wl,-T,\S*w8y_order\.ld", "", link)
    program, linked = folder / "w8y", folder / "map"
    link = link.replace("-o src/app/w8y ", f"-o {program} -Wl,-Map={linked} ")
    subprocess.run(link, shell=True, check=True, cwd=build)
    found = re.findall(r"^ (\.text\S*)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$",
                       linked.read_text(), re.MULTILINE)
    sections = sorted((int(at, 16), int(size, 16), name, file)
                      for name, at, size, file in found if int(at, 16) and int(size, 16))
    symbols = {}
    for line in subprocess.run(["nm", str(program)], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWi":
            symbols.setdefault(words[2], int(words[0], 16))
    return program, sections, symbols


def called_by(program, folder):
    """The functions of one run, in the order of their first call."""
    socket, seen = folder / "redis.sock", folder / "callgrind"
    redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""],
                             stdout=subprocess.DEVNULL, cwd=folder)
    try:
        limit = time.monotonic() + 10
        while not socket.exists() and time.monotonic() < limit:
            time.sleep(0.01)
        subprocess.run(["redis-cli", "-s", str(socket), "RPUSH", "list:list", "a", "b"], check=True,
                       stdout=subprocess.DEVNULL)
        words = [str(program), "-q", "-k", "list", "-u", f"unix://{socket}", "--", "/bin/true"]
        subprocess.run(words, check=True)  # its scripts are known from then on
        subprocess.run(["valgrind", "--quiet", "--tool=callgrind", "--demangle=no",
                        f"--callgrind-out-file={seen}", *words], check=True)
    finally:
        redis.terminate()
        redis.wait()
    names = re.findall(r"^c?fn=\(\d+\) ([^\s']+)", seen.read_text(), re.MULTILINE)
    return list(dict.fromkeys(names))


def pattern(name, file):
    member = re.fullmatch(r"(?:.*/)?([^/]+\.a)\((.+)\)", file)
    where = f"*{member[1]}:{member[2]}" if member else "*" + file.rsplit("/", 1)[-1]
    return f"{where}({name})"


def with_unseen(patterns):
    newer = [each.replace(old, new) for old, new in NEWER for each in patterns if old in each]
    return [*patterns, *UNSEEN, *newer]


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temp:
        program, sections, symbols = sections_of(build, pathlib.Path(temp))
        names = called_by(program, pathlib.Path(temp))
    starts = [section[0] for section in sections]
    chosen = {}
    for name in names:
        at = symbols.get(name)
        if at is None:
            continue
        start, size, section, file = sections[max(0, bisect.bisect_right(starts, at) - 1)]
        if start <= at < start + size:
            chosen[pattern(section, file)] = size
    PLACE.write_text(HEAD + "".join(f"    {each}\n" for each in with_unseen(chosen)) + TAIL)
    print(f"{len(chosen)} sections, {sum(chosen.values()) // 1024} KiB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    main()
