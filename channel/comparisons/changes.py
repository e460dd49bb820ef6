"""Changes between two documents, each for the better, for the worse, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TypeVar

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.clsp.analysis.tracer import CoverageCounts

V = TypeVar("V")


class Effect(Enum):
    """What a change is: first those for the worse, then those for the better."""

    NEW = "new"
    SEVERER = "more severe"
    LOST = "lost"
    DEARER = "dearer"
    MENDED = "mended"
    MILDER = "less severe"
    GAINED = "gained"
    CHEAPER = "cheaper"
    ADDED = "added"

    @property
    def is_worse(self) -> bool:
        """True if it is for the worse."""
        return self in (Effect.NEW, Effect.SEVERER, Effect.LOST, Effect.DEARER)

    @property
    def is_better(self) -> bool:
        """True if it is for the better; `ADDED` is neither."""
        return not self.is_worse and self is not Effect.ADDED


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is not what it was; `before` and `after` are figures, or words."""

    effect: Effect
    what: str
    before: int | str | None = None
    after: int | str | None = None


class Comparison(msgspec.Struct, frozen=True):
    """The changes from one document to another of the same kind; `notes` say what limits them."""

    kind: str
    target: str | None
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    @property
    def worse(self) -> int:
        """The number of changes for the worse."""
        return sum(change.effect.is_worse for change in self.changes)

    @property
    def better(self) -> int:
        """The number of changes for the better."""
        return sum(change.effect.is_better for change in self.changes)

    @property
    def summary(self) -> str:
        """The numbers of changes in words."""
        if not self.changes:
            return "nothing changed"
        kinds = {effect: sum(c.effect is effect for c in self.changes) for effect in Effect}
        return ", ".join(f"{number:,} {kind.value}" for kind, number in kinds.items() if number)


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes, the worst first."""
    order = list(Effect)
    return tuple(sorted(changes, key=lambda change: (order.index(change.effect), change.what)))


def new_and_mended(before: Mapping[V, str], after: Mapping[V, str]) -> list[Change]:
    """The findings that only one of two documents has, by a key that says which are the same."""
    return [
        *(Change(Effect.NEW, text) for key, text in after.items() if key not in before),
        *(Change(Effect.MENDED, text) for key, text in before.items() if key not in after),
    ]


def new_and_mended_findings(before: Iterable[Finding], after: Iterable[Finding]) -> list[Change]:
    """The findings that only one of two documents has, by the mistakes that they show."""
    old, new = (
        {finding.mistake: f"{finding.place}: {finding.rule}" for finding in findings}
        for findings in (before, after)
    )
    return new_and_mended(old, new)


def dearer_and_cheaper(
    before: Mapping[str, int], after: Mapping[str, int], tolerance: float = 0.0
) -> list[Change]:
    """The figures that rose by more than `tolerance` percent, or fell; only those of both."""
    changes = []
    for name, was in before.items():
        now = after.get(name, was)
        if 100 * (now - was) > tolerance * was:
            changes.append(Change(Effect.DEARER, name, was, now))
        elif now < was:
            changes.append(Change(Effect.CHEAPER, name, was, now))
    return changes


def lost_and_added(before: Iterable[str], after: Iterable[str]) -> list[Change]:
    """Names that only one of two documents has."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    return [
        *(Change(Effect.LOST, name) for name in old if name not in new),
        *(Change(Effect.ADDED, name) for name in new if name not in old),
    ]


def coverage_changes(
    before: Mapping[str, CoverageCounts], after: Mapping[str, CoverageCounts]
) -> list[Change]:
    """Coverage that was gained or lost, by the name of the code.

    The number of places that are not reached counts, so it can be told of changed code as well.
    """
    changes = lost_and_added(
        *([f"coverage of {name}" for name in names] for names in (before, after))
    )
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        parts = {
            "nodes": (old.nodes_reached, old.nodes, new.nodes_reached, new.nodes),
            "branches": (old.branches_reached, old.branches, new.branches_reached, new.branches),
        }
        for part, (reached, of, now, now_of) in parts.items():
            if of - reached != now_of - now:
                effect = Effect.LOST if of - reached < now_of - now else Effect.GAINED
                what = f"{part} of {name} reached"
                changes.append(
                    Change(effect, what, f"{reached:,} of {of:,}", f"{now:,} of {now_of:,}")
                )
    return changes
