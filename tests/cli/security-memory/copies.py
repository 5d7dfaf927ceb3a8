"""copies.py TEXT PID…: counts copies of TEXT in the memory of each process, as "name: number"."""
import sys


def copies(pid, text):
    found = 0
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            where, rights, *_ = line.split()
            if "r" not in rights or "[v" in line:
                continue
            start, end = (int(part, 16) for part in where.split("-"))
            memory.seek(start)
            try:
                found += memory.read(end - start).count(text)
            except OSError:
                pass  # memory of a device, or removed
    return found


text, *pids = sys.argv[1:]
try:
    for pid in pids:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as name:
            print(f"{name.read().strip()}: {copies(pid, text.encode())}")
except PermissionError as error:
    print(error, file=sys.stderr)
    sys.exit(77)
