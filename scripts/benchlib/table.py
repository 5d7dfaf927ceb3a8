"""The results, for people and for programs."""
from dataclasses import asdict
from typing import Dict, List

from .measure import Row, Spread


def number(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 100 else f"{value:.1f}"


def spread(value: Spread) -> str:
    return f"{number(value.median)} ({number(value.low)}–{number(value.high)})"


def verdict(row: Row) -> str:
    return "; ".join(f"{goal.text}: {'yes' if goal.met else 'NO'}" for goal in row.goals)


def table(rows: List[Row]) -> str:
    heads = ["case", "", "ratio", "absolute", "settings", "goal"]
    lines = [heads]
    for row in rows:
        lines.append([
            row.case, row.subject, spread(row.ratio) if row.ratio else "",
            f"{spread(row.value)} {row.unit}", row.settings, verdict(row)
        ])
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in lines)


def as_json(scenario: str, rows: List[Row]) -> List[Dict]:
    return [{"scenario": scenario, **asdict(row)} for row in rows]
