#!/usr/bin/env python3
"""A client, a dispatcher and a worker that execute the steps of Redbike 0.13 in Redis.

    redbike_client.py SOCKET PREFIX set JOB SCHEDULE
    redbike_client.py SOCKET PREFIX unset JOB
    redbike_client.py SOCKET PREFIX control HALT
    redbike_client.py SOCKET PREFIX dispatch [--timefile FILE]
    redbike_client.py SOCKET PREFIX work QUEUES [--timeout SECONDS] [--run SECONDS]

dispatch and work continue until HALT. A worker prints one line per run, `job tag`. The name of a job
defines its outcome: a name that starts with "stop", "unset" or "boom" has this outcome, and a name that
starts with "later" requests a backoff of 60 seconds.

As in Redbike, dispatch takes two steps: a job leaves the timeline, and then enters its queue.
"""
import argparse
import calendar
import datetime
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from private_redis import Wire

ENQUEUE = """
local queue, job = KEYS[1], ARGV[1]
if redis.call('SISMEMBER', queue .. '-members', job) == 0 and
    not redis.call('GET', queue .. '-' .. job) then
  redis.call('LPUSH', queue, job)
  redis.call('SADD', queue .. '-members', job)
  redis.call('HSET', KEYS[2], job, 'ENQ:' .. ARGV[2])
end"""
TAKE = """
local queue = KEYS[1]
local job = redis.call('RPOP', queue)
if job then
  redis.call('SREM', queue .. '-members', job)
  redis.call('SET', queue .. '-' .. job, ARGV[1])
  redis.call('EXPIRE', queue .. '-' .. job, ARGV[2])
  redis.call('HSET', KEYS[2], job, 'WRK:' .. ARGV[3])
end
return job"""


class StopWork(Exception):
    pass


class UnsetJob(Exception):
    pass


def now():
    return int(time.time())


class Redbike:
    def __init__(self, redis, prefix):
        self.ask = redis.ask
        self.prefix = prefix
        self.schedules = f"{prefix}-schedules"
        self.statuses = f"{prefix}-statuses"
        self.timeline = f"{prefix}-timeline"
        self.signal = f"{prefix}-control"

    def queue_of(self, job):
        return f"{self.prefix}-work-{job.split(':')[-1]}"

    def status(self, job, event):
        self.ask("HSET", self.statuses, job, f"{event}:{now()}")

    def halted(self):
        return self.ask("GET", self.signal) == b"HALT"

    def set(self, job, schedule):
        self.ask("HSET", self.schedules, job, schedule)
        self.act(job, schedule)

    def unset(self, job):
        self.ask("HDEL", self.statuses, job)
        self.ask("HDEL", self.schedules, job)
        self.ask("ZREM", self.timeline, job)
        self.ask("LREM", self.queue_of(job), 0, job)

    def enqueue(self, job):
        self.ask("EVAL", ENQUEUE, 2, self.queue_of(job), self.statuses, job, now())

    def run_at(self, job, at):
        self.status(job, "TML")
        self.ask("ZADD", self.timeline, int(at), job)

    def act(self, job, schedule, backoff=None):
        if schedule is None:
            self.unset(job)
        elif schedule == "STOP":
            self.status(job, "STP")
        elif schedule == "CONTINUE" and backoff:
            self.run_at(job, now() + backoff)
        elif schedule == "CONTINUE":
            self.enqueue(job)
        elif schedule == "NOW":
            self.ask("HSET", self.schedules, job, "STOP")
            self.enqueue(job)
        elif schedule.startswith("AT:"):
            self.ask("HSET", self.schedules, job, "STOP")
            self.run_at(job, schedule.split(":")[1])
        else:
            self.follow(job, schedule)

    def follow(self, job, rule):
        from dateutil.rrule import rrulestr

        try:
            after = datetime.datetime.fromtimestamp(now(), datetime.timezone.utc)
            due = rrulestr(rule).after(after.replace(tzinfo=None))
        except ValueError:
            return self.status(job, "BAD")
        if due is None:
            return self.status(job, "STP")
        return self.run_at(job, calendar.timegm(due.timetuple()))

    def dispatch(self, timefile=None):
        self.ask("DEL", self.signal)
        while True:
            point = now()
            for job in self.ask("ZRANGEBYSCORE", self.timeline, 0, point):
                self.ask("ZREM", self.timeline, job)
                self.enqueue(job.decode())
            if timefile:
                with open(f"{timefile}.0", "w") as file:
                    file.write(str(point))
                os.rename(f"{timefile}.0", timefile)
            if self.halted():
                return
            time.sleep(0.01)

    def let_go(self, job, tag):
        key = f"{self.queue_of(job)}-{job}"
        if self.ask("GET", key) != tag.encode():
            return False
        return self.ask("DEL", key) == 1

    def take(self, code, timeout):
        tag = f"{random.randrange(16 ** 30):030x}"
        queue = f"{self.prefix}-work-{code}"
        job = self.ask("EVAL", TAKE, 2, queue, self.statuses, tag, timeout, now())
        return (job.decode(), tag) if job is not None else None

    def run(self, job, tag, work):
        try:
            backoff = None
            try:
                backoff = work(job, tag)
            except StopWork:
                self.ask("HSET", self.schedules, job, "STOP")
            except UnsetJob:
                self.unset(job)
                self.let_go(job, tag)
                return
            if self.let_go(job, tag):
                schedule = self.ask("HGET", self.schedules, job)
                self.act(job, None if schedule is None else schedule.decode(), backoff)
        except Exception:  # noqa: BLE001: any exception of a worker
            self.status(job, "DIE")
            self.let_go(job, tag)

    def work(self, codes, work, timeout=10):
        self.ask("DEL", self.signal)
        while True:
            for code in codes:
                taken = self.take(code, timeout)
                if taken:
                    self.run(*taken, work)
                else:
                    time.sleep(0.005)
                if self.halted():
                    return


def worker(seconds):
    def work(job, tag):
        print(job, tag, flush=True)
        time.sleep(seconds)
        if job.startswith("stop"):
            raise StopWork
        if job.startswith("unset"):
            raise UnsetJob
        if job.startswith("boom"):
            raise RuntimeError(job)
        return 60 if job.startswith("later") else None

    return work


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("socket")
    parser.add_argument("prefix")
    parser.add_argument("command", choices=["set", "unset", "control", "dispatch", "work"])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--timefile")
    parser.add_argument("--timeout", type=int, default=10)
    parser.add_argument("--run", type=float, default=0)
    args = parser.parse_args()
    with Wire(args.socket) as redis:
        bike = Redbike(redis, args.prefix)
        if args.command == "dispatch":
            bike.dispatch(args.timefile)
        elif args.command == "work":
            bike.work(args.words[0].split(":"), worker(args.run), args.timeout)
        elif args.command == "control":
            redis.ask("SET", bike.signal, args.words[0])
        else:
            getattr(bike, args.command)(*args.words)


if __name__ == "__main__":
    sys.exit(main())
