#!/usr/bin/env python3
"""Checks that the parser, the sample and the schema of w8y.toml agree.

    schema_check.py KNOWN-KEYS-PROGRAM SAMPLE SCHEMA

The parser, the schema and the sample have the same keys and the same defaults. For many values, the
schema and the parser give the same verdict.
"""
import json
import re
import subprocess
import sys
import tomllib

program, sample_path, schema_path = sys.argv[1:4]
problems = []


def check(right, problem):
    if not right:
        problems.append(problem)


# Validator for the part of draft-07 that the schema uses. Any other keyword is a problem.

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}
NOTES = {"$schema", "title", "description", "default", "definitions"}


def follow(reference):
    node = schema
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def valid_member(rule, key, value):
    if "propertyNames" in rule and not valid(rule["propertyNames"], key):
        return False
    if key in rule.get("properties", {}):
        return valid(rule["properties"][key], value)
    more = rule.get("additionalProperties", True)
    return more if isinstance(more, bool) else valid(more, value)


def is_number(value):
    return TYPES["number"](value)


KEYWORDS = {
    "$ref": lambda rule, v: valid(follow(rule["$ref"]), v),
    "type": lambda rule, v: TYPES[rule["type"]](v),
    "enum": lambda rule, v: any(type(v) is type(e) and v == e for e in rule["enum"]),
    "pattern": lambda rule, v: not isinstance(v, str) or re.search(rule["pattern"], v),
    "minLength": lambda rule, v: not isinstance(v, str) or len(v) >= rule["minLength"],
    "minimum": lambda rule, v: not is_number(v) or v >= rule["minimum"],
    "maximum": lambda rule, v: not is_number(v) or v <= rule["maximum"],
    "items": lambda rule, v: not isinstance(v, list) or all(valid(rule["items"], i) for i in v),
    "minItems": lambda rule, v: not isinstance(v, list) or len(v) >= rule["minItems"],
    "required": lambda rule, v: not isinstance(v, dict) or all(k in v for k in rule["required"]),
    "properties": lambda rule, v: not isinstance(v, dict)
    or all(valid_member(rule, key, value) for key, value in v.items()),
    "not": lambda rule, v: not valid(rule["not"], v),
    "allOf": lambda rule, v: all(valid(one, v) for one in rule["allOf"]),
    "anyOf": lambda rule, v: any(valid(one, v) for one in rule["anyOf"]),
    "oneOf": lambda rule, v: sum(valid(one, v) for one in rule["oneOf"]) == 1,
}
KEYWORDS["additionalProperties"] = KEYWORDS["propertyNames"] = KEYWORDS["properties"]


def valid(rule, value):
    unknown = rule.keys() - KEYWORDS.keys() - NOTES
    check(not unknown, f"schema: the check does not know {unknown}")
    return all(KEYWORDS[key](rule, value) for key in rule.keys() & KEYWORDS.keys())


# Keys and defaults of the parser, the sample and the schema.

with open(schema_path, encoding="utf-8") as file:
    schema = json.load(file)
with open(sample_path, encoding="utf-8") as file:
    sample = file.read()
uncommented = re.sub(r"(?m)^#(?=[a-z\[])", "", sample)

known = {}
for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n"):
    if line:
        section, name, fallback = line.split("\t")
        known.setdefault(section, {})[name] = tomllib.loads("x = " + fallback)["x"] if fallback else None

properties = {
    "": {k: v for k, v in schema["properties"].items()
         if k == "include" or v.get("type") not in ("object", "array")},
    "lists_from": schema["definitions"]["lists_from"]["properties"],
    "redis": schema["properties"]["redis"]["properties"],
    "gearman": schema["properties"]["gearman"]["properties"],
    "supervisor": schema["properties"]["supervisor"]["properties"],
    "lists": schema["definitions"]["list"]["properties"],
    "lists.backoff": schema["definitions"]["backoff"]["properties"],
    "lists.rlimits": schema["definitions"]["rlimits"]["properties"],
    "hosts.PATTERN": {k: v for k, v in schema["definitions"]["host"]["properties"].items() if k != "lists"},
}
of_host_lists = known.pop("hosts.PATTERN.lists")


def parser_says(files):
    run = subprocess.run([program, "--check"], check=True, capture_output=True, text=True,
                         input="\0".join(files) + "\0")
    lines = run.stdout.split("\n")[:-1]
    assert len(lines) == len(files)
    return lines


# Checks.

def check_schema():
    check(known.keys() == properties.keys(), f"sections differ: {known.keys() ^ properties.keys()}")
    for section, keys in known.items():
        differ = keys.keys() ^ properties[section].keys()
        check(not differ, f"schema: [{section}] and the parser differ in {sorted(differ)}")
        for key, rule in properties[section].items():
            place = f"schema: [{section}] {key}"
            check(rule.get("description"), f"{place} has no description")
            check(rule.get("default") == keys.get(key), f"{place}: not the parser's default")
            check("default" not in rule or valid(rule, rule["default"]), f"{place}: bad default")
    defaults = schema["properties"]["defaults"]["properties"]
    differ = (known["lists"].keys() - {"executor", "command"}) ^ defaults.keys()
    check(not differ, f"schema: [defaults] and lists differ in {sorted(differ)}")
    on_hosts = schema["definitions"]["host_list"]["properties"]
    differ = of_host_lists.keys() ^ on_hosts.keys()
    check(not differ, f"schema: lists of [hosts] and the parser differ in {sorted(differ)}")
    for where, keys in (("[defaults]", defaults), ("lists of [hosts]", on_hosts)):
        for key, rule in keys.items():
            check(rule == {"$ref": f"#/definitions/list/properties/{key}"}, f"schema: {where} {key}")


def sample_tables(whole):
    lists = [whole["defaults"], *whole["lists"].values()]
    return {
        "": [{k: v for k, v in whole.items()
              if not isinstance(v, dict) and k != "lists_from"}],
        "lists_from": whole["lists_from"],
        "redis": [whole["redis"]],
        "gearman": [whole["gearman"]],
        "supervisor": [whole["supervisor"]],
        "lists": lists,
        "lists.backoff": [one["backoff"] for one in lists if one.get("backoff")],
        "lists.rlimits": [one["rlimits"] for one in lists if "rlimits" in one],
        "hosts.PATTERN": [{k: v for k, v in one.items() if k != "lists"}
                          for one in whole["hosts"].values()],
    }


def check_sample():
    plain, whole = tomllib.loads(sample), tomllib.loads(uncommented)
    check(plain == {"redis": {}, "gearman": {}, "supervisor": {}, "defaults": {}}, "sample: sets something")
    for name, value in (("sample", plain), ("uncommented sample", whole)):
        check(valid(schema, value), f"{name}: not valid by the schema")
    # Some keys are valid only with a URL that needs them.
    everything = uncommented.replace("redis://localhost:6379", "rediss+sentinel://localhost/service")
    for name, says in zip(("sample", "uncommented sample"), parser_says([sample, everything])):
        check(not says, f"{name}: {says}")
    for section, tables in sample_tables(whole).items():
        shown = {key for table in tables for key in table}
        differ = shown ^ known[section].keys()
        check(not differ, f"sample: [{section}] and the parser differ in {sorted(differ)}")
        for key, fallback in known[section].items():
            right = fallback is None or any(table.get(key) == fallback for table in tables)
            check(right, f"sample: [{section}] {key} is not shown with its default {fallback!r}")


def numbers(rule):
    """Yields each bound of a schema, and the numbers just above and below it."""
    for key, value in rule.items():
        if key in ("minimum", "maximum"):
            yield from (value, value - 1, value + 1)
            if isinstance(value, float):
                yield from (value / 2, value * 2)
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from numbers(follow(inner["$ref"]) if "$ref" in inner else inner)


def strings(rule):
    texts = ["", "x", "/x", "temp", "*", "5s", "1h30m", "5 s", "64KiB", "1K", "022", "0999", "W8Y_A",
             "A_1", "1A", "a:b", "redis://h", "unix:///s", "http://h", "unix:/s", "unlimited", "lock",
             "cpus", "cpus*2", "cpus/02", "cpus*0", "cpus+1", "circular", "schedule", "job", "stream", "single", "/" + "x" * 107]
    return texts + [text + end for text in rule.get("enum", []) if isinstance(text, str)
                    for end in ("", "x")]


def values_for(rule):
    yield from (True, False, 0, 1, -1, 0.0, 1.5, -0.5, 10**12)
    yield from numbers(rule)
    texts = strings(rule)
    yield from texts
    yield from ([], {}, [1], [[]], [0, 255], [256], [-1], ["a", 1])
    yield from ([text] for text in texts)
    yield from ({"A": "b"}, {"A": 1}, {"W8Y_A": "b"}, {"1": "b"}, {"min": 1}, {"min": 0}, {"x": 1})
    yield from ({"factor": 0.5}, {"nofile": 1}, {"nofile": "1"}, {"as": "1GiB"}, {"cpu": "1h"})


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(v)}" for key, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def holds_text(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return isinstance(value, str) or any(map(holds_text, inner))


def check_values():
    """The schema accepts each value that the parser accepts. The parser accepts each value that the schema accepts,
    except some texts, which only the parser checks exactly."""
    cases = []
    for section in ("redis", "gearman", "supervisor", "lists", "hosts.PATTERN"):
        for key, rule in properties[section].items():
            program = 'command = ["x"]' if key in ("result", "max_result") else 'executor = "/x"'
            base = "" if section != "lists" or key in ("executor", "command") else program + "\n"
            if section == "lists" and key in ("queues", "dispatch", "on_failure", "catch_up", "timefile"):
                base += 'source = "schedule"\n' + ('queues = "A"\n' if key != "queues" else "")
            if section == "lists" and key in ("claim_timeout", "maintenance_interval"):
                base += 'source = "job"\n'
            head = "[lists.w]\n" if section == "lists" else f"[{section}]\n"
            cases += [(f"{head}{base}{key} = {toml(value)}", value) for value in values_for(rule)]
    for (text, value), says in zip(cases, parser_says([text for text, _ in cases])):
        by_schema = bool(valid(schema, tomllib.loads(text)))
        if not says:
            check(by_schema, f"schema refuses what the parser takes: {text!r}")
        elif not holds_text(value):
            check(not by_schema, f"schema takes {text!r}, of which the parser says: {says}")
    return len(cases)


def check_strangers():
    for text in ("x = 1", "[x]", "[redis]\nx = 1", "[supervisor]\nx = 1", "[defaults]\nx = 1",
                 '[defaults]\nexecutor = "/x"', '[lists.w]\nexecutor = "/x"\nx = 1',
                 '[lists.w]\nexecutor = "/x"\ncommand = ["x"]', "[lists.w]", '[lists.":"]\nexecutor = "/x"',
                 "[hosts]\nx = 1", "[hosts.x]\nx = 1", "[hosts.x.lists]\nw = 1",
                 '[lists.w]\nexecutor = "/x"\n[hosts.x.lists.w]\nargs = []'):
        check(not valid(schema, tomllib.loads(text)), f"schema takes {text!r}")
        check(parser_says([text])[0], f"parser takes {text!r}")


check_schema()
check_sample()
check_strangers()
count = check_values()
for problem in dict.fromkeys(problems):
    print(problem, file=sys.stderr)
print(f"{sum(map(len, known.values()))} keys, {count} values, {len(problems)} problems")
sys.exit(1 if problems else 0)
