"""Changes of coverage: more or less code that is not reached."""

from __future__ import annotations

from collections.abc import Mapping

from channelsim.channel.comparisons.changes import Change, Effect, lost_and_added
from channelsim.clsp.analysis.tracer import CoverageCounts


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
