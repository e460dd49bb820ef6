"""Adversaries that obey every rule, and never let anything come to an end."""

from __future__ import annotations

from channelsim.channel.adversaries.base import Adversary, Plan, adversary, variant
from channelsim.channel.adversaries.proposals import with_offers, with_timeout
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Close,
    Connected,
    Effect,
    Event,
    ProposeGames,
    Received,
    Send,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.phases.playing import request_potato, send_now
from channelsim.channel.protocol.messages import Message, Resume, decode

MANY = 20
"""Games that are proposed at once, to make states large."""


class Delaying(Adversary):
    """Never asks for the shutdown itself, and leaves its peer to obey the rules."""

    at_once = False
    most = 1
    """The most games that it proposes at once."""

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, but for a wish to close the channel."""
        return [] if isinstance(event, Close) else super().handle(event)

    @property
    def plays(self) -> bool:
        """True if it may send messages of play now."""
        return self.phase is Phase.PLAYING and not self.peer.state.resuming

    @property
    def owes(self) -> bool:
        """True if it has to act in a game."""
        return any(game.mover is self.side for game in self.state.games)

    def ask(self) -> list[Effect]:
        """Ask for the potato, unless it has done so."""
        if not self.plays or self.peer.play.potato:
            return []
        self.peer.state, effects = request_potato(self.peer.state)
        self.done = bool(effects)
        return self._change(effects)

    def give_back(self) -> list[Effect]:
        """Give the potato back without need, where the rules allow it."""
        if not self.plays or not self.peer.play.potato or self.owes:
            return []
        self.done = True
        self.peer.state, effects = send_now(self.peer.config, self.peer.state, {})
        return self._change(effects)

    def propose(self) -> list[Effect]:
        """Propose games with the terms of the latest offer, unless some of its own are open.

        It proposes as many at once as both balances cover, `most` at the most.
        """
        if not self.plays or any(group.proposer is self.side for group in self.state.groups):
            return []
        if any(isinstance(command, ProposeGames) for command in self.peer.play.queue):
            return []
        offer, wish = self.latest_offer(), self.wish()
        if offer is None or wish is None:
            return []
        covered = min(self.state.balances) // max(1, *offer.stakes)
        count = 1 if wish.deck is not None else max(1, min(self.most, covered))
        effects = self.command(ProposeGames((wish,) * count))
        self.done = effects is not None
        return effects or []


@adversary("bouncer", "asks for the potato at once, and gives it back empty, for ever")
class _Bouncer(Delaying):
    def act(self) -> list[Effect]:
        return self.give_back() or self.ask()


class Unfit(Delaying):
    """Shortens the timeouts of its proposals, so that the other side has to cancel them."""

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        """The batch with proposals that no careful side accepts."""
        batch_and_before, changed = self.batch_and_before(message), None
        if batch_and_before is not None:
            changed = with_offers(
                self, *batch_and_before, lambda offer: with_timeout(self, offer, 1)
            )
        self.done = changed is not None
        return changed or [blob]


@adversary("unfit-proposer", "proposes an unfit game with each return of the potato")
class _UnfitProposer(Unfit):
    def act(self) -> list[Effect]:
        return self.propose() if self.plays and self.peer.play.potato else []


@adversary("asks-and-proposes", "asks for the potato at once, and proposes an unfit game each time")
class _AsksAndProposes(Unfit):
    def act(self) -> list[Effect]:
        if not self.plays:
            return []
        return (self.propose() or self.give_back()) if self.peer.play.potato else self.ask()


class Insatiable(Delaying):
    """Proposes new games as soon as it can."""

    def act(self) -> list[Effect]:
        """Propose them."""
        return self.propose()


variant(Insatiable, "insatiable", "proposes a new game as soon as it can, and accepts every other")
variant(
    *(Insatiable, "hoarder", "plays as many games at once as there is money for, for large states"),
    most=MANY,
)


@adversary("decliner", "cancels every proposal of the other side, and proposes others")
class _Decliner(Insatiable):
    def handle(self, event: Event) -> list[Effect]:
        if self.due and isinstance(event, AcceptGames):
            self.done = True
            event = CancelGames(event.group_id, "another one, please")
        return super().handle(event)


class Dawdler(Delaying):
    """Takes all the time for each answer and each move."""

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._late: list[tuple[int, Event]] = []
        self._turns: dict[int, tuple[int, Act]] = {}

    def handle(self, event: Event) -> list[Effect]:
        """Take messages and decisions late."""
        if not self.due or not self.is_open:
            return super().handle(event)
        times, peak = self.peer.config.agreement.times, self.peer.state.block.peak
        match event:
            case Received() if self.phase is Phase.PLAYING:
                self._late.append((peak + times.response, event))
                return []
            case Act(game_id):
                self.done = True
                # Asked again with each return of the potato: its time starts again.
                self._turns[game_id] = peak, event
                return []
            case Connected():
                self._late.clear()
        return super().handle(event)

    def block(self, block: Block) -> list[Effect]:
        """Handle the messages and decisions whose time has come."""
        effects: list[Effect] = []
        while self._late and self._late[0][0] <= block.peak:
            effects += super().handle(self._late.pop(0)[1])
        # A message that arrives is 10 blocks old already.
        times = self.peer.config.agreement.times
        wait = times.move - times.response
        for game_id, (since, act) in [*self._turns.items()]:
            if block.peak - since >= wait or self.phase is not Phase.PLAYING:
                del self._turns[game_id]
                effects += self.command(act) or []
        return effects


variant(Dawdler, "dawdler", "answers and moves in the last moment that is allowed")


@adversary("slow-bouncer", "asks for the potato each time, and answers and moves as late as it may")
class _SlowBouncer(Dawdler):
    def act(self) -> list[Effect]:
        return self.give_back() or self.ask()


class LateNumbers(Delaying):
    """Connects again and again, and sends its last numbers when the response time is almost over.

    What its peer says in answer waits until then too, and for the next connection afterwards. If
    it is `deaf`, everything that it gets is lost with the connection.
    """

    deaf = False

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._said: list[Effect] = []
        self._connected: int | None = None
        self._sent_at: int | None = None

    def reconnects(self) -> bool:
        """True if there was no connection of this kind, or the one before is used up."""
        if not self.due or not self.is_open or self.phase is not Phase.PLAYING:
            return False
        used_up = self._sent_at is not None and self.peer.state.block.peak > self._sent_at
        return self._connected is None or used_up

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event as the peer does, and hold back what the peer says."""
        if isinstance(event, Connected) and self.due and self.is_open:
            self._said, self._sent_at = [], None
            self._connected = self.peer.state.block.peak
        if self._connected is not None and self._is_lost(event):
            return []
        effects = super().handle(event)
        if self._connected is None:
            return effects
        self.done = True
        self._said += [effect for effect in effects if isinstance(effect, Send)]
        return [effect for effect in effects if not isinstance(effect, Send)]

    def last(self) -> list[Effect]:
        """Say everything at once."""
        if self._connected is None or self._sent_at is not None:
            return []
        peak, times = self.peer.state.block.peak, self.peer.config.agreement.times
        if peak - self._connected < times.response - 1:
            return []
        self._sent_at = peak
        said, self._said = self._said, []
        return said

    def _is_lost(self, event: Event) -> bool:
        return (
            self.deaf
            and isinstance(event, Received)
            and not isinstance(decode(event.message), Resume)
        )


for _name, _about, _deaf in (
    ("late-numbers", "connects again and again, and sends no more than its last numbers", True),
    ("late-answers", "connects again and again, and answers with the next connection", False),
):
    variant(LateNumbers, _name, _about, deaf=_deaf)
