"""Rows of the fault matrix: what one is, and the table they are printed in."""
import dataclasses
import textwrap


class Skip(Exception):
    """This row can't be run here; says why."""


@dataclasses.dataclass
class Setup:
    """What a row is given."""
    bin: str
    scale: int = 1
    seed: str = "1"
    sanitized: bool = False  # sanitizers keep what was freed: memory is not compared then
    lines: list = dataclasses.field(default_factory=list)

    def line(self, fault, figures, promise=""):
        """One more line of the table under the row's own."""
        self.lines.append(("passed", fault, figures, promise))

    def part(self, fault, promise, measure):
        """A part of a row that has a line of its own: a failure there doesn't end the row."""
        try:
            self.line(fault, measure(), promise)
        except Late as error:
            self.lines.append(("late", fault, {"LATE": problem(error)}, promise))
        except Exception as error:  # told in the table
            self.lines.append(("failed", fault, {"FAILED": problem(error)}, promise))


class Late(AssertionError):
    """A promise about time was not kept: by w8yd, or by a machine that had other things to do."""


def in_time(kept, what):
    """Asserts a promise about time."""
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
    alone: bool  # it measures time closely, or keeps the processors busy
    sanitized: bool  # worth its time in the build with sanitizers too
    limit: int  # seconds at scale 1 after which it has failed


def row(fault, promise, *, alone=False, sanitized=False, limit=180):
    """Makes a function of a Setup a row. It returns its figures, and asserts its promise."""
    def made(run):
        return Row(run.__name__, fault, promise, run, alone, sanitized, limit)
    return made


# ---- the table

WIDTHS = (34, 62, 36, 6)


def text_of(figures):
    return figures if isinstance(figures, str) else ", ".join(
        f"{name} {value}" for name, value in figures.items())


def table_line(*cells):
    """Lines of a table's row: cells are wrapped in their columns."""
    wrapped = [textwrap.wrap(cell, width, break_on_hyphens=False, subsequent_indent="  ") or [""]
               for cell, width in zip(cells, WIDTHS)]
    return "\n".join(
        "  ".join((column[i] if i < len(column) else "").ljust(width)
                  for column, width in zip(wrapped, WIDTHS)).rstrip()
        for i in range(max(map(len, wrapped))))


def table_head():
    return (table_line("fault", "figures", "promise", "s") + "\n"
            + "  ".join("-" * width for width in WIDTHS))
