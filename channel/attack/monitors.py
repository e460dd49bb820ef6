"""Monitors of attacked sessions: after each event, after each restart, and at the end.

Each monitor has an id and a sentence. The promises to an honest player are those of
`simulation/promises`; the others concern the parts around a peer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from channelsim.channel.attack.actions import LAST_PATIENT, LAST_SAFE, Action, absence, causes
from channelsim.channel.attack.agreed_games import (
    not_agreed_on,
    wrong_account,
    wrongly_dealt,
    wrongly_declined,
)
from channelsim.channel.attack.kinds import GO_ON_CHAIN, GROUPS, MOST_OUTAGE, PLANNED
from channelsim.channel.attack.old_copies import broken_to_restored, is_held_up
from channelsim.channel.attack.paid_facts import wrong_at_the_end
from channelsim.channel.attack.play_duties import unfit_reveals
from channelsim.channel.attack.sides import chosen
from channelsim.channel.attack.times_due import ANSWERS, MOVES
from channelsim.channel.attack.true_cards import TrueCards
from channelsim.channel.attack.true_decks import TrueDecks
from channelsim.channel.peer.chain_news import LeftForChain, UnilateralClose
from channelsim.channel.peer.interface import (
    BrokenOff,
    Connected,
    DeckComputed,
    NearLimit,
    OldCopy,
    OwnFault,
    Watch,
)
from channelsim.channel.peer.limits import Limits
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.peer_text import channel_overview
from channelsim.channel.protocol.messages import DeckStep
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.wallet import address_of
from channelsim.channel.session.session_events import Handled, NewsFor, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.model.waits import WAITS
from channelsim.channel.simulation.promises.checker import CHECKS, OF_AGREED_STATES, Find
from channelsim.channel.simulation.promises.crash_safety import contradictions
from channelsim.channel.simulation.promises.due_spends import unwatched
from channelsim.channel.simulation.promises.news import unaccounted
from channelsim.channel.simulation.promises.safety import unsafe
from channelsim.channel.simulation.run import Party, Run
from channelsim.channel.simulation.scenario import setup_of
from channelsim.games.amounts import counted

MONITORS = {
    "promise": "No promise of the specification to either player is broken.",
    "signature": "No side signs two different things at one place, however often it is killed.",
    "restart": "A process that starts again, at any time, has the state that it had when it ended.",
    "accused": "No honest side is accused of breaking a rule.",
    "chain": "Two honest sides never end on chain without a cause.",
    "ends": "A process ends when the channel is over, or by an error that a fault explains.",
    "settled": "Once nothing fails any more, both sides settle within the promised blocks.",
    "pace": "After the last fault, both sides are done within the blocks that their times allow.",
    "money": "What both sides put into the channel is paid out to them, all of it.",
    "hands": "Both players play all hands that they agreed on, and no others, whatever fails.",
    "news": "A player hears, once and with the same event, of all that changes in its channel.",
    "potato": "A side asks for the potato once, answers a request, and sends what is decided.",
    "spends": "A side that leaves publishes its newest state, and preempts what is stale alone.",
    "times": "Each depth and each deadline is met with the first block at its height, not before.",
    "watch-data": "The watcher's files have the newest state of the peer before anything is sent.",
    "watcher": "A watcher sees the chain as it is, preempts or pays out a state, and pays for it.",
    "disk": "The files of a side have a bounded number of bytes for each event that matters.",
    "store": "A store is synchronised, overwrites what it deletes, and is one process's alone.",
    "sealed": "No message that was handled can be read in a side's files without its keys.",
    "node": "A runner looks at the chain, says what it saw, offers spends, and names its troubles.",
    "link": "A side keeps its connection alive, gives up one that is silent, and says how it is.",
    "asks": "Commands, messages and connections have effects; `close` and `recover` ask at once.",
    "lines": "A command prints what its player hears, with the sides and amounts, and its payment.",
    "overview": "What a store shows without keys is what its peer has.",
    "decks": "Numbers are used once; a deck is what both sides computed, and is erased in time.",
    "erased": "Once the secrets of a deck are erased, no file has the bytes that held them.",
    "work": "One event costs a bounded number of signatures and runs, and what is kept is bounded.",
    "growth": "One event adds a bounded number of effects, watched coins and bytes to send.",
}
"""All monitors, by id."""

LATE = (MOVES, ANSWERS)
"""The rules by which a side is accused of being late."""

ANSWERS_WHAT_IT_READ = ("CH-OPEN-8", "CH-CANCEL-1", "CH-ACCEPT-1")
"""Rules that a side seems to break where a message to it was changed: it signs another launcher, or
answers a proposal by another number."""

WISHES = ("close", "go-on-chain", "cancel", "propose", "decline", "run-close", "run-recover")
"""Actions by which a player changes its mind about the hands."""

STEADY = {*GROUPS["chain"], "block-meanwhile", "push-held", "think", "propose", "prepare"}
"""Actions with which a connection lasts."""

AT_LIMIT = "the next state would be past the limit of "
"""The beginning of the reason of a side that leaves a channel which it cannot keep."""

CALM, CALM_HAND = 15, 5
"""Blocks after the last fault in which two honest sides are done that nothing brings on chain, and
those of each hand."""

MOVES_ON_CHAIN = 12
"""The most moves of a game that are made on chain, each within the game's timeout."""

MOST_EFFECTS, MOST_WATCHED, MOST_SENT = 64, 64, 1 << 17
"""The most effects, watched coins and bytes to send of one event."""

CHECKED_APART = ("law", "liveness", "wishes", "hands")
"""Promises that other monitors check, or that absence excuses in part."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a monitor, in a line; `promise` is the one that is broken, if it is one."""

    monitor: str
    text: str
    promise: str = ""

    def __post_init__(self) -> None:
        """Check that the monitor exists."""
        assert self.monitor in MONITORS


class Monitors:
    """All monitors of one session. They judge the sides that are not `hostile`.

    `done` are the actions that took place so far, in order.
    """

    def __init__(
        self,
        parties: tuple[Party, Party],
        hostile: int | None = None,
        done: Sequence[Action] = (),
    ) -> None:
        self._done = done
        self.violations: list[Violation] = []
        self._parties = parties
        self._honest = [side for side in Side if side != hostile]
        self._names = [parties[side].name for side in self._honest]
        # Those with what may explain them: if there was a cause until then, and the causes.
        self._left: dict[str, tuple[str, bool]] = {}
        self._is_near_limit = False
        self._connected: Counter[str] = Counter()
        self._decks, self._cards = TrueDecks(), TrueCards()
        self._accused: dict[str, tuple[BrokenOff, Sequence[Action]]] = {}

    def add(self, violation: Violation) -> None:
        """Note a violation once."""
        if violation not in self.violations:
            self.violations.append(violation)

    def step(self, event: SessionEvent) -> Iterator[Violation]:
        """Follow an event."""
        if isinstance(event, Handled):
            for party in self._parties:
                self._cards.learn(party.peer.state.endpoint)
            for how in self._cards.wrong(event.effects) if event.peer in self._names else ():
                yield Violation("news", f"the {event.peer}: {how}")
        match event:
            case NewsFor(name, BrokenOff() as news):
                self._accused[name] = news, causes(self._done)
            case NewsFor(name, NearLimit()) if self._is_close_to_limit(name):
                self._is_near_limit = True
            case NewsFor(name, LeftForChain(reason)) if reason.startswith(
                AT_LIMIT
            ) and self._has_limit(name):
                self._is_near_limit = True
            case NewsFor(name, UnilateralClose() | LeftForChain() | OwnFault() | OldCopy() as news):
                text = f"the {name} has left: {news}"[:200]
                has_cause = self._is_near_limit or bool(causes(self._done))
                self._left.setdefault(name, (text, has_cause))
            case Handled(name, Connected()) if len(self._names) == len(Side):
                self._connected[name] += 1
                if self._connected[name] > 1 and all(
                    action.kind in STEADY for action in self._done
                ):
                    yield Violation("link", f"the {name} connects again, and lost no connection")
            case Handled(name, DeckComputed(result), effects):
                for how in self._decks.follow(name, result):
                    if name in self._names:
                        yield Violation("decks", how)
                yield from _growth(name, effects) if name in self._names else ()
            case Handled(name, _, effects) if name in self._names:
                yield from _growth(name, effects)
                if len(self._names) == len(Side) and not self._has_changed_messages():
                    for how in unfit_reveals(effects):
                        yield Violation("potato", f"the {name} ignores {how}")
            case _:
                pass

    def _has_changed_messages(self) -> bool:
        return any(action.kind in GROUPS["messages"] for action in self._done)

    def _has_limit(self, name: str) -> bool:
        """True if a side may keep less of a channel than is usual: it leaves one that is larger."""
        return self._parties[NAMES.index(name)].peer.config.limits != Limits()

    def _is_close_to_limit(self, name: str) -> bool:
        """True if a side with such a limit has a channel that is near it, or past it."""
        peer = self._parties[NAMES.index(name)].peer
        play = peer.state.play
        is_near = play is not None and peer.config.limits.near(play.state.number, play.stored_bytes)
        return bool(is_near) and self._has_limit(name)

    def was_stored(self, states: Sequence[PeerState], after: PeerState) -> bool:
        """True if a process comes back with its last event, of which that was not sure."""
        return bool(differences(states[0], after)) and not differences(states[-1], after)

    def restart(self, states: Sequence[PeerState], after: PeerState) -> Iterator[str]:
        """Find what a process that starts again has lost, or has that it never had."""
        found = [differences(before, after) for before in states]
        if all(found):
            fewest = min(found, key=lambda names: len(names))
            yield f"other {', '.join(fewest)} than before the restart"

    def at_the_end(self, run: Run, done: Sequence[Action], copies: Sequence[int] = (0, 0)) -> None:
        """Check the session as a whole; `copies` says how often a side went on from an old copy."""
        reasons = self._is_near_limit or bool(causes(done))
        tampers = [action for action in done if action.kind in ("corrupt", "truncate", "reorder")]
        both = len(self._honest) == len(Side)
        copied = any(copies)
        settled = all(run.finished[side] is not None for side in self._honest)
        prevented = any(action.kind not in ("reorganise", "rush") for action in done)
        if both and not (prevented or any(party.peer.state.play for party in run.parties)):
            self._found("settled", "nothing prevents a channel, and both sides have none")
        for side in self._honest:
            waits = copies[side] and not both and is_held_up(_as_seen_by(run, side))
            if run.finished[side] is None and not (_has_nothing(run.parties[side]) or waits):
                self._found("settled", f"the {run.parties[side].name} is not done after the faults")
            # An old copy may sign what the other side never got; its promises are others.
            for how in () if copies[side] else contradictions(run.parties[side].sent):
                self._found("signature", f"the {run.parties[side].name} sent {how}")
        for text, has_cause in self._left.values() if both else ():
            if not has_cause:
                self._found("chain", text)
        for name, (news, earlier) in self._accused.items() if both and not copied else ():
            blame, accuser = news.blame, NAMES.index(name)
            if not any(explains(action, accuser, blame.rule) for action in earlier):
                self._found("accused", f"the {name} accuses the other side: {blame}")
        if settled:
            if both and not copied:
                self._money(run)
            for side in self._honest:
                self._paid_coins(run, side)
                if not copied:
                    self._payment(run, side)
                    self._agreement(run, side)
                    if both:
                        self._declined(run, side, done)
                if copies[side]:
                    self._promises_to_copy(run, side, copies[side])
                    continue
                ours = _as_seen_by(run, side)
                talk = conversation(ours)
                self._promises(ours, talk, tampered=bool(tampers), away=absence(done))
                if both and not any(action.kind in WISHES for action in done) and not reasons:
                    self._hands(ours, talk)

    def pace(self, run: Run, done: Sequence[Action], quiet_since: int) -> None:
        """Check that each side was done in time, counted from the height of the last fault."""
        for side in Side:
            agreement = run.parties[side].peer.config.agreement
            times = agreement.times
            most = CALM + CALM_HAND * run.scenario.hands
            most += CALM_HAND * sum(action.kind == "propose" for action in done)
            if self._is_near_limit or causes(done):
                most += times.response + times.move + 2 * times.margin + agreement.unroll_timeout
                most += MOVES_ON_CHAIN * run.scenario.game_timeout
            most *= run.scenario.spacing
            finished = run.finished[side]
            if finished is not None and finished - quiet_since > most:
                blocks = f"{counted(finished - quiet_since, 'block')}, at most {most}"
                self._found("pace", f"the {run.parties[side].name} took {blocks}")

    def _found(self, monitor: str, text: str, promise: str = "") -> None:
        self.add(Violation(monitor, text, promise))

    def _money(self, run: Run) -> None:
        """Check that all money is at addresses of its owners."""
        total = 0
        for party in run.parties:
            config = party.peer.config
            for address in (config.reward_address, address_of(config.wallet.key)):
                total += sum(seen.coin.amount for seen in run.chain.coins_at(address))
        put_in = sum(party.peer.config.wallet.coin.amount for party in run.parties)
        if total != put_in:
            self._found("money", f"{counted(put_in, 'mojo')} became {total:,}")

    def _payment(self, run: Run, side: Side) -> None:
        """Check that the command's last line has what was paid to the side's reward address."""
        peer = run.parties[side].peer
        if peer.phase is not Phase.CLOSED:
            return
        told = channel_overview.ours_at_the_end(peer.state)
        paid = sum(seen.coin.amount for seen in run.chain.coins_at(peer.config.reward_address))
        if told > paid or (told < paid and not channel_overview.unknown_games(peer.state)):
            how = f"was paid {counted(paid, 'mojo')}, and says {told:,}"
            self._found("lines", f"the {run.parties[side].name} {how}")

    def _agreement(self, run: Run, side: Side) -> None:
        """Check the games that a side began, and its account of them, where hands are agreed on."""
        if not run.scenario.terms.proposals.is_agreed:
            return
        setup, party = setup_of(run.scenario), run.parties[side]
        state = party.peer.state
        for how in (*not_agreed_on(setup, state), *wrong_account(setup, state, side)):
            self._found("hands", f"the {party.name} {how}")
        if not setup.dealer_chooses or any(action.kind == "propose" for action in self._done):
            return
        honest = [chosen(setup, run.parties[side].peer) for side in self._honest]
        choosing = dict(zip(self._honest, honest, strict=True))
        for how in wrongly_dealt(setup, state, [choosing.get(dealer) for dealer in Side]):
            self._found("hands", f"the {party.name} {how}")

    def _declined(self, run: Run, side: Side, done: Sequence[Action]) -> None:
        """Check that hands are called declined if a player did not want them, and excused then."""
        state, setup = run.parties[side].peer.state, setup_of(run.scenario)
        decliners = {action.side for action in done if action.kind == "decline"}
        for how in wrongly_declined(setup, state, side, decliners):
            self._found("hands", f"the {run.parties[side].name} {how}")

    def _paid_coins(self, run: Run, side: Side) -> None:
        """Check what a side says of coins that the chain has at the end."""
        for how in wrong_at_the_end(run, side):
            self._found("news", f"the {run.parties[side].name} says that {how}")

    def _hands(self, ours: Run, talk: Conversation) -> None:
        """Check that all hands that both players agreed on were played, or excused."""
        for how in () if talk.broken else unaccounted(ours, talk):
            self._found("hands", how)

    def _promises_to_copy(self, run: Run, side: Side, times: int) -> None:
        """Check the promises to a side that went on from an old copy of its store."""
        ours = _as_seen_by(run, side)
        ours = replace(ours, restores=times)
        for how in broken_to_restored(ours, conversation(ours), times):
            if not how.endswith(PLANNED):
                self._found("promise", f"to the restored {ours.party.name}: {how}")

    def _promises(self, ours: Run, talk: Conversation, *, tampered: bool, away: float) -> None:
        """Check the promises to one side; the other one is honest, but for changed messages.

        Sides that may have been `away` past a deadline, in blocks, have no claim to what that is
        about; a process that is back waits for its counterparty as long as before.
        """
        late = away > (LAST_SAFE if len(self._honest) == len(Side) else MOST_OUTAGE)
        laws = [how for how in talk.broken if not (away > LAST_PATIENT and WAITS in how)]
        broken = [("law", how) for how in laws]
        excused: set[Find] = {unwatched, *(OF_AGREED_STATES if broken else ())}
        if tampered or late:
            excused.add(unsafe)
        for promise, find in CHECKS:
            if promise not in CHECKED_APART and find not in excused:
                broken += ((promise, how) for how in find(ours, talk))
        for promise, how in broken:
            # What a script has a side fail at is no fault of the engine.
            if not how.endswith(PLANNED):
                self._found("promise", f"to the {ours.party.name}: {how}", promise)


def explains(action: Action, accuser: int, rule: str) -> bool:
    """True if an action explains that an honest side accuses the other one by this rule.

    What is late may be late by any of them, but for a side that goes on chain at once. What is
    wrong was changed on its way, or something before it was lost; absence explains nothing of that.
    """
    if rule in LATE:
        return action.kind != GO_ON_CHAIN
    if action.kind in ("corrupt", "truncate"):
        return action.side != accuser or rule in ANSWERS_WHAT_IT_READ
    return action.kind in ("drop", "reorder")


def _has_nothing(party: Party) -> bool:
    """True for a side that has signed nothing of a channel: it may wait for the other for ever."""
    state = party.peer.state
    return state.phase is Phase.OPENING and state.opening.opened is None


def _as_seen_by(run: Run, side: Side) -> Run:
    """A run whose honest side is this one."""
    return replace(run, scenario=replace(run.scenario, side=side.other))


def _growth(name: str, effects: Sequence[object]) -> Iterator[Violation]:
    """Find an event after which a side does, watches or sends too much."""
    kinds = Counter(type(effect).__name__ for effect in effects)
    sent = sum(len(getattr(effect, "message", b"")) for effect in effects)
    sizes = (
        (len(effects), MOST_EFFECTS, "effects"),
        (kinds[Watch.__name__], MOST_WATCHED, "watched coins"),
        (sent, MOST_SENT, "bytes to send"),
    )
    for size, most, what in sizes:
        if size > most:
            yield Violation("growth", f"the {name} has {size} {what} after one event")


UNSTORED = ("block", "resuming", "play", "dispute")
"""Parts of a peer's state that a restart may change: they come again with blocks and connections.
Play and disputes are compared part by part."""

UNSTORED_PLAY = ("decks", "we_asked", "they_asked", "ask_later")
"""Parts of play that a restart may change: the potato is asked for again on each connection."""


UNSTORED_DISPUTE = ("block",)
"""Parts of a dispute that a restart may change: each block brings them again."""


def as_restarted(state: PeerState) -> PeerState:
    """A state of a peer as its next process begins: on a new connection.

    Messages that are held until the channel coin is deep are forgotten, as their sender repeats
    them; so the repeats must not be known, unless they are steps of a deck, which count for
    nothing. Once the channel is left, nothing is repeated.
    """
    if not state.early or state.phase not in (Phase.OPENING, Phase.FUNDING):
        return state
    if all(isinstance(held, DeckStep) for _, held in state.early):
        return structs.replace(state, early=())
    return structs.replace(state, early=(), last_received=b"", last_batch=b"")


def differences(before: PeerState, after: PeerState) -> list[str]:
    """The names of all parts in which two states of a peer differ that a restart must keep."""
    before = as_restarted(before)
    names = [
        name
        for name in PeerState.__struct_fields__
        if name not in UNSTORED
        and (old := getattr(before, name)) is not (new := getattr(after, name))
        and old != new
    ]
    if before.play is None or after.play is None:
        return names + ["play"] * ((before.play is None) != (after.play is None))
    if before.play.decks.highest != after.play.decks.highest:
        names.append("play.decks.highest")
    names += [
        f"play.{name}"
        for name in PlayState.__struct_fields__
        if name not in UNSTORED_PLAY and not _same(name, before.play, after.play)
    ]
    if before.dispute is None or after.dispute is None:
        return names + ["dispute"] * ((before.dispute is None) != (after.dispute is None))
    return names + [
        f"dispute.{name}"
        for name in Dispute.__struct_fields__
        if name not in UNSTORED_DISPUTE and not _same(name, before.dispute, after.dispute)
    ]


def _same(name: str, before: Any, after: Any) -> bool:
    """True if a part of play, or of a dispute, is the same; a history is, if its newest states
    are."""
    old, new = getattr(before, name), getattr(after, name)
    if old is new:
        return True
    return bool(old.state == new.state if name == "history" else old == new)
