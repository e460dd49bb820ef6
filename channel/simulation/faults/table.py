"""The table of faults to plant in the honest side's engine.

A fault skips one check of the engine, or makes the engine behave wrongly. Each names the
adversaries against which it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from channelsim.channel.adversaries.rules.breaker import UNBREAKABLE, name_of
from channelsim.channel.peer.chain_news import IllegalOnChain
from channelsim.channel.peer.interface import Cancelled
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.lineage import Lineage
from channelsim.channel.simulation.faults.kinds import (
    CancelsAccepted,
    Clock,
    Deaf,
    EngineFault,
    FalseNews,
    HidesNews,
    Late,
    Loses,
    NeverAsksBack,
    Once,
    PreemptsItself,
    Publishes,
    Replaced,
    Says,
    SkipsCheck,
    StoresLast,
    always,
    constant,
    discloses_its_seed,
    first_fee,
    hastily,
    highest_fee,
    instead,
    is_early,
    is_pinned,
    is_request,
    never_late,
    plays_on,
    says_twice,
    skips_a_number,
    without_evidence,
    wrong_half,
)
from channelsim.channel.simulation.faults.skipped_checks import EngineCheck, checks


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A fault: the rules or promises that it is `about`, `what` is wrong, and how to plant it.

    It should show against the adversaries `seen_by`, in scenarios with the fields `given`.
    """

    name: str
    about: tuple[str, ...]
    what: str
    plant: Callable[[Peer], EngineFault]
    seen_by: tuple[str, ...]
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_check(self) -> bool:
        """Whether it skips a check, so that another check may refuse the same message."""
        return self.name.startswith("unchecked ")


def _unchecked(check: EngineCheck) -> PlantedFault:
    function = check.name.split("/")[0]
    rules = (*check.rules, *_RULES_OF.get(function, ()))
    return PlantedFault(
        f"unchecked {check.name}",
        rules,
        f"does not refuse: {check.says}",
        lambda peer: SkipsCheck(peer, check),
        (*(name_of(rule) for rule in rules), *_SEEN_BY.get(function, ())),
    )


_FUNDING = ("CH-OPEN-9", "CH-OPEN-10")
_RULES_OF = {
    "transitions._open_group": ("CH-CANCEL-1", "CH-ACCEPT-1"),
    "funding._check_wallet": _FUNDING,
    "funding._read": _FUNDING,
    "funding._conditions": _FUNDING,
    "funding._items": _FUNDING,
    "funding._amount": _FUNDING,
    "half_signed.check_halves": ("CH-OPEN-8",),
    "receiving._judge": ("CH-MOVE-4",),
    "receiving._slashable_moves": ("CH-MOVE-4", "CH-MOVE-5"),
}
"""The rules of checks whose callers name them, by module and function."""

_SEEN_BY = {
    "receiving._judge": ("overshare", "padded"),
    "receiving._slashable_moves": ("bad-selection", "overraise", "wrong-reveal"),
}
"""Other adversaries that reach these checks."""


def _behaves(
    name: str,
    about: str,
    what: str,
    kind: Callable[..., EngineFault],
    *args: Any,
    by: tuple[str, ...],
    **more: Any,
) -> PlantedFault:
    return PlantedFault(name, (about,), what, lambda peer: kind(peer, *args, **more), by)


def behaviours() -> tuple[PlantedFault, ...]:
    """The faults that are not skipped checks."""
    # Adversaries that publish a stale state.
    stale = ("stale-oldest", "stale-any")
    return (
        _behaves(
            "never publishes",
            "liveness",
            "loses its unroll",
            Loses,
            "push unroll.",
            by=("silent", "dead"),
        ),
        _behaves(
            "never preempts", "safety", "loses its preemption", Loses, "push preempt.", by=stale
        ),
        _behaves(
            "preempts late",
            "safety",
            "preempts 15 blocks late",
            Late,
            15,
            "push preempt.",
            by=(*stale, "rewinder"),
        ),
        _behaves(
            "never times out",
            "liveness",
            "loses an unroll's timeout form",
            Loses,
            "push unroll-timeout.",
            by=("dead",),
        ),
        _behaves("never claims", "safety", "loses its claims", Loses, "push claim.", by=("dead",)),
        _behaves(
            "claims late",
            "liveness",
            "claims 15 blocks late",
            Late,
            15,
            "push claim.",
            by=("dead", "silent"),
        ),
        _behaves(
            "never slashes",
            "safety",
            "loses its slashes",
            Loses,
            "push slash.",
            by=("wrong-commitment", "illegal-on-chain"),
        ),
        _behaves(
            "slashes late",
            "safety",
            "slashes 15 blocks late",
            Late,
            15,
            "push slash.",
            by=("claimer", "wrong-commitment", "illegal-on-chain", "chameleon"),
        ),
        _behaves(
            "never moves on chain",
            "safety",
            "loses its moves on chain",
            Loses,
            "push move.",
            by=("leaver", "silent", "late-mover-2"),
        ),
        _behaves(
            "never redoes",
            "safety",
            "loses its redone moves",
            Loses,
            "push redo.",
            by=("silent", "leaver"),
        ),
        _behaves(
            "moves late",
            "safety",
            "moves 12 blocks late on chain",
            Late,
            12,
            "push move.",
            "push redo.",
            by=("claimer", "leaver", "silent"),
        ),
        _behaves(
            "never shuts",
            "liveness",
            "loses the completed shutdown",
            Loses,
            "push shutdown.",
            by=("leaves-closing",),
        ),
        _behaves(
            "pushes once",
            "liveness",
            "never pushes a spend again",
            Once,
            by=("rewinder", "answers-again", "resurrector", "pinner"),
        ),
        _behaves(
            "clock ahead",
            "safety",
            "counts two blocks too many on chain",
            Clock,
            2,
            by=("dead", "silent", "leaver"),
        ),
        _behaves(
            "clock behind",
            "liveness",
            "counts nine blocks too few on chain",
            Clock,
            -9,
            by=("dead", "silent", "claimer"),
        ),
        _behaves(
            "publishes an old state",
            "safety",
            "publishes the first state that it has",
            Publishes,
            by=("silent", "dead"),
        ),
        _behaves(
            "preempts itself",
            "news",
            "preempts the state that it published",
            PreemptsItself,
            by=("dead", "silent"),
        ),
        _behaves("stores last", "crash safety", "stores after sending", StoresLast, by=("",)),
        _behaves(
            "forgets what it sent",
            "crash safety",
            "does not store its batches",
            Loses,
            "sent/",
            by=("",),
        ),
        _behaves(
            "forgets what it received",
            "crash safety",
            "does not store batches",
            Loses,
            "received/",
            by=("",),
        ),
        _behaves(
            "forgets proposals",
            "crash safety",
            "does not store open proposals",
            Loses,
            "proposal/",
            by=("", "crowder", "unaffordable"),
        ),
        _behaves(
            "forgets its last message",
            "crash safety",
            "does not store the batch that it may have to repeat",
            Loses,
            "last-sent",
            by=("",),
        ),
        _behaves(
            "forgets decisions",
            "crash safety",
            "does not store moves on chain",
            Loses,
            "decided/",
            by=("leaver", "silent"),
        ),
        _behaves(
            "forgets the shutdown",
            "crash safety",
            "does not store the shutdown",
            Loses,
            "shutdown/asked",
            "shutdown/completed",
            by=("",),
        ),
        _behaves(
            "forgets the opening",
            "crash safety",
            "does not store the opening",
            Loses,
            "opening/",
            by=("",),
        ),
        _behaves(
            "deaf to requests",
            "CH-TIME-1",
            "never answers a request",
            Deaf,
            is_request,
            by=("breaks-ch-accept-2", "flooder", "breaks-ch-settle-2"),
        ),
        _behaves(
            "skips numbers",
            "CH-BATCH-2",
            "sends a batch with another number",
            Says,
            skips_a_number,
            by=("",),
        ),
        _behaves(
            "sends two batches",
            "CH-BATCH-1",
            "sends a batch without the potato",
            Says,
            says_twice,
            by=("",),
        ),
        _behaves(
            "signs wrongly", "CH-BATCH-5", "sends a half that is none", Says, wrong_half, by=("",)
        ),
        _behaves(
            "plays on", "CH-SHUT-5", "sends a batch after a shutdown", Says, plays_on, by=("",)
        ),
        _behaves(
            "discloses its seed",
            "secrecy",
            "discloses the seed of a game's secrets",
            Says,
            discloses_its_seed,
            by=("",),
        ),
        _behaves(
            "reports false news",
            "news",
            "undoes no news, and reports a settlement of one mojo more",
            FalseNews,
            by=("dead", "rewinder"),
        ),
        _behaves(
            "gives up early",
            "CH-TIME-1",
            "waits for 2 blocks only",
            Replaced,
            "peer.phases.blocks:wait",
            hastily,
            by=("late-mover-2", "staller", "breaks-ch-batch-6", "dead"),
        ),
        _behaves(
            "waits for ever",
            "liveness",
            "never stops waiting",
            Replaced,
            "peer.phases.blocks:wait",
            never_late,
            by=("dead", "silent"),
        ),
        _behaves(
            "forgets its moves",
            "safety",
            "does not make again what it sent",
            Replaced,
            "peer.onchain.signed_games:SignedGames.sent_from",
            always(None),
            by=("silent", "stale-previous", "leaver"),
        ),
        _behaves(
            "forgets settlements",
            "safety",
            "moves on in a game that it settled",
            Replaced,
            "peer.onchain.signed_games:SignedGames.settled_by_us",
            always(False),
            by=("denies-settlement", "dead"),
        ),
        _behaves(
            "reveals early",
            "secrecy",
            "moves on chain before the answered move is deep",
            Replaced,
            "peer.onchain.decisions:LAST_CHANCE",
            constant(1000),
            by=("leaver", "silent"),
        ),
        _behaves(
            "takes short games",
            "the least timeout",
            "accepts any timeout of a game",
            Replaced,
            "protocol.proposals:least_timeout",
            always(0),
            by=("short-timeouts",),
        ),
        replace(
            _behaves(
                "never raises a fee",
                "duty",
                "offers the same fee with every block",
                Replaced,
                "peer.fees:Fees.after",
                first_fee,
                by=("stale-any", "leaver", "wrong-commitment"),
            ),
            given={"weather": "full", "fees": 5},
        ),
        replace(
            _behaves(
                "pays the highest fee",
                "duty",
                "offers the highest fee at once",
                Replaced,
                "peer.fees:Fees.after",
                highest_fee,
                by=("stale-any", "leaver", "wrong-commitment"),
            ),
            given={"fees": 5},
        ),
        replace(
            _behaves(
                "leaves pins",
                "duty",
                "pays nothing for a spend in a bundle of the other side",
                Deaf,
                is_pinned,
                by=("pinner",),
            ),
            given={"fees": 5},
        ),
        _behaves(
            "hides illegal moves",
            "news",
            "does not tell of illegal moves on chain",
            HidesNews,
            IllegalOnChain,
            by=("illegal-on-chain", "wrong-commitment"),
        ),
        _behaves(
            "hides cancellations",
            "news",
            "does not tell of cancelled proposals",
            HidesNews,
            Cancelled,
            by=("unaffordable", "short-timeouts"),
        ),
        _behaves(
            "cancels all proposals",
            "law",
            "finds every game's timeout too short",
            Replaced,
            "protocol.proposals:least_timeout",
            always(1 << 20),
            by=("", "leaver"),
        ),
        _behaves(
            "cancels accepted proposals",
            "law",
            "cancels the proposals that its player accepts",
            CancelsAccepted,
            by=("",),
        ),
        _behaves(
            "never asks back",
            "CH-TIME-1",
            "gives the potato away with a move due, and does not ask for it back",
            NeverAsksBack,
            by=("flooder", "breaks-ch-accept-2", "breaks-ch-settle-2"),
        ),
        _behaves(
            "loses early messages",
            "CH-TIME-1",
            "drops messages that come before the channel coin is deep",
            Deaf,
            is_early,
            by=("early",),
        ),
        _behaves(
            "forgets an undone shutdown",
            "safety",
            "does not publish a final shutdown again that a reorganisation took back",
            Replaced,
            "peer.phases.blocks:_shut_down_again",
            instead(lambda state: (state, [])),
            by=("undoes-shutdown",),
        ),
        replace(
            _behaves(
                "needs solutions",
                "duty",
                "waits for the solution of the channel coin's spend",
                Replaced,
                "peer.onchain.reading:_hidden_spend",
                instead(lambda dispute, view, seen: Lineage(seen)),
                by=("stale-oldest", "leaver"),
            ),
            given={"weather": "blind"},
        ),
        _behaves(
            "takes illegal moves",
            "CH-MOVE-4",
            "plays on after moves that it could slash",
            Replaced,
            "peer.play.receiving:_slashable_moves",
            always(()),
            by=("bad-selection", "overraise", "wrong-reveal"),
        ),
        _behaves(
            "has no evidence",
            "CH-MOVE-4",
            "looks for no evidence of an illegal move",
            Replaced,
            "peer.play.receiving:judge_move",
            without_evidence,
            by=("bad-selection", "greedy-share"),
        ),
        _behaves(
            "has no evidence on chain",
            "safety",
            "looks for no evidence on chain",
            Replaced,
            "peer.onchain.tracked_coins:judge_move",
            without_evidence,
            by=("bad-selection-on-chain", "illegal-on-chain"),
        ),
    )


_BOUND = "it bounds what a message makes us read or store, which no promise is about"

ARGUED = {
    "unchecked transitions._accept/3": UNBREAKABLE["CH-ACCEPT-4"],
    "unchecked transitions._accept/4": "only a playable proposal is open to the other side",
    "unchecked funding._read/2": _BOUND,
    "unchecked funding._conditions/5": _BOUND,
    "unchecked introduction.check_introduction/8": "what both players agreed on is no message",
    "unchecked handshake._on_launch/3": "no opening message shows the receiver's coin so early",
    "unchecked opening.on_early_message/1": _BOUND,
    "unchecked receiving._slashable_moves/1": "each illegal move of these games can be slashed",
}
"""Faults that no adversary can show, by name, and why."""


def faults() -> tuple[PlantedFault, ...]:
    """All faults: the skipped checks, in the order of the source, and then the others."""
    return (*map(_unchecked, checks()), *behaviours())
