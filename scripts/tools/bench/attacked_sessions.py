"""Sessions of `attack` a second, with a keyed hash for signatures and with real ones."""

from __future__ import annotations

from contextlib import nullcontext
from time import process_time

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import AttackTotals, attack_fast, attack_one, default_games
from channelsim.channel.attack.drawing import draw
from channelsim.channel.attack.remembering import remembered
from scripts.tools.bench.measuring import Figures, repeated

SESSIONS = 20
"""Sessions of one measurement: as many draws, of all games and kinds of actions."""


def measure_attacked(seed: str, seconds: float, least: int) -> Figures:
    """`fast_per_second` and `real_per_second`, of the same scripts in turns, and their `ratio`,
    by processor time.

    Real sessions remember what they have signed and verified; `ratio_to_computed` is to sessions
    that compute each signature as often as it is asked for, as processes of their own do. All
    include monitors, stores, restarts and the healing of each session.
    """
    games = default_games()
    _rate([draw(games, f"{seed}/first")], fast=True)

    def measure(number: int) -> dict[str, float]:
        """Measure the next scripts both ways."""
        scripts = [draw(games, f"{seed}/{number}/{at}") for at in range(SESSIONS)]
        fast, real = _rate(scripts, fast=True), _rate(scripts, fast=False)
        computed = _rate(scripts, fast=False, remembers=False)
        return {
            "fast_per_second": fast,
            "real_per_second": real,
            "ratio": fast / real,
            "ratio_to_computed": fast / computed,
        }

    return repeated(seconds, least, measure)


def _rate(scripts: list[Attack], *, fast: bool, remembers: bool = True) -> float:
    """Sessions a second."""
    totals, start = AttackTotals(), process_time()
    for script in scripts:
        with remembered() if remembers else nullcontext():
            (attack_fast if fast else attack_one)(script, totals)
    return len(scripts) / (process_time() - start)
