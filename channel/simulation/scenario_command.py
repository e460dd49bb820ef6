"""The command that runs a scenario again."""

from __future__ import annotations

from shlex import quote

import msgspec

from channelsim.channel.adversaries.registry import get
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.terms import TOGETHER, Proposals
from channelsim.games import registry

_OF_TERMS = ("fees", "max_fee", "max_fees", "crowd", "most_states", "most_bytes")
"""Terms that have an option of their name with a value."""


def command_of(scenario: Scenario) -> str:
    """The command that runs this scenario, for a shell; "" if it has fields that no option sets.

    >>> command_of(Scenario(("parity",), "a b", "free-look", step=0, hands=4, mixed=True))
    "channelsim dispute run free-look --seed 'a b' --game parity --hands 4 --mix"
    >>> terms = msgspec.structs.replace(TOGETHER, balance=900)
    >>> command_of(Scenario(("parity",), "7", "free-look", step=0, terms=terms))
    'channelsim play parity --adversary free-look --seed 7 --balance 900'
    >>> terms = msgspec.structs.replace(TOGETHER, unit=3)
    >>> command_of(Scenario(("parity",), "7", "free-look", terms=terms))
    ''
    """
    usual, games = Scenario((registry.DEFAULT,), "dispute"), ",".join(scenario.games)
    terms, balance = scenario.terms, scenario.terms.balance
    asked = {name: getattr(terms, name) for name in _OF_TERMS}
    said = msgspec.structs.replace(TOGETHER, proposals=terms.proposals, balance=balance, **asked)
    if terms.proposals.is_agreed or terms != said:
        return ""
    if scenario.policies != usual.policies or scenario.times is not None:
        return ""
    given = {
        "seed": (scenario.seed, usual.seed),
        "side": (NAMES[scenario.side], NAMES[usual.side]),
        "game": (games, ",".join(usual.games)),
        "weather": (scenario.weather, usual.weather),
        "hands": (scenario.hands, usual.hands),
        **{name.replace("_", "-"): (asked[name], getattr(TOGETHER, name)) for name in _OF_TERMS},
        "balance": (balance, 0),
    }
    name, at = scenario.adversary, ""
    if name and scenario.step != get(name).default_step:
        at = f"@{scenario.step}"
    begin = f"channelsim dispute run {name}{at}".rstrip()
    if balance:  # `dispute run` has no option for it
        begin = f"channelsim play {games} --adversary {name}{at}"
        del given["game"]
    words = [
        f"--{name} {quote(str(value))}" for name, (value, usual) in given.items() if value != usual
    ]
    staggered = terms.proposals is Proposals.STAGGERED
    flags = ["--staggered"] * staggered + ["--mix"] * scenario.mixed
    return " ".join((begin, *words, *flags))
