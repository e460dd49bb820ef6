"""The command that runs a scenario again."""

from __future__ import annotations

from shlex import quote

from channelsim.channel.adversaries.registry import get
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games import registry

_OPTIONS = (
    *("weather", "fees", "max_fee", "max_fees", "crowd", "hands"),
    *("most_states", "most_bytes"),
)
"""Fields that have an option of their name with a value; `_FLAGS` have one without."""

_FLAGS = {"staggered": "--staggered", "mixed": "--mix"}


def command_of(scenario: Scenario) -> str:
    """The command that runs this scenario, for a shell; "" if it has fields that no option sets.

    >>> command_of(Scenario(("parity",), "a b", "free-look", step=0, hands=4, mixed=True))
    "channelsim dispute run free-look --seed 'a b' --game parity --hands 4 --mix"
    >>> command_of(Scenario(("parity",), "7", "free-look", step=0, contribution=900))
    'channelsim play parity --adversary free-look --seed 7 --balance 900'
    >>> command_of(Scenario(("parity",), "7", "free-look", unit=3))
    ''
    """
    usual, games = Scenario((registry.DEFAULT,), "dispute"), ",".join(scenario.games)
    asked = {name: getattr(scenario, name) for name in (*_OPTIONS, *_FLAGS)}
    place = scenario.games, scenario.seed, scenario.adversary, scenario.step, scenario.side
    if Scenario(*place, contribution=scenario.contribution, **asked) != scenario:
        return ""
    given = {
        "seed": (scenario.seed, usual.seed),
        "side": (NAMES[scenario.side], NAMES[usual.side]),
        "game": (games, ",".join(usual.games)),
        **{name.replace("_", "-"): (asked[name], getattr(usual, name)) for name in _OPTIONS},
        "balance": (scenario.contribution, usual.contribution),
    }
    name, at = scenario.adversary, ""
    if name and scenario.step != get(name).default_step:
        at = f"@{scenario.step}"
    begin = f"channelsim dispute run {name}{at}".rstrip()
    if scenario.contribution:  # `dispute run` has no option for it
        begin = f"channelsim play {games} --adversary {name}{at}"
        del given["game"]
    words = [
        f"--{name} {quote(str(value))}" for name, (value, usual) in given.items() if value != usual
    ]
    flags = [flag for name, flag in _FLAGS.items() if asked[name]]
    return " ".join((begin, *words, *flags))
