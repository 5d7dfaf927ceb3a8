#!/usr/bin/env python3
"""Runs the examples of w8y-redis(7) with a redis-server on port 6379, in a network of its own, and a w8yd that
runs the added items and jobs. Each has only the permissions that the page names. Prints the results as JSON.

    redis_page.py W8YD FOLDER EXAMPLES   EXAMPLES: JSON of test_redis_page.py
"""
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from private_redis import Redis, die_with_parent, wait_for  # noqa: E402

CONFIG = """
[redis]
url = "redis://w8yd:w8yd@127.0.0.1:6379"
[supervisor]
host = "alone"
status = ["unix:{folder}/w8yd.sock"]
[lists.work]
command = ["sh", "-c", "echo $0 >>{folder}/work", "{{}}"]
cooldown = "1h"
[lists.bike]
source = "schedule"
queues = "A"
command = ["sh", "-c", "echo $0 >>{folder}/bike", "{{}}"]
[lists.news]
source = "job"
command = ["sh", "-c", "cat >>{folder}/news; echo >>{folder}/news"]
"""
CHANNELS = {"CIRCULAR LISTS": "work:wake", "SCHEDULES": "bike:wake", "JOBS": "news:wake"}
FILES = {"CIRCULAR LISTS": "work", "SCHEDULES": "bike", "JOBS": "news"}
USERS = {"CIRCULAR LISTS": "items", "SCHEDULES": "schedules", "JOBS": "jobs"}
RUNS = {"CIRCULAR LISTS": ["one", "two"], "SCHEDULES": ["mail:A"], "JOBS": ["the payload"]}


class Page:
    def __init__(self, w8yd, folder, examples):
        self.folder = Path(folder)
        self.examples = examples
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        self.redis = Redis(self.folder / "redis", "--port", "6379", "--bind", "127.0.0.1")
        self.redis.ask("ACL", "SETUSER", "w8yd", "reset", "on", ">w8yd", "~*", "&*", "+@all")
        self.redis.login = ("w8yd", "w8yd")
        config = self.folder / "w8y.toml"
        config.write_text(CONFIG.format(folder=folder))
        with (self.folder / "log").open("w") as log:
            subprocess.Popen([w8yd, "--config", config], stdout=log, stderr=log, preexec_fn=die_with_parent)
        for channel in CHANNELS.values():
            wait_for(lambda channel=channel: self.redis.ask("PUBSUB", "NUMSUB", channel)[1], what=channel)

    def permit(self, *rules):
        """Gives the user of the examples these permissions."""
        self.redis.ask("ACL", "SETUSER", "default", "reset", "on", "nopass", *rules)

    def rules_of(self, section):
        command = next(each for each in self.examples["permissions"] if each[2:4] == ["SETUSER", USERS[section]])
        return command[command.index(">SECRET") + 1:]

    def run(self, language, code):
        command = {"redis-cli": ["bash", "-c"], "Python": ["/usr/bin/python3", "-c"], "Node": ["node", "-e"]}[language]
        environment = {**os.environ, "NODE_PATH": "/usr/share/nodejs"}
        done = subprocess.run([*command, code], capture_output=True, text=True, timeout=60, env=environment,
                              check=False)
        errors = [line for line in done.stdout.splitlines() if re.match(r"(\(error\)|[A-Z]+ERR|ERR|NOPERM|EXECABORT)", line)]
        if done.returncode != 0 or done.stderr or errors:
            raise AssertionError(f"{language}: exit status {done.returncode}: {done.stderr}{errors}")

    def runs(self, section):
        file = self.folder / FILES[section]
        return file.read_text().splitlines() if file.exists() else []

    def state(self, section):
        """Returns the state in Redis after the run."""
        ask = self.redis.ask
        if section == "CIRCULAR LISTS":
            for item in RUNS[section]:
                wait_for(lambda item=item: ask("GET", f"work:lock:{item}") == b"delay:cooldown", what="the delay")
            return {"items": sorted(item.decode() for item in ask("LRANGE", "work:list", 0, -1))}
        if section == "SCHEDULES":
            wait_for(lambda: ask("ZSCORE", "bike-timeline", "mail:A"), what="the next time")
            return {"schedule": ask("HGET", "bike-schedules", "mail:A").decode(),
                    "status": ask("HGET", "bike-statuses", "mail:A").decode()[:4],
                    "hour": time.gmtime(float(ask("ZSCORE", "bike-timeline", "mail:A")))[3:6]}
        wait_for(lambda: ask("GET", "feed.finishes:news") == b"1", what="the end of the job")
        return {"publishes": ask("GET", "feed.publishes:news").decode(),
                "remains": ask("HLEN", "feed.items:news") + ask("ZCARD", "feed.published:news")
                + ask("LLEN", "feed.ids:news") + ask("ZCARD", "feed.claimed:news")}

    def clean(self, section):
        (self.folder / FILES[section]).unlink()
        keys = {"CIRCULAR LISTS": ["work:list", "work:lock:one", "work:lock:two"], "SCHEDULES": [],
                "JOBS": ["feed.publishes:news", "feed.finishes:news"]}[section]
        if keys:
            self.redis.ask("DEL", *keys)

    def one(self, section, language, code):
        self.permit(*self.rules_of(section))
        with self.redis.wire() as wire:
            wire.ask("SUBSCRIBE", CHANNELS[section])
            begin = time.monotonic()
            self.run(language, code)
            wake_up = wire.read()[2].decode()
        wait_for(lambda: set(self.runs(section)) >= set(RUNS[section]), what=f"{section}: {language}: the run")
        took = time.monotonic() - begin
        state = self.state(section)
        runs = sorted(self.runs(section))
        self.clean(section)
        if section == "SCHEDULES":
            self.permit("~*", "&*", "+@all")
            self.run("redis-cli", self.examples["unset"])
            state["left"] = self.redis.ask("EXISTS", "bike-schedules", "bike-statuses", "bike-timeline")
        return {"wake_up": wake_up, "runs": runs, "state": state, "seconds": took}

    def once(self):
        """The job without a schedule."""
        self.permit(*self.rules_of("SCHEDULES"))
        self.run("redis-cli", self.examples["once"])
        wait_for(lambda: self.runs("SCHEDULES") == ["report:A"], what="the run of report:A")
        wait_for(lambda: not self.redis.ask("HEXISTS", "bike-statuses", "report:A"), what="the end of report:A")
        return self.redis.ask("ZCARD", "bike-timeline")

    def not_necessary(self, section):
        """Returns each permission without which the examples still work in all languages."""
        return [rule for rule in self.rules_of(section)
                if re.match(r"[+~&]", rule) and self.work_without(section, rule)]

    def work_without(self, section, rule):
        self.permit(*(each for each in self.rules_of(section) if each != rule))
        try:
            for of, language, code in self.examples["examples"]:
                if of == section:
                    self.run(language, code)
        except AssertionError:
            return False
        return True


def main(w8yd, folder, examples):
    page = Page(w8yd, folder, json.loads(Path(examples).read_text()))
    results = {}
    for section, language, code in page.examples["examples"]:
        results[f"{section}: {language}"] = page.one(section, language, code)
    results["once"] = page.once()
    results["not necessary"] = {section: page.not_necessary(section) for section in CHANNELS}
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
