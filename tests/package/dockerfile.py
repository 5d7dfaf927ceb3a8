"""Parser of the Dockerfile syntax that w8y uses: no variables, no ADD, no SHELL."""
import json
import re
import shlex
from dataclasses import dataclass, field

KNOWN = {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "USER", "HEALTHCHECK", "ENTRYPOINT"}


@dataclass
class Stage:
    base: str
    name: str
    steps: list = field(default_factory=list)  # (instruction, options, text)

    def last(self, instruction):
        found = [text for name, _, text in self.steps if name == instruction]
        return found[-1] if found else None

    def environment(self):
        pairs = [pair for name, _, text in self.steps if name == "ENV" for pair in shlex.split(text)]
        return dict(pair.split("=", 1) for pair in pairs)


def read(text):
    """Returns the stages. Raises ValueError for wrong or unsupported text."""
    text = re.sub(r"(?m)^\s*#.*\n", "", text)
    stages = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not line.strip():
            continue
        name, _, rest = line.partition(" ")
        if name not in KNOWN:
            raise ValueError(f"no instruction that is known here: {line}")
        options = {}
        while found := re.match(r"--([a-z-]+)=(\S+)\s+", rest := rest.strip()):
            options[found[1]] = found[2]
            rest = rest[found.end():]
        if name == "FROM":
            base, _, alias = rest.partition(" AS ")
            stages.append(Stage(base, alias or str(len(stages))))
            continue
        if not stages:
            raise ValueError(f"before the first FROM: {line}")
        stage = options.get("from") or mount(options).get("from")
        if stage and stage not in [stage.name for stage in stages]:
            raise ValueError(f"there is no stage {stage}: {line}")
        stages[-1].steps.append((name, options, rest))
    return stages


def mount(options):
    """Returns the parts of RUN --mount: type, from, source, target."""
    return dict(part.split("=", 1) for part in options.get("mount", "").split(",") if part)


def words(text):
    """Returns the strings of an instruction in JSON form. In shell form, the shell would get the signals."""
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError(f"not an array of strings: {text}")
    return found
