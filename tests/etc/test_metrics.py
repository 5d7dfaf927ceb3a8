"""Tests of the alerts, the dashboard and the example for KEDA with promtool and the metrics of a w8yd."""
import json
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import yaml

import place
from api_client import UnixConnection
from private_redis import Redis

HERE = Path(__file__).resolve().parent
CONFIG = """
[redis]
url = "unix://{folder}/redis.sock"
[supervisor]
status = ["unix:{folder}/w8yd.sock"]
[lists.ring]
command = ["true", "{{}}"]
overdue_after = "1h"
[lists.mix]
source = "schedule"
queues = "A"
command = ["true", "{{}}"]
"""
#: Labels that Prometheus adds to each sample, and to histograms.
ADDED = {"instance", "job", "le"}


def metrics_in(text):
    """Returns the labels by metric name. For a histogram, also under the names of its parts."""
    found = {}
    for name, kind in re.findall(r"(?m)^# TYPE (\w+) (\w+)$", text):
        found.setdefault(name, set())
        if kind == "histogram":
            for part in ("_bucket", "_sum", "_count"):
                found.setdefault(name + part, set())
    for name, labels in re.findall(r"(?m)^(\w+)\{(.*)\} \S+$", text):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def used_in(expression):
    """Returns the names of metrics and of labels."""
    names = set(re.findall(r"\b((?:w8y|process)_\w+)", expression))
    labels = set()
    for inside in re.findall(r"\{([^{}]*)\}", expression):
        labels |= set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside))
    for inside in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        labels |= set(re.findall(r"\w+", inside))
    return names, labels


def alerts():
    rules = yaml.safe_load((place.source / "prometheus/alerts.yml").read_text())
    return [rule for group in rules["groups"] for rule in group["rules"]]


def keda_queries():
    example = yaml.safe_load((place.source / "examples/keda-scaledobject.yaml").read_text())
    return [trigger["metadata"]["query"] for trigger in example["spec"]["triggers"]]


def commands_in(text):
    """Returns the commands in quotation marks, with a name for each label and each placeholder."""
    text = re.sub(r"\{\{[^}]*\}\}", "ring", text).replace("RUN-ID", "01HV6Z3K8Q5V7M2N4P6R8T0W1Y")
    return [re.sub(r"\b[A-Z][A-Z-]+\b", "x", command)
            for command in re.findall(r'"((?:w8y\w*|journalctl|systemctl) [^"]*)"', text)]


class Scrape:
    """The metrics of a w8yd that has run an item of each kind."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="w8y-metrics-"))
        self.redis = Redis(self.folder)
        (self.folder / "w8y.toml").write_text(CONFIG.format(folder=self.folder))
        program = next(path for path in place.programs if path.name == "w8yd")
        with (self.folder / "log").open("wb") as log:
            self.w8yd = subprocess.Popen(
                [program, "--config", self.folder / "w8y.toml"], stdout=log, stderr=log
            )
        return self

    def __exit__(self, *_):
        self.w8yd.send_signal(signal.SIGTERM)
        self.w8yd.wait(60)
        self.redis.kill()
        shutil.rmtree(self.folder)

    def cli(self, *words):
        subprocess.run(
            ["redis-cli", "-s", self.folder / "redis.sock", *words], check=True, capture_output=True
        )

    def ask(self):
        connection = UnixConnection(str(self.folder / "w8yd.sock"))
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def until(self, fact):
        end = time.monotonic() + 60
        while True:
            try:
                text = self.ask()
            except OSError:
                text = ""
            if fact(text):
                return text
            if time.monotonic() > end:
                raise AssertionError("gave up waiting:\n" + text + (self.folder / "log").read_text())
            time.sleep(0.1)


class Metrics(unittest.TestCase):
    def test_w8yd_has_the_metrics_of_the_dashboard_the_alerts_and_the_example(self):
        with Scrape() as host:
            host.cli("RPUSH", "ring:list", "a", "b")
            host.cli("HSET", "mix-schedules", "one:A", "NOW")
            host.cli("ZADD", "mix-timeline", "1", "one:A")
            there = metrics_in(
                host.until(
                    lambda text: all(
                        name in text
                        for name in ('w8y_cycle_seconds{', 'w8y_longest_wait_seconds{',
                                     'w8y_schedule_due{', 'w8y_schedule_lateness_seconds_bucket{list="mix"',
                                     'w8y_overdue_after_seconds{', 'w8y_list_slots_needed{',
                                     'w8y_list_last_success_timestamp_seconds{')
                    )
                )
            )
        page = place.page("w8y-metrics.7").read_text()
        for name in (name for name in there if not re.search("_(bucket|sum|count)$", name)):
            self.assertRegex(page, rf"\b{name}\b")
        dashboard = json.loads((place.source / "grafana/w8y.json").read_text())
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        self.assertTrue(any(panel.get("repeat") == "list" for panel in panels))
        expressions = [target["expr"] for panel in panels for target in panel.get("targets", [])]
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                expressions.append(variable["query"]["query"].replace(", ", "{", 1).replace(")", '=""})'))
        expressions += [rule["expr"] for rule in alerts()] + keda_queries()
        self.assertGreater(len(expressions), 40)
        for expression in expressions:
            names, labels = used_in(expression)
            with self.subTest(expression):
                if "up{" not in expression:
                    self.assertTrue(names)
                self.assertLessEqual(names, set(there))
                if names:
                    known = set.union(*(there[name] for name in names)) | ADDED
                    self.assertLessEqual(labels, known)


@unittest.skipUnless(shutil.which("promtool"), "promtool is missing; it is in the package prometheus")
class Promtool(unittest.TestCase):
    def promtool(self, *words, **more):
        done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rules(self):
        self.promtool("check", "rules", place.source / "prometheus/alerts.yml")

    def test_they_fire(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(place.source / "prometheus/alerts.yml", folder)
            shutil.copy(HERE / "prometheus/alerts_test.yml", folder)
            self.promtool("test", "rules", "alerts_test.yml", cwd=folder)

    def test_the_queries_of_the_example_for_keda_are_valid(self):
        rules = [{"record": f"keda:{i}", "expr": query} for i, query in enumerate(keda_queries())]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"groups": [{"name": "keda", "rules": rules}]}, file)
            file.flush()
            self.promtool("check", "rules", file.name)


class Annotations(unittest.TestCase):
    def test_each_alert_has_a_test(self):
        tests = (HERE / "prometheus/alerts_test.yml").read_text()
        for rule in alerts():
            self.assertIn(f'alertname="{rule["alert"]}"', tests)

    def test_each_alert_has_a_command_that_shows_more(self):
        for rule in alerts():
            with self.subTest(rule["alert"]):
                self.assertTrue(commands_in(rule["annotations"]["description"]))

    def test_each_command_of_w8y_parses(self):
        """A wrong command line has exit status 2. There is no w8yd and no Redis, so a correct one has 3."""
        commands = {command for rule in alerts() for text in rule["annotations"].values()
                    for command in commands_in(text)}
        self.assertEqual(self.status("w8yctl no-such-command"), 2)
        for command in sorted(commands):
            with self.subTest(command):
                if command.startswith("w8yctl "):
                    self.assertEqual(self.status(command), 3)
                elif command.startswith("w8yd "):
                    self.assertLessEqual(place.long_options(command.replace("w8yd", " ")),
                                         place.long_options(place.help_texts(self.program("w8yd"))[""]))

    def program(self, name):
        return next(path for path in place.programs if path.name == name)

    def status(self, command):
        name, *words = shlex.split(command)
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "w8y.toml")
            config.write_text(CONFIG.format(folder=folder))
            return subprocess.run(
                [self.program(name), "--config", config, *words],
                stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60,
            ).returncode


if __name__ == "__main__":
    unittest.main()
