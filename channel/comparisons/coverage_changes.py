"""Changes of coverage: more or less code that is not reached."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from channelsim.channel.comparisons.changes import Change, Effect, Number, lost_and_added


class Covered(msgspec.Struct, frozen=True):
    """Nodes and branches of some code, and how many of them were reached; None: not measured."""

    nodes: Number | None = None
    nodes_reached: Number | None = None
    branches: Number | None = None
    branches_reached: Number | None = None

    @property
    def parts(self) -> dict[str, tuple[int, int]]:
        """What was measured, by name: how many were reached, of how many."""
        found = {
            "nodes": (self.nodes_reached, self.nodes),
            "branches": (self.branches_reached, self.branches),
        }
        return {
            name: (reached, of)
            for name, (reached, of) in found.items()
            if reached is not None and of is not None
        }


def coverage_changes(before: Mapping[str, Covered], after: Mapping[str, Covered]) -> list[Change]:
    """Coverage that was gained or lost, by the name of the code.

    The number of places that are not reached counts, so it can be told of changed code as well.
    """
    changes = lost_and_added(
        *([f"coverage of {name}" for name in names] for names in (before, after))
    )
    for name in before.keys() & after.keys():
        old, new = before[name].parts, after[name].parts
        changes += lost_and_added(
            *([f"{part} of {name}" for part in parts] for parts in (old, new))
        )
        for part in old.keys() & new.keys():
            (reached, of), (now, now_of) = old[part], new[part]
            if of - reached != now_of - now:
                effect = Effect.LOST if of - reached < now_of - now else Effect.GAINED
                what = f"{part} of {name} reached"
                changes.append(
                    Change(effect, what, f"{reached:,} of {of:,}", f"{now:,} of {now_of:,}")
                )
    return changes
