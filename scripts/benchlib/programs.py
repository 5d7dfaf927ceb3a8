"""The measured programs and the references: found or built."""
import pathlib
import shutil
import subprocess
import sys

from .measure import Missing

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
SOURCES = SCRIPTS / "bench.d"


def installed(program: pathlib.Path, folder: pathlib.Path) -> str:
    """Returns a copy, like an installed program. The kernel stores a file that was written at once in larger
    pieces than a file that a linker wrote, and starts the copy in 90 % of the time."""
    place = folder / "bin" / program.name
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        shutil.copy(program, place)
    return str(place)


class Programs:
    """Programs of w8y from a build directory, references from PATH, bare loops from bench.d."""

    def __init__(self, build: pathlib.Path, temp: pathlib.Path):
        self._build = build
        self._temp = temp

    def ours(self, name: str) -> str:
        for place in (self._build / "src" / "app" / name, self._build / name):
            if place.is_file():
                return installed(place, self._temp)
        raise Missing(f"{name} is not in {self._build}: build it first, or say --build DIR")

    @staticmethod
    def reference(name: str) -> str:
        found = shutil.which(name)
        if found is None:
            raise Missing(f"{name} is not installed: scripts/bench --setup")
        return found

    def bare(self, name: str, *libraries: str) -> str:
        """Returns a bare loop or a child of bench.d, built on first use."""
        program = self._temp / name
        if not program.exists():
            compiler = shutil.which("cc")
            if compiler is None:
                raise Missing("there is no C compiler for the bare loops")
            subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-D_GNU_SOURCE",
                            "-o", str(program),
                            str(SOURCES / f"{name}.c"), *libraries], check=True)
        return installed(program, self._temp)

    def lua(self, name: str) -> str:
        """Returns a script that the programs of w8y execute in Redis, with its includes."""
        sys.path.insert(0, str(SCRIPTS.parent / "src" / "store"))
        from embed_lua import whole
        made = self._temp / f"{name}.lua"
        made.write_text(whole(SCRIPTS.parent / "src" / "store" / "lua" / f"{name}.lua"),
                        encoding="utf-8")
        return str(made)

    @staticmethod
    def interpreter(language: str) -> str:
        """Returns the program that executes a script. Debian's Python has the modules of Debian's packages."""
        debian = "/usr/bin/python3"
        if language == "Python" and pathlib.Path(debian).exists():
            return debian
        return Programs.reference({"Node": "node", "Python": "python3", "Ruby": "ruby"}[language])

    @staticmethod
    def script(name: str) -> str:
        return str(SOURCES / name)
