"""Judge every message of a run as the honest side saw it.

An honest side accepts what follows the rules, accuses what does not, and breaks none itself. It
neither gives up before a deadline nor waits for ever. Only the events and effects of its peer are
used, nothing of its state. Source: spec/channel.md, "Opening" and
"The potato".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import Blame, Violation
from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.chain_news import ChannelClosed, LeftForChain, UnilateralClose
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    BrokenOff,
    CancelGames,
    ChannelOpen,
    Connected,
    DeckBurnt,
    OldCopy,
    OpeningFailed,
    OwnFault,
    ProposeGames,
    Received,
    Send,
)
from channelsim.channel.protocol.messages import (
    ASIDE,
    MAX_MESSAGE,
    UNSIGNED,
    Batch,
    DeckAbort,
    DeckStep,
    Funded,
    Message,
    Request,
    Resume,
    Shutdown,
    ShutdownDone,
    decode,
)
from channelsim.channel.simulation.model.batch_rules import LAWFUL, CarefulSide, judge
from channelsim.channel.simulation.model.channel_terms import ChannelTerms
from channelsim.channel.simulation.model.handshake import Handshake, OpeningTerms
from channelsim.channel.simulation.model.ledger import LedgerState
from channelsim.channel.simulation.model.wishes import Wishes
from channelsim.channel.simulation.run import JournalEntry, Run
from channelsim.clsp.values import tree_hash

TIMES = Times()
"""The times that both sides of a scenario agree on."""

WAITS = "has waited too long"
"""Ends what is broken where a side never gives the other up."""

PATIENCE = 12
"""Blocks for which an honest side may wait beyond a deadline, because of the weather."""

SIGNED = Batch | Shutdown | ShutdownDone
"""Messages of play that a side signs."""

WANTS_POTATO = ProposeGames | AcceptGames | CancelGames | Act
"""Commands that take a batch."""

FREE = 1 << 16
"""Bytes that a message may always have; the limit of a longer one depends on the state."""

ENDS = LeftForChain | OwnFault | UnilateralClose | OldCopy | OpeningFailed | ChannelClosed
"""News after which the honest side ignores messages."""


@dataclass
class Conversation:
    """Both sides' messages until the honest side ignores them.

    `accounts` are the states by number. `received` is the newest state that the honest side can
    complete, `sent` the newest that it sent, and `slashable` one with illegal moves that it may
    publish. `careful` is what its own care asks of it. `broken` lists what it did wrong.
    """

    side: int
    handshake: Handshake
    times: tuple[int, int]
    """Blocks within which the other side has to answer, and to move."""
    confirmations: int
    careful: CarefulSide
    accounts: dict[int, LedgerState]
    received: int
    sent: int
    slashable: int | None = None
    broken: list[str] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)
    """The rules that the other side broke before its messages were ignored."""

    wishes: Wishes | None = None
    """What the honest player asked for; None if nothing is promised about that."""

    over: bool = False
    _peak: int = 0
    _holder: int = 1
    _asked: dict[int, int] = field(default_factory=dict)
    _closing: int | None = None
    _wants_since: int | None = None
    """The height since which the honest side wants the potato."""
    _closed: bool = False
    _open: bool = False
    _early: list[Message] = field(default_factory=list)
    _last: tuple[bytes | None, bytes | None] = (None, None)
    """The last message from the other side, and its last batch."""
    _completed: bytes = b""
    """The message with the completed funding."""
    _since: int = 0
    _gone: bool = False
    _born: int | None = None
    _said: bytes = b""
    """The honest side's last message that changes a state."""
    _may_repeat: bool = False
    """True if it may not have arrived, because the connection was lost."""
    _owes_numbers: bool = False
    """True on a new connection, until the honest side sends its last numbers."""
    _connected: int = 0
    """The height of the first connection since the other side's last numbers were here."""
    _resuming: bool = False
    """True until the other side's last numbers are here."""
    _stops_with: str = ""
    """The news with which the honest side has to stop, because of the other's numbers."""

    # --- one event after the other ---

    def turn(self, turn: JournalEntry) -> None:
        """Judge an event and the effects that it had."""
        news = turn.news
        away = self._holder != self.side
        accusation = next((end.blame for end in news if isinstance(end, BrokenOff)), None)
        heard: frozenset[str] | None = LAWFUL
        match turn.event:
            case None:
                self._peak = self._since = turn.height
            case Block(peak):
                self._see(turn.event, peak)
                if any(isinstance(report, ChannelOpen) for report in news):
                    heard = self._begins()
                elif accusation is None:
                    self._waits()
            case Received(blob):
                heard = self._receives(blob)
            case Connected():
                self._connects()
            case CancelGames(group_id):
                self.careful.cancelled.add(group_id)
            case _:
                pass
        self.careful.adds_decks(turn.finished_decks())
        self.careful.free.difference_update(
            report.number for report in news if isinstance(report, DeckBurnt)
        )
        if accusation is not None:
            self._accuses(accusation, heard, turn)
            self.over = self._gone = True
        elif heard:
            self._fails(f"it accepted what breaks {', '.join(sorted(heard))}")
        names, due = {type(report).__name__ for report in news}, self._stops_with
        if (OldCopy.__name__ in names or due) and due not in names:
            self._fails(f"it compared the last numbers wrongly ({due or 'no old copy'})")
        if self.over:
            return
        for effect in turn.effects:
            if isinstance(effect, Send) and not self.over:
                self._sends(effect.message)
        if any(isinstance(report, ENDS) for report in news):
            self.over = self._gone = True
        if self.wishes is not None and self._open and not (self.over or self._closed):
            games, shuts_down = self._newest().games, self._closing is not None
            asked = self.side in self._asked
            self.wishes.follow(turn, self._peak, games, news, asked=asked, shuts_down=shuts_down)
            closes = self.wishes.closing and not games
            self._wants_potato(wants=closes or (away and isinstance(turn.event, WANTS_POTATO)))

    def _fails(self, how: str) -> None:
        """Note what the honest side did wrong, after which nothing more is judged."""
        self.broken.append(how)
        self.over = True

    def _wants_potato(self, *, wants: bool) -> None:
        """Note since when the honest side wants the potato, which it may not be able to ask for."""
        if self._holder == self.side:
            self._wants_since = None
        elif wants and self._wants_since is None:
            self._wants_since = self._peak

    def afterwards(self, turn: JournalEntry) -> None:
        """Check that nothing is sent after going on chain or closing."""
        if self._gone and any(isinstance(effect, Send) for effect in turn.effects):
            self.broken.append("it sends messages after it has gone on chain or closed the channel")
            self._gone = False

    def _see(self, block: Block, peak: int) -> None:
        self._peak = peak
        # A reorganisation can lower the height: then the wait starts from there.
        self._since, self._connected = min(self._since, peak), min(self._connected, peak)
        self._wants_since = None if self._wants_since is None else min(self._wants_since, peak)
        self._asked = {side: min(since, peak) for side, since in self._asked.items()}
        agreed = self.handshake.agreed
        if agreed is not None:
            born = [seen.born for seen in block.coins if seen.coin == agreed.coin]
            self._born = born[0] if born else None

    def _begins(self) -> frozenset[str] | None:
        """Begin to play: the rules that messages broke which were held until now.

        None if they may be refused or not.
        """
        self._open = True
        if self._born is None or self._peak - self._born < self.confirmations:
            self.broken.append("it began to play before the channel coin was deep")
        self._since = self._peak
        early, self._early = self._early, []
        for message in early:
            rules = self._breaks(self._apply(message, 1 - self.side))
            if rules:
                return rules
        return LAWFUL

    def _connects(self) -> None:
        """Lose what was on its way, and wait for the other side's last numbers."""
        self._may_repeat = True
        if not self._resuming:  # a new connection starts no time again
            self._connected = self._peak
        if self._early:
            self._early, self._last = [], (None, None)
        self._owes_numbers = self.handshake.signed
        self._resuming = self.handshake.signed and not self._closed

    # --- what comes in ---

    def _receives(self, blob: bytes) -> frozenset[str] | None:
        """The rules that the other side's bytes break; None if they may be refused or not."""
        if self._closed or blob in self._last:
            return LAWFUL  # repeats are ignored, and everything after the completed shutdown
        if len(blob) > MAX_MESSAGE:
            return self._breaks(frozenset({"CH-MSG-1"}))
        try:
            message = decode(blob)
        except Violation:
            return self._breaks(frozenset({"CH-MSG-2"}))
        if isinstance(message, Resume):
            return self._breaks(self._compares(message))
        if self._resuming and isinstance(message, SIGNED | UNSIGNED):
            return LAWFUL
        if not isinstance(message, DeckStep | DeckAbort):
            self._last = (blob, blob if isinstance(message, Batch) else self._last[1])
        if self._waiting() and isinstance(message, Batch | Request | Shutdown):
            return self._holds(message)
        if self._waiting() and isinstance(message, ASIDE):
            return LAWFUL
        if isinstance(message, Funded) and blob == self._completed:
            return LAWFUL  # it is repeated at state 1, and a request may have come in between
        rules = self._breaks(self._apply(message, 1 - self.side))
        if isinstance(message, Funded) and not rules:
            self._completed = blob
        return rules if rules or len(blob) <= FREE else None

    def _compares(self, message: Resume) -> frozenset[str]:
        """Compare the other side's last numbers with those that the honest side knows."""
        if not self.handshake.signed:
            awaits = self.handshake.awaits_funding and self.side == 1 and not message.received
            return LAWFUL if awaits else frozenset({"CH-MSG-3"})
        if not self._resuming:
            return LAWFUL
        received, sent = message.received, message.sent
        halves = (message.channel_half, message.unroll_half)
        rules = set()
        if received % 2 == self.side or abs(received - sent) != 1:
            rules.add("CH-RESUME-1")
        if self._agreed().unproved(received, message.conditions, self.side, halves):
            rules.add("CH-RESUME-2")
        self._resuming = False
        known = self.accounts.get(received) if received <= self.sent else None
        if not rules and (known is None or self._conditions(known) != message.conditions):
            self._stops_with = OldCopy.__name__
        elif not rules and sent < self.received:
            self._stops_with = LeftForChain.__name__  # CH-RESUME-3
        return frozenset(rules)

    def _conditions(self, state: LedgerState) -> bytes:
        return tree_hash(self._agreed().conditions(state))

    def _holds(self, message: Message) -> frozenset[str] | None:
        """Hold a message that comes a little before play.

        None for a second one of a kind, which may be refused or not.
        """
        second = any(isinstance(early, type(message)) for early in self._early)
        self._early.append(message)
        return None if second else LAWFUL

    def _breaks(self, rules: frozenset[str]) -> frozenset[str]:
        self.rules |= rules
        return rules

    def _waiting(self) -> bool:
        """True if the opening is over, perhaps but for its last message, and play has not begun.

        The funding may be on chain before that message arrives.
        """
        last = self.side == 0 and self.handshake.awaits_completion
        return (self.handshake.over or last) and not self._open

    def _accuses(self, accusation: Blame, heard: frozenset[str] | None, turn: JournalEntry) -> None:
        """Check an accusation, by the last message or by the time that the other side took."""
        rule = accusation.rule
        if rule.startswith("CH-TIME") and isinstance(turn.event, Block):
            if not (self._late(rule, 0) or self._lacks_numbers(rule)):
                self.broken.append(f"it gave up too early: {accusation}")
        elif rule == "CH-COINS-1":
            pass  # its own batch would have made a coin at a reward address
        elif heard is not None and not _names(rule, heard):
            why = f"what breaks {', '.join(sorted(heard))}" if heard else "what breaks no rule"
            self.broken.append(f"it accused {why}: {accusation}")

    # --- what goes out ---

    def _sends(self, blob: bytes) -> None:
        message = decode(blob)
        if isinstance(message, Resume):
            self._sends_numbers(message)
            return
        if self._may_repeat and blob == self._said:
            return
        if self._resuming and isinstance(message, SIGNED):
            self._fails("it signs before the other side's last numbers are here")
        if not isinstance(message, UNSIGNED):
            self._said, self._may_repeat = blob, False
        rules = self._apply(message, self.side)
        if rules:
            kind = type(message).__name__.lower()
            self._fails(f"it sent a {kind} that breaks {', '.join(sorted(rules))}")

    def _sends_numbers(self, message: Resume) -> None:
        """Check the last numbers of the honest side, and their proof."""
        due, self._owes_numbers = self._owes_numbers, False
        halves = (message.channel_half, message.unroll_half)
        right = (message.received, message.sent) == (self.received, self.sent)
        state = self.accounts[self.received]
        proved = message.conditions == self._conditions(state) and not self._agreed().unproved(
            message.received, message.conditions, 1 - self.side, halves
        )
        if not (due and right and proved):
            self._fails("its last numbers are wrong, or nothing asks for them")
        # A restart gives up decks: its numbers say which are left.
        self.careful.free.intersection_update(message.decks)

    # --- either ---

    def _apply(self, message: Message, sender: int) -> frozenset[str]:
        """Apply a message of either side, and return the rules that it breaks."""
        late = isinstance(message, Funded) and self._open
        if not self._open or (late and not self.handshake.over):
            rules = self.handshake.take(message, sender, self._peak)
            self._since = self._peak
            if isinstance(message, Funded) and not rules:
                self._resuming = False
            return rules
        if self._closing is not None:
            return self._ends(message, sender)
        match message:
            case Batch():
                return self._batch(message, sender)
            case Request():
                if self._holder != sender:
                    self._asked.setdefault(sender, self._peak)
                return LAWFUL
            case _ if isinstance(message, ASIDE):
                return LAWFUL
            case Shutdown():
                return self._shutdown(message, sender)
            case ShutdownDone():
                return frozenset({"CH-SHUT-4"})
            case _:
                return frozenset({"CH-MSG-3"})

    def _newest(self) -> LedgerState:
        return self.accounts[max(self.received, self.sent)]

    def _agreed(self) -> ChannelTerms:
        return self.handshake.terms()

    def _batch(self, batch: Batch, sender: int) -> frozenset[str]:
        before, other = self._newest(), 1 - sender
        verdict = judge(
            before,
            batch,
            sender,
            self._agreed(),
            self.careful.decks,
            holder=self._holder,
            asked=other in self._asked,
        )
        rules = verdict.rules
        if sender == self.side and verdict.after is not None and not rules:
            rules = self.careful.breaks(batch, before, verdict.after, self._agreed())
        if verdict.after is not None and (not rules or verdict.slashable):
            self.accounts[batch.number] = verdict.after
        if verdict.slashable:
            self.slashable = batch.number
        if not rules:
            self.sent, self.received = (
                (batch.number, self.received) if sender == self.side else (self.sent, batch.number)
            )
            self.careful.names_decks(batch)
            self._holder = other
            self._asked.pop(other, None)
            self._since = self._peak
        return rules

    def _shutdown(self, message: Shutdown, sender: int) -> frozenset[str]:
        state, rules = self._newest(), set()
        if self._holder != sender:
            rules.add("CH-SHUT-1")
        if state.games:
            rules.add("CH-SHUT-2")
        elif not self._agreed().is_shutdown_half(state, sender, message.half):
            rules.add("CH-SHUT-3")
        if not rules:
            self._closing = sender
            self._since = self._peak
        return frozenset(rules)

    def _ends(self, message: Message, sender: int) -> frozenset[str]:
        """Judge a message after a shutdown was requested: only its completion is allowed."""
        match message:
            case ShutdownDone(signature) if sender != self._closing and not self._closed:
                if not self._agreed().is_shutdown(self._newest(), signature):
                    return frozenset({"CH-SHUT-3"})
                self._closed = True
                return LAWFUL
            case _ if isinstance(message, Request | ASIDE) and (
                sender != self._closing and not self._closed
            ):
                return LAWFUL
            case _:
                return frozenset({"CH-SHUT-5"})

    # --- time ---

    def _late(self, rule: str, more: int) -> bool:
        """True if an answer is late by this rule, by more than `more` blocks."""
        answer, move = (time + more for time in self.times)
        waited = self._peak - self._since
        if rule == "CH-TIME-2":
            return self._open and self._owed() and self._holder != self.side and waited >= move
        # The last message of the opening, and the funding, have the deadline of the funding.
        if self._closed or (self.handshake.signed and not self._open):
            return False
        if not self._open or self._closing is not None:
            return waited >= answer
        if self._holder == self.side:
            return self._owed() and 1 - self.side not in self._asked and waited >= answer
        if not more and self._wants_since is not None and self._peak - self._wants_since >= answer:
            return True
        return self.side in self._asked and self._peak - self._asked[self.side] >= answer

    def _lacks_numbers(self, rule: str) -> bool:
        """True if the other side's last numbers are late."""
        waited = self._peak - self._connected
        return rule == "CH-TIME-1" and self._resuming and waited >= self.times[0]

    def _owed(self) -> bool:
        """True if the other side owes a move or a settlement."""
        return any(game.mover != self.side for game in self._newest().games.values())

    def _waits(self) -> None:
        """Check that neither side waits for ever."""
        begun = self.side == 0 or self.handshake.agreed is not None
        for rule in ("CH-TIME-1", "CH-TIME-2"):
            if begun and self._late(rule, PATIENCE):
                self._fails(f"it waits for what is due by {rule}, and {WAITS}")
                return
        asked = self._asked.get(1 - self.side)
        answers = self._holder == self.side and self._closing is None and not self._resuming
        if asked is not None and answers and self._peak - asked > self.times[0]:
            self._fails("it does not answer a request for the potato (CH-TIME-1)")
        owes = any(game.mover == self.side for game in self._newest().games.values())
        plays = self._open and self._closing is None and not (self._closed or self._resuming)
        gave_away = self._holder != self.side and self.side not in self._asked
        if plays and owes and gave_away and self._peak - self._since > self.times[0]:
            self._fails("it owes a move and does not ask for the potato back (CH-TIME-1)")


def _names(rule: str, heard: frozenset[str]) -> bool:
    """True if the accused rule was broken. Games have rules of their own under CH-MOVE-4."""
    if not rule.startswith("CH-"):
        return bool(heard & {"CH-MOVE-4", rule})
    return rule in heard


def _delays(run: Run) -> int:
    """Blocks that the weather may add to a time of the honest side."""
    reorgs = run.reorgs * (2 * run.scenario.confirmations + 2)
    return reorgs + (PATIENCE if run.scenario.weather == "cut-off" else 0)


def conversation(run: Run) -> Conversation:
    """Judge a run to its end."""
    scenario, side = run.scenario, run.scenario.honest
    contributions = (scenario.balance, scenario.balance)
    first, second = (end.peer.config.wallet.coin for end in run.parties)
    terms = OpeningTerms(
        contributions,
        scenario.unroll_timeout,
        (TIMES.response, TIMES.move),
        scenario.confirmations,
        scenario.spacing,
        run.chain.agg_sig_data(),
        (first, second),
        side,
    )
    talk = Conversation(
        side,
        Handshake(terms),
        (TIMES.response, TIMES.move),
        scenario.confirmations,
        CarefulSide(scenario.confirmations, scenario.spacing),
        {number: LedgerState(number, contributions) for number in (0, 1)},
        side,
        1 - side,
        wishes=None if scenario.old_copy else Wishes(side, TIMES, _delays(run)),
    )
    for turn in run.parties[side].journal:
        if talk.over:
            talk.afterwards(turn)
        else:
            talk.turn(turn)
    return talk
