"""The tour of the README, to the letter, on a network of its own: only a trap is on Redis's port."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import place

# Says who asked the port that a Redis of somebody else would have.
TRAP = textwrap.dedent("""\
    import socket, subprocess
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    trap = socket.create_server(("127.0.0.1", 6379))
    print("set", flush=True)
    while True:
        trap.accept()[0].close()
        print("asked", flush=True)
    """)


def tour():
    text = (place.source.parent / "README.md").read_text()
    return text.partition("## A tour in ten minutes\n")[2].partition("\n## ")[0]


def commands():
    """Each with the lines that are to come of it."""
    found = []
    for language, block in re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", tour()):
        if language:
            continue
        lines = iter(block.splitlines())
        for line in lines:
            if not line.startswith("$ "):
                found[-1][1].append(line)
                continue
            command = line[2:].partition("  #")[0]
            if "<<'EOF'" in command:
                for more in lines:
                    command += "\n" + more
                    if more == "EOF":
                        break
            found.append((command, []))
    return found


def script(folder):
    """The commands for bash; the output of each goes to a file with its number."""
    out = ["shopt -s expand_aliases"]
    for number, (command, _) in enumerate(commands()):
        to = f">'{folder}/{number}.out' 2>'{folder}/{number}.err'"
        if command.startswith("w8yd") and "--embedded" in command:
            out += [f"{command} {to} &", "daemon=$!",
                    "until w8yctl --socket w8yd.sock status >/dev/null 2>&1; do sleep 0.05; done"]
        elif command.startswith("ctl watch"):
            out += [f"{command} {to} &", "watch=$!"]
        elif "EOF" in command:
            out.append(command)
        else:
            if "--plan" in command:
                out.append("sed -i 's/^concurrency = 2/concurrency = 4/' w8y.toml")
            redirected = command if re.match("cd|mkdir|alias|export", command) else f"{command} {to}"
            out.append(f"{redirected} || echo $? >'{folder}/{number}.failed'")
    return "\n".join(out + ['kill "$watch" "$daemon"', 'wait "$daemon"', ""])


class Tour(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="w8y-tour-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def inside(self, *command):
        # All that is started there ends with the first process.
        return ["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork",
                "--kill-child", "--mount-proc", *command]

    def run_it(self):
        results = self.folder / "results"
        results.mkdir()
        (self.folder / "tour.sh").write_text(script("/mnt/results"))
        (self.folder / "trap.py").write_text(TRAP)
        programs = {str(path.parent): f"/mnt/programs{number}"
                    for number, path in enumerate(place.programs)}
        # What is built in /tmp is seen there.
        kept = "\n".join(f"mkdir {to} && mount --bind '{of}' {to}" for of, to in programs.items())
        steps = textwrap.dedent(f"""\
            set -e
            mount --bind {self.folder} /mnt
            """) + kept + textwrap.dedent(f"""
            mount -t tmpfs none /tmp  # where the tour has its folder
            {sys.executable} /mnt/trap.py >/mnt/trap.log &
            until grep -sq set /mnt/trap.log; do sleep 0.02; done
            timeout 60 bash /mnt/tour.sh
            """)
        environment = {**os.environ, "PATH": ":".join([*programs.values(), os.environ["PATH"]])}
        environment.pop("W8Y_REDIS_URL", None)
        done = subprocess.run(self.inside("bash", "-c", steps), env=environment, timeout=90,
                              capture_output=True, text=True, check=False)
        return results, done

    def test_works_to_the_letter_and_asks_no_other_redis(self):
        possible = subprocess.run(self.inside("true"), capture_output=True, text=True, check=False)
        if possible.returncode != 0:
            self.skipTest(f"no network of its own can be made here: {possible.stderr.strip()}")
        results, done = self.run_it()
        for number, (command, expected) in enumerate(commands()):
            with self.subTest(command):
                errors = results / f"{number}.err"
                said = errors.read_text() if errors.exists() else ""
                self.assertFalse((results / f"{number}.failed").exists(), said)
                if expected:
                    self.assertEqual((results / f"{number}.out").read_text().splitlines(), expected)
        self.assertEqual(done.stderr, "")
        self.assertEqual((self.folder / "trap.log").read_text(), "set\n")

    def test_its_executor_is_one(self):
        program = self.folder / "executor.py"
        program.write_text(re.search(r"(?ms)^```python\n(#!.*?)^```$", tour())[1])
        program.chmod(0o755)
        ctl = next(path for path in place.programs if path.name == "w8yctl")
        place.says(ctl, "check-executor", program)


if __name__ == "__main__":
    unittest.main()
