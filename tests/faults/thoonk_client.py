"""A client that follows Thoonk's contract exactly, with WATCH, MULTI and EXEC, and a client that uses
the scripts of w8y."""
import pathlib
import sys
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "src/store"))
from embed_lua import strip, whole  # noqa: E402


class Contract:
    """Each method executes the contract's operation of the same name. `redis`: its own connection."""

    def __init__(self, redis, feed):
        self.ask, self.feed = redis.ask, feed
        for name in ("config", "ids", "items", "publishes", "idincr", "published", "claimed",
                     "cancelled", "stalled", "finishes"):
            setattr(self, name, f"feed.{name}:{feed}")

    def transaction(self, *commands):
        """Returns the replies, or None if a watched key has changed."""
        self.ask("MULTI")
        for command in commands:
            self.ask(*command)
        return self.ask("EXEC")

    def tell(self, channel, one, other):
        return ("PUBLISH", f"{channel}:{self.feed}", as_bytes(one) + b"\0" + as_bytes(other))

    def has(self, key, member, command):
        """Returns whether the member exists. Watches the key if it does."""
        self.ask("WATCH", key)
        found = self.ask(command, key, member)
        if found in (None, 0):
            self.ask("UNWATCH")
            return False
        return True

    # ---- feeds

    def publish(self, item, id_=None):
        id_ = id_ or uuid.uuid4().hex
        most = int(self.ask("HGET", self.config, "max_length") or 0)
        while True:
            self.ask("WATCH", self.ids)
            old = self.ask("ZRANGE", self.ids, 0, -most) if most else []
            commands = []
            for each in old:
                if each != as_bytes(id_):
                    commands += [("ZREM", self.ids, each), ("HDEL", self.items, each),
                                 ("PUBLISH", f"feed.retract:{self.feed}", each)]
            commands += [("ZADD", self.ids, now_ms(), id_), ("INCR", self.publishes),
                         ("HSET", self.items, id_, item)]
            done = self.transaction(*commands)
            if done is not None:
                new = done[-3] == 1
                self.ask(*self.tell("feed.publish" if new else "feed.edit", id_, item))
                return id_

    def retract(self, id_):
        while True:
            self.ask("WATCH", self.ids)
            if self.ask("ZRANK", self.ids, id_) is None:
                self.ask("UNWATCH")
                return False
            if self.transaction(("ZREM", self.ids, id_), ("HDEL", self.items, id_),
                                ("PUBLISH", f"feed.retract:{self.feed}", id_)) is not None:
                return True

    # ---- sorted feeds

    def insert(self, where, item, other=None):
        while True:
            if other is not None and not self.has(self.items, other, "HEXISTS"):
                return None
            id_ = self.ask("INCR", self.idincr)
            place = {"append": ("RPUSH", self.ids, id_), "prepend": ("LPUSH", self.ids, id_),
                     "before": ("LINSERT", self.ids, "BEFORE", other, id_),
                     "after": ("LINSERT", self.ids, "AFTER", other, id_)}[where]
            position = {"append": ":end", "prepend": "begin:", "before": f":{other}",
                        "after": f"{other}:"}[where]
            if self.transaction(place, ("HSET", self.items, id_, item), ("INCR", self.publishes),
                                self.tell("feed.publish", id_, item),
                                self.tell("feed.position", id_, position)) is not None:
                return str(id_)

    def edit(self, id_, item):
        while self.has(self.items, id_, "HEXISTS"):
            if self.transaction(("HSET", self.items, id_, item), ("INCR", self.publishes),
                                self.tell("feed.publish", id_, item)) is not None:
                return True
        return False

    def move(self, where, id_, other=None):
        while self.has(self.items, id_, "HEXISTS"):
            if other is not None and self.ask("HEXISTS", self.items, other) == 0:
                self.ask("UNWATCH")
                return False
            place = {"begin": ("LPUSH", self.ids, id_), "end": ("RPUSH", self.ids, id_),
                     "before": ("LINSERT", self.ids, "BEFORE", other, id_),
                     "after": ("LINSERT", self.ids, "AFTER", other, id_)}[where]
            position = {"begin": "begin:", "end": ":end", "before": f":{other}",
                        "after": f"{other}:"}[where]
            if self.transaction(("LREM", self.ids, 1, id_), place,
                                self.tell("feed.position", id_, position)) is not None:
                return True
        return False

    def retract_sorted(self, id_):
        while self.has(self.items, id_, "HEXISTS"):
            if self.transaction(("LREM", self.ids, 1, id_), ("HDEL", self.items, id_),
                                ("PUBLISH", f"feed.retract:{self.feed}", id_)) is not None:
                return True
        return False

    # ---- queues and jobs

    def put(self, item, high=False, job=False, id_=None):
        id_ = id_ or uuid.uuid4().hex
        commands = [("RPUSH" if high else "LPUSH", self.ids, id_), ("HSET", self.items, id_, item)]
        if not (job and high):
            commands.append(("INCR", self.publishes))
        if job:
            commands.append(("ZADD", self.published, now_ms(), id_))
        self.transaction(*commands)
        return id_

    def get(self, timeout=0.05):
        popped = self.ask("BRPOP", self.ids, timeout)
        if popped is None:
            return None
        id_ = popped[1]
        item, _ = self.transaction(("HGET", self.items, id_), ("HDEL", self.items, id_))
        return id_.decode(), item

    def claim(self, timeout=0.05):
        popped = self.ask("BRPOP", self.ids, timeout)
        if popped is None:
            return None
        id_ = popped[1]
        _, item = self.transaction(("ZADD", self.claimed, now_ms(), id_),
                                   ("HGET", self.items, id_))
        return id_.decode(), item

    def finish(self, id_, result):
        return self.while_claimed(id_, ("ZREM", self.claimed, id_), ("HDEL", self.cancelled, id_),
                                  ("INCR", self.finishes), self.tell("job.finish", id_, result),
                                  ("HDEL", self.items, id_))

    def cancel(self, id_):
        return self.while_claimed(id_, ("HINCRBY", self.cancelled, id_, 1),
                                  ("LPUSH", self.ids, id_), ("ZREM", self.claimed, id_))

    def stall(self, id_):
        return self.while_claimed(id_, ("ZREM", self.claimed, id_), ("HDEL", self.cancelled, id_),
                                  ("SADD", self.stalled, id_), ("ZREM", self.published, id_))

    def while_claimed(self, id_, *commands):
        while True:
            self.ask("WATCH", self.claimed)
            if self.ask("ZRANK", self.claimed, id_) is None:
                self.ask("UNWATCH")
                return False
            if self.transaction(*commands) is not None:
                return True

    def retry(self, id_):
        while self.has(self.stalled, id_, "SISMEMBER"):
            if self.transaction(("SREM", self.stalled, id_), ("LPUSH", self.ids, id_),
                                ("ZADD", self.published, now_ms(), id_)) is not None:
                return True
        return False

    def retract_job(self, id_):
        while self.has(self.items, id_, "HEXISTS"):
            if self.transaction(("HDEL", self.items, id_), ("HDEL", self.cancelled, id_),
                                ("ZREM", self.published, id_), ("SREM", self.stalled, id_),
                                ("ZREM", self.claimed, id_),
                                ("LREM", self.ids, 1, id_)) is not None:
                return True
        return False


class Scripts:
    """The same operations with the scripts of src/store/lua, called as by w8yctl."""

    loaded = {}

    def __init__(self, redis, feed):
        self.redis, self.feed = redis, feed
        self.keys = Contract(redis, feed)

    def run(self, name, keys, *arguments):
        if name not in self.loaded:
            text = strip(whole(ROOT / f"src/store/lua/{name}.lua"))
            self.loaded[name] = self.redis.ask("SCRIPT", "LOAD", text)
        keys = [getattr(self.keys, key) for key in ("config", *keys)] + ["feeds"]
        return self.redis.ask("EVALSHA", self.loaded[name], len(keys), *keys, self.feed, *arguments)

    def publish(self, item, id_=None):
        id_ = id_ or uuid.uuid4().hex
        channels = [f"feed.{each}:{self.feed}" for each in ("publish", "edit", "retract")]
        while self.run("feed_publish", ("ids", "items", "publishes"), *channels, 1000, id_,
                       item)[0] == 0:
            pass
        return id_

    def retract(self, id_, kind="feed"):
        return self.run("feed_retract", ("ids", "items"), kind, f"feed.retract:{self.feed}",
                        id_) == [1]

    def retract_sorted(self, id_):
        return self.retract(id_, "sorted_feed")

    def insert(self, where, item, other=None):
        try:
            return self.run("sorted_insert", ("ids", "items", "publishes", "idincr"),
                            f"feed.publish:{self.feed}", f"feed.position:{self.feed}", where,
                            other or "", item)[0].decode()
        except Exception as error:
            if "GONE" in str(error):
                return None
            raise

    def edit(self, id_, item):
        return self.run("sorted_edit", ("items", "publishes"), f"feed.publish:{self.feed}", id_,
                        item) == 1

    def move(self, where, id_, other=None):
        try:
            return self.run("sorted_move", ("ids", "items"), f"feed.position:{self.feed}", id_,
                            where, other or "", "a position") == 1
        except Exception as error:
            if "GONE" in str(error):
                return False
            raise

    def put(self, item, high=False, job=False):
        id_ = uuid.uuid4().hex
        if job:
            self.run("job_put", ("ids", "items", "publishes", "published", "claimed", "cancelled", "stalled"),
                     "", f"{self.feed}:keep", f"feed.result:{self.feed}:", "", "", "", id_, item,
                     "hn" if high else "n", "")
        else:
            self.run("feed_put", ("ids", "items", "publishes"), int(high), id_, item)
        return id_

    def get(self, kind="queue"):
        found = self.run("feed_get", ("ids", "items", "claimed", "stalled"), kind, 1000000)
        if found[0] != b"got":
            time.sleep(0.005)
            return None
        return found[1].decode(), found[2]

    def claim(self):
        return self.get("job")

    def change(self, what, id_, channel="", result=""):
        return self.run("job_change", ("ids", "items", "published", "claimed", "cancelled",
                                       "stalled", "finishes"), what, f"feed.lease:{self.feed}:",
                        f"{self.feed}:claims", channel, result, id_) == [1]

    def finish(self, id_, result):
        return self.change("finish", id_, f"job.finish:{self.feed}", result)

    def cancel(self, id_):
        return self.change("cancel", id_)

    def stall(self, id_):
        return self.change("stall", id_)

    def retry(self, id_):
        return self.change("retry", id_)

    def retract_job(self, id_):
        return self.change("retract", id_)


def now_ms():
    return int(time.time() * 1000)


def as_bytes(word):
    return word if isinstance(word, bytes) else str(word).encode()
