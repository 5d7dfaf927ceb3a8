"""Runs the commands of a page of Markdown (transcript.py), in order, in a network of their own."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import place
import transcript

# Prints a line for each connection to the default port of Redis, where another Redis could be.
TRAP = textwrap.dedent("""\
    import socket, subprocess
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    trap = socket.create_server(("127.0.0.1", 6379))
    print("set", flush=True)
    while True:
        trap.accept()[0].close()
        print("asked", flush=True)
    """)
# Subcommands that only read. The test repeats them: a reader takes longer than the test from one command
# to the next.
READS = re.compile(r"(?:ctl|w8yctl \S+ \S+) (?:fleet|items|lists|runs|show|status|why)\b"
                   r"|redis-cli .*\b(?:PING|GET|PTTL|LRANGE)\b")


class Guide:
    """Runs a page as a test. `page` is its path from the top, and `varies` has more texts than transcript.VARIES."""

    page = None
    varies = ()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="w8y-guide-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.text = (place.source.parent / self.page).read_text()

    def script(self, results):
        """The commands for bash. The output of each goes to a file with its number."""
        out = ["shopt -s expand_aliases", "started=() watching="]
        for number, (command, expected) in enumerate(transcript.commands(self.text)):
            output = f"{results}/{number}"
            to = f">'{output}.out' 2>'{output}.err'"
            if re.match("w8yd ", command) and not re.search("--(check|plan)", command):
                config = re.search(r"--config (\S+)", command)[1]
                out += [f"{command} {to} &", "started+=($!)",
                        f"until w8yctl --config {config} status >/dev/null 2>&1; do sleep 0.05; done"]
            elif re.search(r"ctl watch\b", command):
                out += [f"{command} {to} &", "watching=$!"]
            elif re.search(r"<<'EOF'", command):
                out.append(command)
            elif re.match("cd|mkdir|alias|export", command):
                out.append(f"{command} || echo $? >'{output}.failed'")
            elif expected and READS.search(command):
                (self.folder / f"{number}.expected").write_text("\n".join(expected))
                same = (f"{sys.executable} /mnt/transcript.py /mnt/{number}.expected '{output}.out' "
                        + shlex.quote(json.dumps(self.varies)))
                out += [
                    "until=$((SECONDS + 60))",
                    f"until {{ {command}; }} {to} && {same}; do",
                    f"[ $SECONDS -lt $until ] || {{ echo 1 >'{output}.failed'; break; }}",
                    "sleep 0.1",
                    "done"]
            else:
                out.append(f"{{ {command}; }} {to} || echo $? >'{output}.failed'")
        # The first signal drains, and the second one stops the runs.
        out += ['[ -z "$watching" ] || kill "$watching"',
                'kill "${started[@]}" 2>/dev/null; sleep 0.3; kill "${started[@]}" 2>/dev/null; wait', ""]
        return "\n".join(out)

    def inside(self, *command):
        # All processes of the page end with the first process.
        return ["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork",
                "--kill-child", "--mount-proc", *command]

    def run_it(self):
        results = self.folder / "results"
        results.mkdir()
        (self.folder / "guide.sh").write_text(self.script("/mnt/results"))
        (self.folder / "trap.py").write_text(TRAP)
        shutil.copy(transcript.__file__, self.folder / "transcript.py")
        programs = {str(path.parent): f"/mnt/programs{number}"
                    for number, path in enumerate(place.programs)}
        # Programs that were built in /tmp stay visible there.
        kept = "\n".join(f"mkdir {to} && mount --bind '{of}' {to}" for of, to in programs.items())
        steps = textwrap.dedent(f"""\
            set -e
            mount --bind {self.folder} /mnt
            """) + kept + textwrap.dedent(f"""
            mount -t tmpfs none /tmp  # where the guides have their directories
            {sys.executable} /mnt/trap.py >/mnt/trap.log &
            until grep -sq set /mnt/trap.log; do sleep 0.02; done
            timeout 240 bash /mnt/guide.sh
            """)
        environment = {**os.environ, "PATH": ":".join([*programs.values(), os.environ["PATH"]]), "TZ": "UTC"}
        for name in ("W8Y_REDIS_URL", "W8Y_SOCKET"):
            environment.pop(name, None)
        done = subprocess.run(self.inside("bash", "-c", steps), env=environment, timeout=270,
                              capture_output=True, text=True, check=False)
        return results, done

    def test_its_commands_work_to_the_letter_and_ask_no_other_redis(self):
        possible = subprocess.run(self.inside("true"), capture_output=True, text=True, check=False)
        if possible.returncode != 0:
            self.skipTest(f"no network of its own can be made here: {possible.stderr.strip()}")
        results, done = self.run_it()
        for number, (command, expected) in enumerate(transcript.commands(self.text)):
            with self.subTest(command):
                errors, output = results / f"{number}.err", results / f"{number}.out"
                if expected:
                    printed = output.read_text().splitlines() if output.exists() else []
                    self.assertEqual(transcript.constant(printed, self.varies),
                                     transcript.constant(expected, self.varies))
                said = errors.read_text() if errors.exists() else ""
                self.assertFalse((results / f"{number}.failed").exists(), said)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "trap.log").read_text(), "set\n")
