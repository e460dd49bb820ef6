"""Two honest peers with stores, under lost connections and kills, from their first message on.

Messages arrive in any order of the two directions, and players act at any time between them. A
connection is lost with all messages under way. A side is killed before an event is stored, or after
it, between any two of its effects; the other side may get what was sent, until the process starts
again from its store. Blocks come when nothing else can happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from channelsim.channel.attack.monitors import differences
from channelsim.channel.chain.interface import observe
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.explored_side import ExploredSide
from channelsim.channel.explore.fingerprints import Ages, chain_key, digest, side_key
from channelsim.channel.explore.remembered import RememberingPeer, key_of, once
from channelsim.channel.explore.signed_play import channel_of, proposal, scenario_of
from channelsim.channel.explore.small_chain import SmallChain
from channelsim.channel.peer.chain_news import LeftForChain, UnilateralClose
from channelsim.channel.peer.interface import (
    AcceptGames,
    BrokenOff,
    Close,
    Command,
    Connected,
    Effect,
    Event,
    OldCopy,
    OwnFault,
    Proposed,
    Push,
    Received,
    Send,
    Tell,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import decode
from channelsim.channel.session.questions import take_turn
from channelsim.channel.session.setup import NAMES
from channelsim.channel.session.side_player import by_policy
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.promises.crash_safety import contradictions
from channelsim.channel.simulation.run import Run
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.games.amounts import counted

T = TypeVar("T")

MOST_FAULTS = 2
"""Lost connections and kills of one path."""

EVENTS_PER_SNAPSHOT = 4
"""Events between two snapshots: few, so that restarts read some."""

MOST_BLOCKS = 60
"""Blocks within which both sides close; more break liveness."""

BAD_NEWS = (BrokenOff, LeftForChain, UnilateralClose, OwnFault, OldCopy)
"""News that two honest sides never get."""

OLDEST = 30
"""Blocks after which the ages of coins are the same: past the deadline of the funding."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredSide:
    """A side with its store. The durable peer is never used itself: each event takes a copy.

    `known` are sides that follow from this one, and its digests: each is worked out once, and then
    the same object, so that states of the world share it.
    """

    side: ExploredSide
    durable: DurablePeer
    store: MemoryStore
    known: dict[object, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def new(cls, side: ExploredSide, chain: SmallChain) -> StoredSide:
        """A side that begins."""
        store = MemoryStore()
        durable = _durable(side, store)
        effects = durable.start(chain.height)
        return cls(side.reacted(None, durable.peer.state, effects, chain), durable, store)

    def reaction(self, event: Event) -> tuple[DurablePeer, MemoryStore, list[Effect]]:
        """The state and effects after an event, which is stored. Raises `UsageError`."""

        def reacted() -> tuple[DurablePeer, MemoryStore, list[Effect]]:
            store = MemoryStore(self.store.load())
            durable = self.durable.copied(store)
            return durable, store, durable.handle(event)

        return self.once(("reaction", key_of(event)), reacted)

    def after(self, event: Event, chain: SmallChain, carried_out: int | None = None) -> StoredSide:
        """The side after an event, or killed when so many effects were carried out."""

        def handled() -> StoredSide:
            durable, store, effects = self.reaction(event)
            side = self.side.reacted(event, durable.peer.state, effects, chain, carried_out)
            return StoredSide(side, durable, store)

        return self.once(("after", key_of(event), chain, carried_out), handled)

    def after_block(self, chain: SmallChain) -> StoredSide:
        """The side after it hears of the tip."""

        def told() -> StoredSide:
            this = self._as(self.side.still_pending(chain))
            while True:
                known = len(this.side.watched)
                this = this.after(observe(chain, this.side.watched), chain)
                if not any(chain.coin(coin.id) for coin in this.side.watched[known:]):
                    return this

        return self.once(("block", chain), told)

    def restarted(self, chain: SmallChain) -> StoredSide:
        """The side that starts again from its store."""

        def begun() -> StoredSide:
            store = MemoryStore(self.store.load())
            durable = _durable(self.side, store)
            effects = durable.start(chain.height)
            log = self.side.log
            bare = replace(self.side, watched=(), pending=(), questions=())
            side = replace(bare.reacted(None, durable.peer.state, effects, chain), log=log)
            return StoredSide(side, durable, store)

        return self.once(("restart", chain), begun)

    def sent(self) -> StoredSide:
        """The side once its messages are under way."""
        return self.once("sent", lambda: self._as(replace(self.side, outbox=())))

    def asked(self) -> StoredSide:
        """The side without the first question to its player."""
        questions = self.side.questions[1:]
        return self.once("asked", lambda: self._as(replace(self.side, questions=questions)))

    def mark(self, ages: Ages) -> bytes:
        """The digest of the side, with the questions to its player."""

        def digested() -> bytes:
            return digest((side_key(self.side, ages), sorted(map(repr, self.side.questions))))

        return self.once(ages, digested)

    def _as(self, side: ExploredSide) -> StoredSide:
        return StoredSide(side, self.durable, self.store)

    def once(self, key: object, work: Callable[[], T]) -> T:
        """The result of some work; an error is not known, and raised by each try."""
        return once(self.known, key, work)


def _durable(side: ExploredSide, store: MemoryStore) -> DurablePeer:
    """A peer that starts with a store; it has one first state, so that its next ones are shared."""
    peer = RememberingPeer(side.config, side.transitions.first(side.config), side.transitions)
    return DurablePeer(peer, store, EVENTS_PER_SNAPSHOT)


@dataclass(frozen=True, slots=True, eq=False)
class LossyState:
    """A state of the world. `messages` are under way, by the side that gets them.

    `down` is the side whose process is not there. `has_lost` names what the last restart lost.
    """

    chain: SmallChain
    sides: tuple[StoredSide, StoredSide]
    messages: tuple[tuple[bytes, ...], tuple[bytes, ...]] = ((), ())
    faults: int = MOST_FAULTS
    down: int | None = None
    blocks: int = 0
    has_lost: str = ""


@dataclass(frozen=True, slots=True)
class LossyChoice:
    """A step of a path, as people read it, and what it does."""

    text: str
    takes: Callable[[LossyState], LossyState]


class LossyWorld:
    """The states of one session."""

    def __init__(self, games: tuple[str, ...], seed: str, faults: int = MOST_FAULTS) -> None:
        self._games, self._seed, self._faults = games, seed, faults
        self._scenario = scenario_of(games, seed, reorgs=False)

    def first(self) -> LossyState:
        """The state in which all paths begin: the initiator has spoken."""
        chain, sides = channel_of(self._games, self._seed)
        first, second = (StoredSide.new(side, chain) for side in sides)
        return _sent(LossyState(chain, (first, second), faults=self._faults))

    def fingerprint(self, state: LossyState) -> bytes:
        """The digest of a state. Of stores that lead to equal states, the first one counts."""
        ages = Ages(state.chain.height, OLDEST, OLDEST)
        return digest(
            (
                once(state.chain.known, ages, lambda: digest(chain_key(state.chain, ages))),
                *(one.mark(ages) for one in state.sides),
                *(state.messages, state.faults, state.down, state.has_lost),
            )
        )

    def is_end(self, state: LossyState) -> bool:
        """True if both sides are done."""
        return state.down is None and all(one.side.peer.is_over for one in state.sides)

    # --- choices ---

    def choices(self, state: LossyState) -> Iterator[LossyChoice]:
        """Every choice in a state, the plainest first."""
        if state.down is not None:
            yield LossyChoice(f"the {NAMES[state.down]} starts again", _restart)
        idle = state.down is None
        for index in (0, 1):
            if index == state.down:
                continue
            for text, event, before in self._events(state, index):
                idle = False
                yield LossyChoice(text, _reacting(index, event, before))
                if state.faults and state.down is None:
                    yield from self._kills(state, index, text, event, before)
        if idle:
            yield LossyChoice("a block", _farm)
        if state.faults and state.down is None:
            yield LossyChoice("the connection is lost", _lose)
            for index, name in enumerate(NAMES):
                yield LossyChoice(f"the {name} is killed", _killed(index))

    def _events(self, state: LossyState, index: int) -> Iterator[tuple[str, Event, LossyState]]:
        """The events that a side may handle now, each with the state without its cause."""
        if state.messages[index]:
            message, *others = state.messages[index]
            queues = list(state.messages)
            queues[index] = tuple(others)
            text = f"the {NAMES[index]} gets {type(decode(message)).__name__}"
            yield text, Received(message), replace(state, messages=(queues[0], queues[1]))
        stored = state.sides[index]
        side, questions = stored.side, stored.side.questions
        if questions:
            before = _with(state, index, stored.asked())
            command = stored.once("answer", lambda: self._answer(side))
            if command is not None and _takes(stored, command):
                yield f"the {NAMES[index]} answers", command, before
            elif before is not state:
                # The question is over; the next one may not be.
                yield from self._events(before, index) if len(questions) > 1 else ()
        else:
            wish = stored.once("wish", lambda: self._wish(side))
            if wish is not None and _takes(stored, wish):
                yield f"the {NAMES[index]} wants {type(wish).__name__}", wish, state

    def _kills(
        self, state: LossyState, index: int, text: str, event: Event, before: LossyState
    ) -> Iterator[LossyChoice]:
        """A choice for each number of effects that others can tell apart."""
        _, _, effects = state.sides[index].reaction(event)
        done = [n for n, one in enumerate(effects, 1) if isinstance(one, Send | Push)]
        for carried_out in (0, *done):
            how = f"{text}, and is killed after {carried_out} effects"
            yield LossyChoice(how, _reacting(index, event, before, carried_out))

    def _answer(self, side: ExploredSide) -> Command | None:
        question = side.questions[0]
        if isinstance(question, Proposed):
            return AcceptGames(question.group.id)
        return take_turn(side.peer, question.game_id, by_policy("", side.config.secret))

    def _wish(self, side: ExploredSide) -> Command | None:
        """The wish of a player of its own accord: the games, once, and then a shutdown."""
        if side.state.phase is not Phase.PLAYING or side.state.resuming:
            return None
        play = side.peer.play
        if play.state.games or play.state.groups or play.queue or play.closing:
            return None
        begun = any(link.state.games for link in play.history)
        if not begun and side.config.side == 0:
            return proposal(self._games, self._scenario)
        return Close() if begun and side.config.side == 1 else None

    def step(self, state: LossyState, choice: LossyChoice) -> LossyState:
        """The state after a choice."""
        return choice.takes(state)

    # --- promises ---

    def broken_by_step(self, state: LossyState) -> Iterator[str]:
        """Find bad news, lost parts of a state, and sessions without an end."""
        if state.blocks > MOST_BLOCKS:
            yield f"settled: both are not done after {counted(state.blocks, 'block')}"
        if state.has_lost:
            yield f"restart: {state.has_lost}"
        for name, one in zip(NAMES, state.sides, strict=True):
            link = one.side.log
            for effect in link.entry.effects if link is not None else ():
                if isinstance(effect, Tell) and isinstance(effect.news, BAD_NEWS):
                    yield f"chain: the {name} has left: {effect.news}"[:200]

    def broken_at_end(self, state: LossyState) -> Iterator[str]:
        """Find the promises to both sides that a whole path has broken."""
        first, second = (one.side.party() for one in state.sides)
        for party in (first, second):
            for how in contradictions(party.sent):
                yield f"signature: the {party.name} sent {how}"
        height = state.chain.height
        for side in (0, 1):
            scenario = replace(self._scenario, adversary="", side=side)
            delivered = tuple(one for each in state.sides for one in each.side.delivered())
            run = Run(
                *(scenario, state.chain, (first, second), delivered),  # type: ignore[arg-type]
                *(state.blocks, 0, (height, height)),
            )
            for broken in check(run):
                yield f"{broken.promise}: to the {NAMES[1 - side]}: {broken.how}"

    def broken_by_waiting(self, state: LossyState, choice: LossyChoice) -> Iterator[str]:
        """Find sessions in which nothing happens any more, though both are not done."""
        yield "settled: nothing happens any more, and both are not done"


# --- steps ---------------------------------------------------------------------------------------


def _with(state: LossyState, index: int, stored: StoredSide) -> LossyState:
    sides = list(state.sides)
    sides[index] = stored
    return replace(state, sides=(sides[0], sides[1]))


def _sent(state: LossyState) -> LossyState:
    """The state with what both sides have sent under way."""
    queues = list(state.messages)
    for index, stored in enumerate(state.sides):
        if stored.side.outbox:
            queues[1 - index] = (*queues[1 - index], *stored.side.outbox)
            state = _with(state, index, stored.sent())
    return replace(state, messages=(queues[0], queues[1]))


def _takes(stored: StoredSide, command: Command) -> bool:
    """True if a command is possible now."""

    def takes() -> bool:
        try:
            stored.reaction(command)
        except UsageError:
            return False
        return True

    return stored.once(("takes", key_of(command)), takes)


def _reacting(
    index: int, event: Event, before: LossyState, carried_out: int | None = None
) -> Callable[[LossyState], LossyState]:
    """A side handles an event, and is killed when so many effects were carried out."""

    def take(_: LossyState) -> LossyState:
        stored = before.sides[index].after(event, before.chain, carried_out)
        after = _sent(_with(before, index, stored))
        if carried_out is None:
            return replace(after, has_lost="")
        return replace(after, has_lost="", down=index, faults=before.faults - 1)

    return take


def _killed(index: int) -> Callable[[LossyState], LossyState]:
    """A side is killed between two events."""
    return lambda state: replace(state, down=index, faults=state.faults - 1, has_lost="")


def _restart(state: LossyState) -> LossyState:
    """The side that is down starts again, and the connection is new."""
    index = state.down
    assert index is not None
    stored = state.sides[index]
    again = stored.restarted(state.chain)
    names = differences(stored.side.state, again.side.state)
    lost = f"the {NAMES[index]} has other {', '.join(names)} than before" if names else ""
    after = _lose(replace(_with(state, index, again), down=None, faults=state.faults + 1))
    side = after.sides[index].after_block(state.chain)
    return _sent(replace(_with(after, index, side), has_lost=lost))


def _lose(state: LossyState) -> LossyState:
    """The connection is lost with what is under way, and made again."""
    state = replace(state, messages=((), ()), faults=state.faults - 1, has_lost="")
    for index, stored in enumerate(state.sides):
        state = _with(state, index, stored.after(Connected(), state.chain))
    return _sent(state)


def _farm(state: LossyState) -> LossyState:
    """A block with everything that is pending."""
    pending = [push.bundle for stored in state.sides for push in stored.side.pending]
    names = ("block", *map(name_of_bundle, pending))
    chain = once(state.chain.known, names, lambda: state.chain.with_block(pending))
    state = replace(state, chain=chain, blocks=state.blocks + 1, has_lost="")
    for index, stored in enumerate(state.sides):
        state = _with(state, index, stored.after_block(chain))
    return _sent(state)
