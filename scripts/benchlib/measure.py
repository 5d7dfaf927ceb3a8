"""Measurements in turn, reduced to a median and its spread."""
import statistics
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterable, List, Optional, Tuple


class Missing(Exception):
    """A reference or program is missing. The bench prints that and skips it."""


@dataclass
class Spread:
    """Median, minimum and maximum of several rounds."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: List[float]) -> "Spread":
        return Spread(statistics.median(values), min(values), max(values))


@dataclass
class Growth:
    """Growth of a cost, as a factor, when its input has grown by the factor `input`."""

    cost: float
    input: float
    faster: bool  # whether the cost grows faster than its input, by more than the noise


@dataclass
class Row:
    """Result of one subject in one case of a scenario."""

    case: str
    subject: str
    settings: str
    unit: str
    value: Spread
    ratio: Optional[Spread] = None  # to the reference, round by round
    goals: List["Goal"] = field(default_factory=list)
    growth: Optional[Growth] = None  # since the next smaller case


@dataclass
class Goal:
    text: str
    met: bool


@dataclass
class Subject:
    """Something to measure. `take` returns the value of one round."""

    name: str
    settings: str
    take: Callable[[], float]


def in_turn(subjects: List[Subject], rounds: int) -> Dict[str, List[float]]:
    """Measures A B C, A B C, …, so that a temporary load of the machine affects all subjects."""
    taken: Dict[str, List[float]] = {subject.name: [] for subject in subjects}
    for _ in range(rounds):
        for subject in subjects:
            taken[subject.name].append(subject.take())
    return taken


def rows_of(case: str, unit: str, settings: Dict[str, str],
            taken: Dict[str, List[float]]) -> List[Row]:
    """Returns a row per subject. The first subject is the reference."""
    reference = next(iter(taken.values()))
    return [
        Row(case, name, settings[name], unit, Spread.of(values),
            Spread.of([a / b for a, b in zip(values, reference)]))
        for name, values in taken.items()
    ]


NOISE = 1.2


def figure(_: int, row: Row) -> float:
    return row.value.median


def note_growth(sized: Iterable[Tuple[int, Row]], cost: Callable[[int, Row], float] = figure):
    """Sets the growth of rows of one subject, in order of input size. `cost` returns the cost of a row: its
    value, or a function of size and value if a higher value is better."""
    before: Optional[Tuple[int, float]] = None
    for size, row in sized:
        now = cost(size, row)
        if before and before[1] > 0:
            more = size / before[0]
            row.growth = Growth(now / before[1], more, now / before[1] > NOISE * more)
        before = (size, now)


def find(rows: List[Row], subject: str) -> Optional[Row]:
    return next((row for row in rows if row.subject == subject), None)
