"""The kinds of spends that runs of disputes got into blocks, with and without a fee."""

from __future__ import annotations

from collections import Counter

from channelsim.channel.chain.coins import Spend
from channelsim.channel.protocol.spend_parsing import reserved_fee
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
"""What a peer adds to the name of a spend that it pays a fee for."""

Counts = Counter[tuple[str, bool]]
"""How many of each kind, with (True) and without a fee."""


def mined(run: Run) -> Counts:
    """The honest side's spends that are on chain as it pushed them.

    A spend got in with a fee if a bundle that it is in has a fee coin that is spent likewise, and
    pays something.
    """
    party = run.parties[run.scenario.honest]
    fees = party.peer.config.fees
    address = None if fees is None else fees.wallet.coin.puzzle_hash
    pushed = [(name.removesuffix(FEE), bundle.spends) for name, bundle, _ in party.pushed]
    in_blocks = {
        spend
        for spend in {spend for _, spends in pushed for spend in spends}
        if (seen := run.chain.coin(spend.coin.id)) is not None and seen.solution == spend.solution
    }
    kinds, paid = dict[Spend, str](), set[Spend]()
    for name, spends in pushed:
        payments = [spend for spend in spends if spend.coin.puzzle_hash == address]
        if name in KINDS:
            kinds |= {spend: KINDS[name] for spend in spends if spend not in payments}
        if in_blocks.issuperset(spends) and any(reserved_fee(one.solution) for one in payments):
            paid |= {*spends}
    return Counter((kind, spend in paid) for spend, kind in kinds.items() if spend in in_blocks)


def table(counts: Counts) -> str:
    """The counts as a table for people."""
    lines = [f"{'mined by the genuine node':<28}{'without fee':>12}{'with fee':>12}"]
    for kind in KINDS.values():
        lines.append(f"{kind:<28}{counts[kind, False]:>12}{counts[kind, True]:>12}")
    return "\n".join(lines)
