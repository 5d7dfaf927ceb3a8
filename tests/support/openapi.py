"""Compares responses with etc/openapi.json.

    Document(path).check("GET", "/api/v1/lists/a%2Fb?x=1", 200, "application/json", body)
"""
import json
import re

import jsonschema

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def segments(path):
    return path.split("?")[0].split("/")[1:]


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = json.load(file)
        self.paths = self.all["paths"]

    def follow(self, node):
        while "$ref" in node:
            place = node["$ref"].removeprefix("#/")
            node = self.all
            for part in place.split("/"):
                node = node[part]
        return node

    def template_of(self, path):
        """Returns the matching path of the document, or None. Paths with fewer parameters come first."""
        wanted = segments(path)
        fitting = [
            template for template in self.paths
            if len(segments(template)) == len(wanted)
            and all(part.startswith("{") or part == has for part, has in zip(segments(template), wanted))
        ]
        return min(fitting, key=lambda template: template.count("{"), default=None)

    def operations(self):
        for template, item in self.paths.items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), template, item[method]

    def schema(self, node):
        """Returns the schema with the components to which it refers."""
        return {**node, "components": self.all["components"]}

    def problems(self, node, value, place=""):
        """Yields the problems of a value. If a schema has alternatives, the closest one counts."""
        validator = jsonschema.Draft202012Validator(self.schema(node))
        for error in validator.iter_errors(value):
            worst = error
            while worst.context:
                worst = jsonschema.exceptions.best_match([min(
                    worst.context, key=lambda one: (-len(one.absolute_path), len(one.context or ())))])
            yield f"{place}/{'/'.join(map(str, worst.absolute_path))}: {worst.message[:400]}"

    def check(self, method, path, status, content_type, body):
        """Returns the problems of a response, as lines."""
        template = self.template_of(path)
        operation = self.paths.get(template, {}).get(method.lower())
        if operation is None or status in (401, 403, 405, 411, 413, 414, 415, 421, 431):
            answer = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
        elif str(status) not in operation["responses"]:
            return [f"{method} {path}: {status} is not told of"]
        else:
            answer = self.follow(operation["responses"][str(status)])
        kind = re.sub(";.*", "", content_type or "")
        if kind not in answer["content"]:
            return [f"{method} {path}: {status}: {kind} is not told of"]
        if kind != "application/json":
            return []
        try:
            value = json.loads(body)
        except ValueError as error:
            return [f"{method} {path}: {status}: no JSON: {error}"]
        return list(self.problems(answer["content"][kind]["schema"], value, f"{method} {path}: {status}"))
