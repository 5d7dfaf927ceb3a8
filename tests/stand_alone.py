#!/usr/bin/env python3
"""Checks that each file of src compiles alone, with -Wshadow; the builds compile several files together.
The headers of the standard library and of JSON take most of the time, so they are precompiled. A file
that uses one of their names must include that header, directly or through a header of w8y.

Usage: stand_alone.py [--includes] ROOT BUILD [FILE...]

--includes: checks only the includes, without the compiler; takes about a second instead of minutes.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Headers that most files use, with a pattern of the names that need each header.
STANDARD = {
    "algorithm": r"std::(?:sort|find_if|any_of|all_of|min|max|lower_bound|remove_if)\b",
    "array": r"std::array<",
    "chrono": r"std::chrono::",
    "cmath": r"std::(?:ceil|floor|isfinite|isnan|isinf|round|llround|sqrt|pow|log2?|fmod|trunc)\b",
    "cstdint": r"std::u?int(?:8|16|32|64)_t\b",
    "functional": r"std::function<",
    "map": r"std::map<",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr)<|std::make_(?:unique|shared)<",
    "optional": r"std::optional<|std::nullopt\b",
    "set": r"std::set<",
    "stdexcept": r"std::(?:runtime_error|logic_error|invalid_argument|out_of_range)\b",
    "string": r"std::string\b|std::to_string\b",
    "string_view": r"std::string_view\b",
    "utility": r"std::(?:move|pair|exchange|swap)\b",
    "variant": r"std::(?:variant<|visit\b|get_if<|holds_alternative<)",
    "vector": r"std::vector<",
    "nlohmann/json.hpp": r"nlohmann::",
}
# Headers that each of these headers always includes.
BRINGS = {"string": {"string_view"}, "map": {"utility"}, "functional": {"utility"},
          "memory": {"utility"}, "optional": {"utility"}, "variant": {"utility"},
          "vector": {"utility"}, "algorithm": {"utility"}, "set": {"utility"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
NOT_TEXT = re.compile(r"//[^\n]*|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"", re.S)
DROPPED = re.compile(r"-O.|-D_FORTIFY_SOURCE.*|-U_FORTIFY_SOURCE|-Wshadow.*|-Wno-subobject-linkage|"
                     r"-Wno-restrict|-Wno-stringop-overflow|-fstack-.*|-fcf-.*|-Winvalid-pch")


def files_of(build):
    """Returns each source with the compiler arguments of its target."""
    targets = json.loads((build / "meson-info" / "intro-targets.json").read_text())
    found = {}
    for target in targets:
        for part in target["target_sources"]:
            if part.get("language") != "cpp":
                continue
            words = [word for word in part["parameters"] if not DROPPED.fullmatch(word)]
            for source in part["sources"] + part["generated_sources"]:
                together = re.search(r"-unity\d+\.cpp$", source)
                for name in INCLUDE.findall(pathlib.Path(source).read_text()) if together else [source]:
                    found.setdefault(str((pathlib.Path(source).parent / name).resolve()), words)
    return found


class Includes:
    """Returns the headers that a file includes, directly or through headers of w8y."""

    def __init__(self, root):
        self._root = root
        self._known = {}

    def of(self, path):
        if path not in self._known:
            self._known[path] = set()  # a cycle ends here
            found = set()
            for name in INCLUDE.findall(path.read_text(errors="replace")):
                found.add(name)
                found |= BRINGS.get(name, set())
                places = (path.parent, self._root / "src", self._root / "include", self._root / "tests")
                ours = next((place / name for place in places if (place / name).is_file()), None)
                if ours:
                    found |= self.of(ours.resolve())
            self._known[path] = found
        return self._known[path]

    def missing(self, path):
        text = NOT_TEXT.sub('""', path.read_text(errors="replace"))
        there = self.of(path)
        return [header for header, names in STANDARD.items()
                if header not in there and re.search(names, text)]


def read_alone(compiler, words, headers, source):
    made = subprocess.run([*compiler, *words, "-Wshadow", *headers, "-fsyntax-only", source],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return made.stdout if made.returncode else ""


def main():
    words = sys.argv[1:]
    compiles = "--includes" not in words
    words = [word for word in words if word != "--includes"]
    root, build = (pathlib.Path(word).resolve() for word in words[:2])
    files = files_of(build)
    chosen = [str(pathlib.Path(name).resolve()) for name in words[2:]] or sorted(
        name for name in files if name.startswith(f"{root}/src/"))
    compiler = ["clang++", "-Wno-unknown-warning-option", "-Wno-missing-braces"]
    problems = []
    includes = Includes(root)
    with tempfile.TemporaryDirectory() as temp, concurrent.futures.ThreadPoolExecutor(
            os.cpu_count()) as pool:
        header = pathlib.Path(temp) / "standard.hpp"
        header.write_text("".join(f"#include <{name}>\n" for name in STANDARD))

        def headers_for(words):
            """Returns the arguments for the precompiled headers that fit `words`."""
            return ["-include-pch", made[kind_of(words)]]

        def kind_of(words):
            return tuple(word for word in words if word.startswith(("-std=", "-D_", "-pthread", "-fPI")))

        made = {}
        for words in (files[source] for source in chosen if compiles and source in files):
            kind = kind_of(words)
            if kind not in made:
                made[kind] = f"{temp}/{len(made)}.pch"
                same = [word for word in words if not word.startswith(("-I", "-isystem"))]
                subprocess.run([*compiler, *same, "-x", "c++-header", header, "-o", made[kind]],
                               check=True)
        done = {source: pool.submit(read_alone, compiler, files[source], headers_for(files[source]),
                                    source)
                for source in chosen if compiles and source in files}
        for source in chosen:
            text = f"{source}: no target compiles it\n" if source not in files else ""
            text += done[source].result() if source in done else ""
            path = pathlib.Path(source)
            text += "".join(f"{source}: uses <{name}>, and does not include it\n"
                            for name in includes.missing(path))
            if text:
                problems.append(source)
                print(text, end="")
    print(f"{len(chosen) - len(problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


sys.exit(main())
