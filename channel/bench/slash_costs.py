"""Compare the costs of slashes with those of the prototype by which the validators were designed.

A cost is CLVM's, and that of the bytes of the slash's solution. The referee's own bytes and the
conditions are left out, as they were in the prototype. Costs are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from channelsim.channel.bench.measuring import spread
from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.costs.bundles import PER_BYTE
from channelsim.channel.lab.costs.costs import SLASH, measure, share_of_block
from channelsim.channel.lab.target.target import of_game
from channelsim.clsp.values import serialize
from channelsim.games import registry

PROTOTYPE: Mapping[str, Mapping[str, int]] = {
    "holdem": {"deal": 37_100_000, "begin": 52_100_000, "mid": 53_800_000},
    "omaha": {"deal": 46_100_000, "begin": 61_200_000, "mid": 63_000_000},
}
"""The costliest slash of the prototype, by game and validator."""

CASES = 100
"""Cases of which the costliest slash is taken."""


def measure_slashes(game: str, seed: str) -> dict[str, Any]:
    """Compare the costliest slash of each validator with the prototype's, and with a block."""
    found = measure(of_game(registry.get(game)), CASES, seed)
    costs = {
        name: spend.cost + PER_BYTE * len(serialize(spend.solution))
        for (name, path), spend in found.costliest.items()
        if path == SLASH
    }
    ratios = [costs[name] / cost for name, cost in PROTOTYPE[game].items() if name in costs]
    if not ratios:
        raise InvariantError(f"no slash of {game} was measured in {CASES} cases")
    return {
        "ratio": spread(ratios),
        "of_block": spread(share_of_block(cost) for cost in costs.values()),
        "costs": costs,
    }
