"""The table of faults to plant in the honest side's engine.

A fault skips one check of the engine, or makes the engine behave wrongly. Each names the
adversaries against which it shows.
"""

from __future__ import annotations

from channelsim.channel.adversaries.rules.breaker import UNBREAKABLE, name_of
from scripts.tools.dispute_faults.chain import CHAIN_FAULTS
from scripts.tools.dispute_faults.dispute_fault import DisputeFault
from scripts.tools.dispute_faults.engine_checks import EngineCheck, checks, skips
from scripts.tools.dispute_faults.fees import FEE_FAULTS
from scripts.tools.dispute_faults.play import PLAY_FAULTS
from scripts.tools.dispute_faults.times import TIME_FAULTS


def _unchecked(check: EngineCheck) -> DisputeFault:
    function = check.name.split("/")[0]
    rules = (*check.rules, *_RULES_OF.get(function, ()))
    return DisputeFault(
        f"unchecked {check.name}",
        rules,
        f"does not refuse: {check.says}",
        skips(check),
        (*(name_of(rule) for rule in rules), *_SEEN_BY.get(function, ())),
    )


_FUNDING = ("CH-OPEN-9", "CH-OPEN-10")
_RULES_OF = {
    "transitions._open_group": ("CH-CANCEL-1", "CH-ACCEPT-1"),
    "funding._check_wallet": _FUNDING,
    "funding._read": _FUNDING,
    "funding._conditions": _FUNDING,
    "funding._amount": _FUNDING,
    "half_signed.verify_halves": ("CH-OPEN-8", "CH-RESUME-2"),
    "receiving._judge": ("CH-MOVE-4",),
    "receiving._slashable_moves": ("CH-MOVE-4", "CH-MOVE-5"),
}
"""The rules of checks whose callers name them, by module and function."""

_SEEN_BY = {
    "receiving._judge": ("overshare", "padded"),
    "receiving._slashable_moves": ("bad-selection", "overraise", "wrong-reveal"),
}
"""Other adversaries that reach these checks."""


BEHAVIOURS = (*CHAIN_FAULTS, *PLAY_FAULTS, *TIME_FAULTS, *FEE_FAULTS)
"""The faults that are not skipped checks."""


_BOUND = "it bounds what a message makes us read or store, which no promise is about"

ARGUED = {
    "unchecked transitions._accept/3": UNBREAKABLE["CH-ACCEPT-4"],
    "unchecked transitions._accept/4": "only a playable proposal is open to the other side",
    "unchecked funding._read/2": _BOUND,
    "unchecked funding._conditions/5": _BOUND,
    "unchecked introduction.check_introduction/8": "what both players agreed on is not a message",
    "unchecked handshake._on_launch/3": "no opening message shows the receiver's coin so early",
    "unchecked opening.on_early_message/1": _BOUND,
    "unchecked receiving._slashable_moves/1": "each illegal move of these games can be slashed",
}
"""Faults that no adversary can show, by name, and why."""


def faults() -> tuple[DisputeFault, ...]:
    """All faults: the skipped checks, in the order of the source, and then the others."""
    return (*map(_unchecked, checks()), *BEHAVIOURS)
