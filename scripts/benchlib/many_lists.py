"""Configs with many lists."""
from typing import Iterable


def names(count: int) -> Iterable[str]:
    return (f"list-{i:05d}" for i in range(count))


def lists(count: int, settings: str) -> str:
    return "".join(f"[lists.{name}]\n{settings}\n" for name in names(count))
