"""The kinds of spends that runs of disputes got into blocks, with and without a fee."""

from __future__ import annotations

from collections import Counter

from channelsim.channel.simulation.run import Run

KINDS = {
    "unroll": "unroll",
    "preempt": "preemption",
    "unroll-timeout": "timeout form",
    "move": "move",
    "redo": "redo",
    "slash": "slash",
    "claim": "claim",
    "shutdown": "shutdown",
}
"""The names that a peer gives its spends, and the kinds of the protocol."""

FEE = "+fee"

Counts = Counter[tuple[str, bool]]
"""How many of each kind, with (True) and without a fee."""


def mined(run: Run) -> Counts:
    """The honest side's spends that are on chain as it pushed them.

    A spend got in with a fee if a bundle that it is in has its fee coin spent likewise.
    """
    pushed = run.parties[run.scenario.honest].pushed
    counts: Counts = Counter()
    kinds = {
        (spend.coin.id, spend.solution): KINDS[name]
        for name, bundle, _ in pushed
        if name in KINDS
        for spend in bundle.spends
    }
    in_blocks = {
        spend
        for spend in {spend for _, bundle, _ in pushed for spend in bundle.spends}
        if (seen := run.chain.coin(spend.coin.id)) is not None and seen.solution == spend.solution
    }
    paid = {
        (spend.coin.id, spend.solution)
        for name, bundle, _ in pushed
        if name.endswith(FEE) and in_blocks.issuperset(bundle.spends)
        for spend in bundle.spends
    }
    for spend in in_blocks:
        key = (spend.coin.id, spend.solution)
        if key in kinds:
            counts[kinds[key], key in paid] += 1
    return counts


def table(counts: Counts) -> str:
    """The counts as a table for people."""
    lines = [f"{'mined by the genuine node':<28}{'without fee':>12}{'with fee':>12}"]
    for kind in KINDS.values():
        lines.append(f"{kind:<28}{counts[kind, False]:>12}{counts[kind, True]:>12}")
    return "\n".join(lines)
