"""Compare the costs of slashes with those that the design of a game states.

A cost is CLVM's, and that of the bytes of the slash's solution. The referee's own bytes and the
conditions are left out, as a design states them. Beside them is the cost of the costliest slash as
a block counts it, with all of its bytes. Costs are the same on every machine.
"""

from __future__ import annotations

from channelsim.channel.chain.constants import COST_PER_BYTE
from channelsim.channel.errors import InvariantError
from channelsim.channel.lab.costs import bundles
from channelsim.channel.lab.costs.costs import SLASH, measure, share_of_block
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.values import serialize
from channelsim.games.contract import Game
from scripts.tools.bench.measuring import Figures, spread

CASES = 100
"""Cases of which the costliest slash is taken."""


def measure_slashes(game: Game, seed: str) -> Figures:
    """Compare the costliest slash of each validator with the design's, and with a block."""
    measured = measure(of_game(game), CASES, seed)
    costs = {
        name: spend.cost + COST_PER_BYTE * len(serialize(spend.solution))
        for (name, path), spend in measured.costliest.items()
        if path == SLASH
    }
    ratios = [costs[name] / cost for name, cost in game.slash_costs.items() if name in costs]
    if not ratios:
        raise InvariantError(f"no slash of {game.name} was measured in {CASES} cases")
    spends = bundles.measure(measured).costs
    whole = {name: cost.total for name, cost in spends.items() if name.endswith(f" {SLASH}")}
    if not whole:
        raise InvariantError(f"no whole slash of {game.name} was measured")
    return {
        "ratio": spread(ratios),
        "of_block": spread(share_of_block(cost) for cost in costs.values()),
        "costs": costs,
        "whole": whole,
        "whole_of_block": spread(share_of_block(cost) for cost in whole.values()),
    }
