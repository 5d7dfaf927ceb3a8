#!/usr/bin/env python3
"""Checks that etc/openapi.json is a document of OpenAPI 3.1, as far as possible without the schema of OpenAPI.

    openapi_check.py DOCUMENT SUPPORT-DIRECTORY
"""
import re
import sys

import jsonschema

sys.path.insert(0, sys.argv[2])
from openapi import Document  # noqa: E402

document = Document(sys.argv[1])
problems = []
# Locations of objects that may have any members.
OPEN = re.compile(r"AnyBody|RunWanted|ItemWanted")
PARTS = {"openapi", "info", "servers", "security", "paths", "components"}
OPERATION = {"operationId", "summary", "description", "parameters", "requestBody", "responses", "security"}
PARAMETER = {"name", "in", "description", "required", "schema"}


def check(right, problem):
    if not right:
        problems.append(problem)


def nodes(node, place=()):
    yield place, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from nodes(value, (*place, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from nodes(value, (*place, str(number)))


def schemas(node, place):
    """Yields a schema and its inner schemas."""
    if not isinstance(node, dict):
        return
    yield place, node
    for key in ("properties",):
        for name, one in node.get(key, {}).items():
            yield from schemas(one, (*place, name))
    for key in ("items", "additionalProperties", "not"):
        yield from schemas(node.get(key), (*place, key))
    for key in ("allOf", "anyOf", "oneOf"):
        for one in node.get(key, []):
            yield from schemas(one, (*place, key))


def check_content(node, place):
    check(node.get("content"), f"{place}: no content")
    for kind, media in node.get("content", {}).items():
        check(re.fullmatch(r"[a-z]+/[a-z.+-]+", kind), f"{place}: {kind} is no media type")
        check(set(media) == {"schema"}, f"{place}: {kind} has more or less than a schema")
        check_schema(media["schema"], place)


def check_schema(schema, place):
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        problems.append(f"{place}: {error.message}")


def check_operation(method, path, operation):
    place = f"{method} {path}"
    check(set(operation) <= OPERATION, f"{place}: {set(operation) - OPERATION}")
    check(operation.get("operationId") and operation.get("summary"), f"{place}: no operationId or summary")
    named = []
    for parameter in map(document.follow, operation.get("parameters", [])):
        check(set(parameter) <= PARAMETER, f"{place}: {set(parameter) - PARAMETER}")
        check(parameter["in"] in ("path", "query", "header"), f"{place}: {parameter['in']}")
        check(parameter.get("description"), f"{place}: {parameter['name']} is not described")
        check_schema(parameter["schema"], place)
        if parameter["in"] == "path":
            check(parameter.get("required") is True, f"{place}: {parameter['name']} is not required")
            named.append(parameter["name"])
    check(sorted(named) == sorted(re.findall(r"\{(\w+)\}", path)), f"{place}: parameters of the path: {named}")
    if "requestBody" in operation:
        check(method in ("POST", "PUT"), f"{place}: has a body")
        check_content(operation["requestBody"], place)
    check("200" in operation.get("responses", {}), f"{place}: has no 200")
    for status, answer in operation.get("responses", {}).items():
        check(re.fullmatch(r"[2-5]\d\d", status), f"{place}: {status}")
        answer = document.follow(answer)
        check(answer.get("description"), f"{place}: {status} is not described")
        check_content(answer, f"{place}: {status}")


check(set(document.all) == PARTS, f"parts: {set(document.all) ^ PARTS}")
check(re.fullmatch(r"3\.1\.\d", document.all["openapi"]), "not OpenAPI 3.1")
check({"title", "version"} <= set(document.all["info"]), "info has no title or no version")
ids = [operation.get("operationId") for _, _, operation in document.operations()]
check(len(set(ids)) == len(ids), "an operationId is there twice")
for method, path, operation in document.operations():
    check(path.startswith("/"), f"{path} does not start with /")
    check_operation(method, path, operation)

used = set()
for place, node in nodes(document.all):
    if place and place[-1] == "$ref":
        used.add(node)
        try:
            document.follow({"$ref": node})
        except KeyError:
            problems.append(f"{'/'.join(place)}: there is no {node}")
for kind in ("schemas", "responses"):
    for name, node in document.all["components"][kind].items():
        check(f"#/components/{kind}/{name}" in used, f"{kind}: nothing refers to {name}")
        if kind == "responses":
            continue
        check_schema(node, name)
        for place, one in schemas(node, (name,)):
            if one.get("type") == "object" and not OPEN.match(name):
                check("additionalProperties" in one, f"{'/'.join(place)}: takes members of any name")
                check(set(one.get("required", [])) <= set(one.get("properties", {})),
                      f"{'/'.join(place)}: requires what it does not have")

for line in problems:
    print(line)
print(f"{len(ids)} operations, {len(problems)} problems")
sys.exit(1 if problems or not ids else 0)
