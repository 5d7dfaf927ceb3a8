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


def growth(row: Row) -> str:
    if row.growth is None:
        return ""
    text = f"× {number(row.growth.cost)} for × {row.growth.input:g}"
    return text + " FASTER" if row.growth.faster else text


def columns(lines: List[List[str]]) -> str:
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in lines)


def table(rows: List[Row]) -> str:
    heads = ["case", "", "ratio", "absolute", "growth", "settings", "goal"]
    lines = [heads]
    for row in rows:
        lines.append([
            row.case, row.subject, spread(row.ratio) if row.ratio else "",
            f"{spread(row.value)} {row.unit}", growth(row), row.settings, verdict(row)
        ])
    # Empty columns are omitted.
    kept = [i for i in range(len(heads)) if any(line[i] for line in lines[1:])]
    lines = [[line[i] for i in kept] for line in lines]
    return columns(lines)


def as_json(scenario: str, rows: List[Row]) -> List[Dict]:
    return [{"scenario": scenario, **asdict(row)} for row in rows]
