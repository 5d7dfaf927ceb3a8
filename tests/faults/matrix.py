"""Rows of the fault matrix, and the table in which they are printed."""
import dataclasses
import textwrap


class Skip(Exception):
    """A row cannot run on this machine. The text has the reason."""


@dataclasses.dataclass
class Setup:
    """Arguments of a row."""
    bin: str
    scale: int = 1
    seed: str = "1"
    sanitized: bool = False  # sanitizers keep freed memory, so rows do not compare memory
    lines: list = dataclasses.field(default_factory=list)

    def line(self, fault, figures, promise=""):
        """Adds a line to the table, below the row's own line."""
        self.lines.append(("passed", fault, figures, promise))

    def part(self, fault, promise, measure):
        """Measures a part of a row with its own line. If it fails, the row continues."""
        try:
            self.line(fault, measure(), promise)
        except Late as error:
            self.lines.append(("late", fault, {"LATE": problem(error)}, promise))
        except Exception as error:  # the table shows it
            self.lines.append(("failed", fault, {"FAILED": problem(error)}, promise))


class Late(AssertionError):
    """A time limit was exceeded: by w8yd, or because the machine was busy."""


def in_time(kept, what):
    """Asserts a time limit."""
    if not kept:
        raise Late(what)


def problem(error):
    return f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else (
        str(error) or "an assertion")


@dataclasses.dataclass
class Row:
    name: str
    fault: str
    promise: str
    run: object
    alone: bool  # it measures short times, or keeps the processors busy
    sanitized: bool  # it also runs in the build with sanitizers
    limit: int  # seconds at scale 1, after which it has failed


def row(fault, promise, *, alone=False, sanitized=False, limit=180):
    """Makes a row from a function of a Setup, which returns the results and asserts the expectation."""
    def made(run):
        return Row(run.__name__, fault, promise, run, alone, sanitized, limit)
    return made


# ---- table

WIDTHS = (34, 62, 36, 6)


def text_of(figures):
    return figures if isinstance(figures, str) else ", ".join(
        f"{name} {value}" for name, value in figures.items())


def table_line(*cells):
    """Returns the lines of a row of the table. Cells are wrapped in their columns."""
    wrapped = [textwrap.wrap(cell, width, break_on_hyphens=False, subsequent_indent="  ") or [""]
               for cell, width in zip(cells, WIDTHS)]
    return "\n".join(
        "  ".join((column[i] if i < len(column) else "").ljust(width)
                  for column, width in zip(wrapped, WIDTHS)).rstrip()
        for i in range(max(map(len, wrapped))))


def table_head():
    return (table_line("fault", "results", "expected", "s") + "\n"
            + "  ".join("-" * width for width in WIDTHS))
