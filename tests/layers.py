#!/usr/bin/env python3
"""Checks that each #include under src and include refers to the same layer or a lower one.

Usage: layers.py ROOT
"""
import pathlib
import re
import sys

# Directories from which each directory may include, besides itself and the standard library.
MAY = {
    "include": set(),
    "core": set(),
    "view": {"core"},
    "schedule": {"core"},
    "loop": {"core"},
    "redis": {"core", "loop"},
    "gearman": {"core", "loop"},
    "process": {"core", "loop"},
    "store": {"core", "view", "schedule", "loop", "redis"},
    "source": {"core", "view", "schedule", "gearman", "store"},
    "executor": {"core", "loop", "process"},
    "config": {"core", "process", "redis", "executor"},
    "ops": {"core", "view", "loop", "redis", "process"},
    "http": {"core", "loop"},
    "operator": {"core", "view", "schedule", "loop", "redis", "store", "source"},
    "api": {"core", "view", "loop", "process", "redis", "http", "operator"},
    "page": {"core", "view", "loop", "http", "api"},
    "ctl": {"core", "view", "schedule", "loop", "process", "executor", "config", "http", "operator"},
    "app": {"core", "view", "schedule", "loop", "redis", "gearman", "process", "store", "source", "executor", "config",
            "ops", "http", "operator", "api", "page", "ctl"},
}
# Further headers that a directory may include.
ALSO = {"ctl": {"api/endpoints.hpp"}}
# Libraries, and the only directories that may include them.
LIBRARIES = {
    r"uv\.h": {"loop", "redis"},
    r"hiredis.*|hiredis/.*": {"redis"},
    r"toml\+\+/.*": {"core"},
    r"spdlog/.*|fmt/.*": {"ops"},
    r"CLI/.*": {"app", "ctl"},
    r"curses\.h": {"ctl"},
    r"microhttpd\.h|curl/.*": {"http"},
    r"systemd/.*": {"ops"},
    r"nlohmann/.*": {"core", "view", "store"},
    r"nettle/.*": {"core"},
    r"libical/.*": {"schedule"},
    r"prometheus/.*": {"ops"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def folder_of(path, root):
    parts = path.relative_to(root).parts
    return "include" if parts[0] == "include" else parts[1]


def complaints(path, root):
    folder = folder_of(path, root)
    for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        first = name.split("/")[0]
        target = first if quote == '"' else None
        if target in MAY and "/" in name:
            if target != folder and target not in MAY[folder] and name not in ALSO.get(folder, ()):
                yield f"{folder} includes {name}"
            continue
        for pattern, allowed in LIBRARIES.items():
            # Only the files that write metrics as text may use the Prometheus library.
            foreign = name.startswith("prometheus/") and path.stem != "metrics"
            if re.fullmatch(pattern, name) and (folder not in allowed or foreign):
                yield f"{folder} knows {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted([*(root / "src").rglob("*.?pp"), *(root / "include").rglob("*.hpp")])
    wrong = [f"{path.relative_to(root)}: {text}" for path in files for text in complaints(path, root)]
    for line in wrong:
        print(line)
    print(f"{len(files) - len({w.split(':')[0] for w in wrong})} passed, "
          f"{len({w.split(':')[0] for w in wrong})} failed")
    return 1 if wrong or not files else 0


sys.exit(main())
