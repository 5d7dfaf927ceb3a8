"""Permissions in Redis: the list in w8y-security(7), and the report of a server for its users.

    rights.py block PAGE N              the N-th command for redis-cli that the page shows
    rights.py named PAGE N…             the Redis commands that these commands grant to a user
    rights.py allowed SOCKET USER       all Redis commands of the server that USER may execute
    rights.py refused SOCKET [USER PASSWORD]
                                        the refusals of all users: user, reason, object
    rights.py done SOCKET               the Redis commands that the server has executed
"""
import re
import sys

from private_redis import RedisError, Wire

#: Commands that w8y sends on each connection, and whose refusal it ignores. Redis before 7.2 does not know them.
OPTIONAL = {"client|setinfo"}


def text(reply):
    if isinstance(reply, list):
        return [text(each) for each in reply]
    return reply.decode() if isinstance(reply, bytes) else reply


def ask(wire, *words):
    try:
        return text(wire.ask(*words))
    except RedisError as error:
        return str(error)


def blocks(page):
    text = open(page, encoding="utf-8").read()
    found = re.findall(r"^\.Bd -literal.*\n(redis-cli (?:.|\n)*?)^\.Ed", text, re.M)
    for written, meant in (("\\e", "\\"), ("\\(aq", "'"), ("\\(ti", "~")):
        found = [each.replace(written, meant) for each in found]
    return found


def block(page, number):
    return [blocks(page)[int(number)].rstrip()]


def named(page, *numbers):
    commands = set()
    for number in numbers:
        for sign, word in re.findall(r"[ ']([-+])([a-z|-]+)", blocks(page)[int(number)]):
            (commands.add if sign == "+" else commands.discard)(word)
    return sorted(commands)


def allowed(path, user):
    """DRYRUN checks the number of arguments before the permissions, and the keys after them."""
    redis = Wire(path)
    found = []
    for name in sorted(ask(redis, "COMMAND", "LIST")):
        words = name.split("|")
        # [name, arity, …, subcommands]: for a command with subcommands, only the subcommands count.
        about = ask(redis, "COMMAND", "INFO", name)[0]
        if len(about) > 9 and about[9]:
            continue
        words += ["1"] * max(abs(about[1]) - len(words), 0)
        if "no permissions to run" not in ask(redis, "ACL", "DRYRUN", user, *words):
            found.append(name)
    return found


def refused(path, *login):
    entries = [dict(zip(entry[::2], entry[1::2])) for entry in ask(Wire(path, login=login), "ACL", "LOG", "128")]
    return sorted({f"{each['username']}: {each['reason']} {each['object']}" for each in entries
                   if each["object"] not in OPTIONAL})


def done(path):
    stats = ask(Wire(path), "INFO", "commandstats")
    found = re.findall(r"cmdstat_([^:]+):calls=(\d+)", stats)
    return sorted(name for name, calls in found if int(calls) > 0 and name not in OPTIONAL)


what, *words = sys.argv[1:]
for line in globals()[what](*words):
    print(line)
