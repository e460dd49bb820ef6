"""One side as an immutable value: the state of its peer, what it pushed, and the log of its path.

The peer's transitions are those that a user runs. Logs are linked lists: two paths that begin alike
share the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Answer, observe
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.remembered import Transitions
from channelsim.channel.explore.small_chain import SmallChain, spent_by
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    Effect,
    Event,
    Proposed,
    Push,
    Received,
    Send,
    Tell,
    Watch,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.session.questions import take_turn
from channelsim.channel.session.side_player import by_policy
from channelsim.channel.simulation.run import Delivered, Disclosure, JournalEntry, Party

MOST_TURNS = 16
"""Decisions of a player in a row, after one event; more are a mistake."""


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """The log of a side: its reaction to one event with the node's answers, and all before it.

    It was killed after so many effects were `carried_out`; None if it was not.
    """

    entry: JournalEntry
    answers: tuple[Answer, ...]
    older: Log | None
    carried_out: int | None = None

    def since(self, older: Log | None) -> Iterator[Log]:
        """The reactions after an older one (None: all), the oldest first."""
        links: list[Log] = []
        link: Log | None = self
        while link is not None and link is not older:
            links.append(link)
            link = link.older
        return reversed(links)


@dataclass(frozen=True, slots=True, eq=False)
class ExploredSide:
    """A side at one moment. `config` is fixed.

    `pending` are its pushes in the node's mempool, `outbox` the messages that it has sent since the
    last look, and `questions` those that its player has not answered. `transitions` are known.
    """

    config: Config
    state: PeerState
    watched: tuple[Coin, ...] = ()
    pending: tuple[Push, ...] = ()
    outbox: tuple[bytes, ...] = ()
    questions: tuple[Proposed | YourTurn, ...] = ()
    log: Log | None = None
    transitions: Transitions = field(default_factory=Transitions, repr=False)

    @property
    def peer(self) -> Peer:
        """Its peer, to be read."""
        return Peer(self.config, self.state)

    @property
    def pushed(self) -> tuple[Push, ...]:
        """The pushes of its newest reaction."""
        effects = self.log.entry.effects if self.log is not None else ()
        return tuple(effect for effect in effects if isinstance(effect, Push))

    def begun(self, chain: SmallChain) -> ExploredSide:
        """The side after its start."""
        peer = self.peer
        effects = peer.start(chain.height)
        return self.reacted(None, peer.state, effects, chain)

    def after(self, event: Event, chain: SmallChain) -> ExploredSide:
        """The side after an event. Raises `UsageError` for a command that is not possible."""
        state, effects = self.transitions.transition(self.config, self.state, event)
        return self.reacted(event, state, effects, chain)

    def after_block(self, chain: SmallChain) -> ExploredSide:
        """The side after it hears of the tip, again while it starts to watch coins of the chain.

        Its player answers at once.
        """
        side = self.still_pending(chain)
        while True:
            known = len(side.watched)
            side = side.after(observe(chain, side.watched), chain).answered(chain)
            if not any(chain.coin(coin.id) for coin in side.watched[known:]):
                return side

    def answered(self, chain: SmallChain) -> ExploredSide:
        """The side once its player has taken all turns that it was asked for, by its policy."""
        side = self
        for _ in range(MOST_TURNS):
            turn = next((one for one in side.questions if isinstance(one, YourTurn)), None)
            if turn is None:
                break
            side = replace(side, questions=tuple(one for one in side.questions if one != turn))
            command = take_turn(side.peer, turn.game_id, by_policy("", side.config.secret))
            if command is not None:
                try:
                    side = side.after(command, chain)
                except UsageError:
                    continue  # the game has gone on meanwhile
        return side

    def reacted(
        self,
        event: Event | None,
        state: PeerState,
        effects: Sequence[Effect],
        chain: SmallChain,
        carried_out: int | None = None,
    ) -> ExploredSide:
        """The side after its peer has come to a state by an event, with the effects carried out.

        If it is killed meanwhile, so many of them are.
        """
        pending, answers, done = list(self.pending), [], effects[:carried_out]
        for push in done:
            if isinstance(push, Push):
                admitted = chain.admitted(push.bundle) is not None
                answers.append(Answer.ACCEPTED if admitted else Answer.REFUSED)
                if admitted and all(push.bundle != known.bundle for known in pending):
                    pending.append(push)
        play = state.play
        number = play.history.state.number if play is not None else 0
        entry = JournalEntry(chain.height, event, tuple(effects), number)
        return replace(
            self,
            state=state,
            watched=(*self.watched, *(one.coin for one in done if isinstance(one, Watch))),
            pending=tuple(pending),
            outbox=(*self.outbox, *(one.message for one in done if isinstance(one, Send))),
            questions=(*self.questions, *_questions(done)),
            log=Log(entry, tuple(answers), self.log, carried_out),
        )

    def still_pending(self, chain: SmallChain) -> ExploredSide:
        """The side without the pushes that are in a block, or can be in none any more."""
        still = (push for push in self.pending if chain.admitted(push.bundle) is not None)
        return replace(self, pending=tuple(still))

    def party(self, older: Log | None = None) -> Party:
        """The side as promises are checked by, with its reactions after an older one, or all."""
        peer = self.peer
        party = Party(self.config.name, peer, peer)
        for link in self._reactions(older):
            entry, answers = link.entry, iter(link.answers)
            party.journal.append(entry)
            for number, effect in enumerate(entry.effects):
                was_done = link.carried_out is None or number < link.carried_out
                match effect:
                    case Send() | Push() if not was_done:
                        pass
                    case Send(message):
                        party.disclosures.append(Disclosure(entry.height, "message", message))
                    case Push(name, bundle):
                        answer = next(answers)
                        disclosure = Disclosure(entry.height, name, bundle, answer)
                        party.disclosures.append(disclosure)
                    case Tell(news):
                        party.news.append(news)
                    case _:
                        pass
        return party

    def _reactions(self, older: Log | None = None) -> Iterable[Log]:
        return () if self.log is None else self.log.since(older)

    def delivered(self) -> Iterator[Delivered]:
        """The messages that it received."""
        for link in self._reactions():
            if isinstance(link.entry.event, Received):
                message = link.entry.event.message
                yield Delivered(self.config.side.other, message, honest=True)


def _questions(effects: Iterable[Effect]) -> Iterator[Proposed | YourTurn]:
    for effect in effects:
        if isinstance(effect, Tell) and isinstance(effect.news, Proposed | YourTurn):
            yield effect.news


def conflicts(push: Push, coins: set[bytes]) -> bool:
    """True if a push spends one of these coins."""
    return any(coin.id in coins for coin in spent_by(push.bundle))
