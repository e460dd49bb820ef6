"""Each message that an adversary's rule has for some moment is refused by that rule, and no other.

The adversaries send one of these at random; here all of them are sent, whenever one of both sides
sends something new in a session: each to a copy of the other side.
"""

from __future__ import annotations

from collections import Counter

from channelsim.channel.adversaries.base import Plan
from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.adversaries.rules.breaker import (
    UNBREAKABLE,
    Requester,
    RuleBreaker,
    SilentBreaker,
)
from channelsim.channel.peer.interface import CancelGames, Close
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.messages import Batch, Funding, Message, Request, decode
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.state import Side
from channelsim.games.chance import Chance
from tests.channel.peer.hostile import refuse
from tests.channel.table import GAME, STAKE, Table, broken_off, sit

BREAKERS = [
    kind
    for kind in map(get, names())
    if issubclass(kind, RuleBreaker) and kind.rule and not issubclass(kind, SilentBreaker)
]

OFTEN = 2
"""How often a rule is tried with messages of one kind from one side."""

SLASHED = ("CH-MOVE-4", "CH-MOVE-5")
"""Rules of moves that are slashed: the state with them is published (`test_moves.py`)."""

ELSEWHERE = {
    "CH-COINS-1": "the address is chosen in the opening (test_addresses.py)",
    "CH-TIME-1": "nothing is sent (test_deadlines.py)",
    "CH-TIME-2": "nothing is sent (test_deadlines.py)",
}


class Violations:
    """Tries the rules at each moment of a session, as often as above."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.part: Funding | None = None
        self.tried: Counter[tuple[str, int, str]] = Counter()
        self.refused: Counter[str] = Counter()

    def go_on(self) -> None:
        """Play until nothing is left to do, and break rules on the way."""
        while True:
            if self.table.mail:
                receiver, blob = self.table.mail[0]
                message = decode(blob)
                self.part = message if isinstance(message, Funding) else self.part
                for kind in BREAKERS:
                    if not issubclass(kind, Requester):
                        self.try_rule(kind, self.table, 1 - receiver, message)
            elif all(end.peer.phase is Phase.PLAYING for end in self.table.ends):
                for side in Side:
                    self.with_the_potato(side)
            if not self.table.step():
                return

    def with_the_potato(self, side: int) -> None:
        """Break the rules for which a side holds the potato while the other player decides."""
        table = self.table.fork()
        if not table.ends[side].play.potato:
            table.ask(side)
        for kind in BREAKERS:
            if issubclass(kind, Requester) and table.ends[side].play.potato:
                self.try_rule(kind, table, side, Request())

    def try_rule(
        self, kind: type[RuleBreaker], table: Table, sender: int, message: Message
    ) -> None:
        """Break a rule in each way that there is instead of this message."""
        opportunity = (kind.rule, sender, type(message).__name__)
        if self.tried[opportunity] == OFTEN:
            return
        peer = table.ends[sender].peer
        plan = Plan(0, Chance(b"violations"), table.chain, never, (GAME.name,))
        breaker = kind(Peer(peer.config, peer.state), plan)
        breaker.part = self.part.part if self.part else None
        variants = breaker.variants(message)
        self.tried[opportunity] += bool(variants)
        for variant in variants:
            changes = table.chain.changes
            try:
                self.send(kind.rule, table.fork(), 1 - sender, variant)
            except AssertionError as error:
                error.add_note(f"{kind.name}, instead of {message}: {variant}")
                raise
            table.chain.revert(changes)

    def send(self, rule: str, table: Table, victim: int, variant: list[Message | bytes]) -> None:
        """Send the messages of a variant; the last one is refused by the rule."""
        if table.mail:
            table.take_mail()
        *others, last = variant
        for message in others:
            table.receive(victim, message)
        if any(isinstance(decode(blob), Batch) for _, blob in table.mail):
            return  # the victim has answered, and no longer holds the potato
        if rule in SLASHED or is_closing(table):
            # Another state is published than usual; or the shutdown is pending, and may win.
            table.receive(victim, last)
            broken = broken_off(table.ends[victim]).blame.rule
            assert broken in (GAME.rules if rule == "CH-MOVE-4" else (rule,))
        else:
            refuse(table, victim, last, rule)
        self.refused[rule] += 1


def is_closing(table: Table) -> bool:
    """True if the channel coin is known, and a spend of it is pending."""
    endpoint = table.ends[0].peer.state.endpoint
    return endpoint is not None and bool(table.chain.pending(endpoint.channel.coin.id))


def never(back: int, bundle: object = None) -> bool:
    """Replace no blocks."""
    return False


def play_all(violations: Violations) -> None:
    """An opening, games, proposals that come to nothing, a new connection, and a shutdown."""
    table = violations.table
    violations.go_on()
    while any(end.peer.phase is not Phase.PLAYING for end in table.ends):
        table.farm()
        violations.go_on()
    for side in (0, 1, 0):
        table.propose(side)
        violations.go_on()
    table.propose(0).until(lambda: bool(table.ends[1].offers))
    table.command(1, CancelGames(table.ends[1].offers.pop(), "no"))
    violations.go_on()
    table.driver.reconnect()
    violations.go_on()
    table.command(1, Close())
    violations.go_on()


def offer_too_much(violations: Violations) -> None:
    """A game that takes all that there is, and another one that is offered meanwhile."""
    table = violations.table.open().propose(0)
    table.until(lambda: all(end.state.games for end in table.ends))
    table.propose(0)
    violations.go_on()


def test_each_violation_is_refused_by_its_rule() -> None:
    whole, tight = Violations(sit().start()), Violations(sit(contributions=(STAKE, STAKE)))
    play_all(whole)
    tight.tried = whole.tried
    offer_too_much(tight)
    refused = whole.refused + tight.refused
    assert set(RULES) - set(refused) == {*ELSEWHERE, *UNBREAKABLE}
    assert refused.total() > 500
