"""Judge every message of a run as the honest side saw it.

An honest side accepts what follows the rules, accuses what does not, and breaks none itself. It
neither gives up before a deadline nor waits for ever. Only the events and effects of its peer are
used, nothing of its state. Source: spec/channel.md, "Opening" and
"The potato".
"""

from __future__ import annotations

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import Blame, Violation
from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.chain_news import ChannelClosed, LeftForChain, Undone, UnilateralClose
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
from channelsim.channel.simulation.model.handshake import Handshake, OpeningTerms
from channelsim.channel.simulation.model.last_numbers import compares, connects, sends_numbers
from channelsim.channel.simulation.model.ledger import LedgerState
from channelsim.channel.simulation.model.talk import Conversation
from channelsim.channel.simulation.model.waits import (
    lacks_numbers,
    late,
    see,
    waits,
    wants_potato,
)
from channelsim.channel.simulation.model.wishes import Wishes
from channelsim.channel.simulation.run import JournalEntry, Run

TIMES = Times()
"""The times that both sides of a scenario agree on."""

SIGNED = Batch | Shutdown | ShutdownDone
"""Messages of play that a side signs."""

WANTS_POTATO = ProposeGames | AcceptGames | CancelGames | Act
"""Commands that take a batch."""

FREE = 1 << 16
"""Bytes that a message may always have; the limit of a longer one depends on the state."""

ENDS = LeftForChain | OwnFault | UnilateralClose | OldCopy | OpeningFailed | ChannelClosed
"""News after which the honest side ignores messages."""


def judge_turn(talk: Conversation, turn: JournalEntry) -> None:
    """Judge an event and the effects that it had."""
    news = turn.news
    away = talk.holder != talk.side
    accusation = next((end.blame for end in news if isinstance(end, BrokenOff)), None)
    heard: frozenset[str] | None = LAWFUL
    sent = [effect.message for effect in turn.effects if isinstance(effect, Send)]
    match turn.event:
        case None:
            talk.peak = talk.since = turn.height
        case Block(peak):
            see(talk, turn.event, peak)
            if any(isinstance(report, ChannelOpen) for report in news):
                heard = _begins(talk, sent)
            elif accusation is None:
                waits(talk)
        case Received(blob):
            heard = _receives(talk, blob)
        case Connected():
            connects(talk)
        case CancelGames(group_id):
            talk.careful.cancelled.add(group_id)
        case _:
            pass
    talk.careful.adds_decks(turn.finished_decks())
    talk.careful.free.difference_update(
        report.number for report in news if isinstance(report, DeckBurnt)
    )
    if accusation is not None:
        _accuses(talk, accusation, heard, turn)
        talk.over = talk.has_left = True
    elif heard:
        talk.fails(f"it accepted what breaks {', '.join(sorted(heard))}")
    names, due = {type(report).__name__ for report in news}, talk.stops_with
    if (OldCopy.__name__ in names or due) and due not in names:
        talk.fails(f"it compared the last numbers wrongly ({due or 'no old copy'})")
    if talk.over:
        return
    for blob in sent:
        if not talk.over:
            _sends(talk, blob)
    ends = {type(report) for report in news if isinstance(report, ENDS)}
    if ends:
        talk.over = talk.has_left = True
        talk.has_only_closed = ends == {ChannelClosed}
    if talk.wishes is not None and talk.is_open and not (talk.over or talk.closed):
        games, shuts_down = talk.newest().games, talk.closing is not None
        asked = talk.side in talk.asked
        talk.wishes.follow(turn, talk.peak, games, news, asked=asked, shuts_down=shuts_down)
        closes = talk.wishes.closing and not games
        wants_potato(talk, wants=closes or (away and isinstance(turn.event, WANTS_POTATO)))


def check_silence(talk: Conversation, turn: JournalEntry) -> None:
    """Check that nothing is sent after going on chain or closing, unless the close is undone."""
    ends = {type(report) for report in turn.news if isinstance(report, ENDS)}
    talk.has_only_closed = talk.has_only_closed and ends <= {ChannelClosed}
    if talk.has_only_closed:
        undone = any(
            isinstance(report, Undone) and isinstance(report.fact, ChannelClosed)
            for report in turn.news
        )
        talk.has_left = bool(ends) or (talk.has_left and not undone)
    if talk.has_left and any(isinstance(effect, Send) for effect in turn.effects):
        talk.broken.append("it sends messages after it has gone on chain or closed the channel")
        talk.has_left = False


def _begins(talk: Conversation, sent: list[bytes]) -> frozenset[str] | None:
    """Begin to play: the rules that messages broke which were held until now.

    None if they may be refused or not. Takes from `sent` the batches of the side that come before
    a held message.
    """
    talk.is_open = True
    if talk.born is None or talk.peak - talk.born < talk.confirmations:
        talk.broken.append("it began to play before the channel coin was deep")
    talk.since = talk.peak
    early, talk.early = talk.early, []
    for message in early:
        gives = talk.holder == talk.side and not isinstance(message, Request)
        if gives and sent and isinstance(decode(sent[0]), Batch):
            _sends(talk, sent.pop(0))
        rules = talk.breaks(_apply(talk, message, 1 - talk.side))
        if rules:
            return rules
        if talk.closing is not None:
            break  # it completes the shutdown at once, and ignores all that was held after it
    return LAWFUL


def _receives(talk: Conversation, blob: bytes) -> frozenset[str] | None:
    """The rules that the other side's bytes break; None if they may be refused or not."""
    if talk.closed or blob in talk.last_received:
        return LAWFUL  # repeats are ignored, and everything after the completed shutdown
    if len(blob) > MAX_MESSAGE:
        return talk.breaks(frozenset({"CH-MSG-1"}))
    try:
        message = decode(blob)
    except Violation:
        return talk.breaks(frozenset({"CH-MSG-2"}))
    if isinstance(message, Resume):
        return talk.breaks(compares(talk, message))
    if talk.resuming and isinstance(message, SIGNED | UNSIGNED):
        return LAWFUL
    if not isinstance(message, DeckStep | DeckAbort):
        talk.last_received = (blob, blob if isinstance(message, Batch) else talk.last_received[1])
    if talk.awaits_play() and isinstance(message, Batch | Request | Shutdown):
        return _holds(talk, message)
    if talk.awaits_play() and isinstance(message, ASIDE):
        return LAWFUL
    if isinstance(message, Funded) and blob == talk.completed_funding:
        # It is repeated at state 1, and a request may have come in between. In the shutdown, the
        # text does not say if a repeat of an earlier message is ignored.
        return LAWFUL if talk.closing is None else None
    in_chain = isinstance(message, Funded) and talk.is_open and not talk.handshake.over
    rules = talk.breaks(_apply(talk, message, 1 - talk.side))
    if isinstance(message, Funded) and not rules:
        talk.completed_funding = blob
    if in_chain and rules:
        return None  # the text does not say if a wrong bundle is refused once the right one is in
    return rules if rules or len(blob) <= FREE else None


def _holds(talk: Conversation, message: Message) -> frozenset[str] | None:
    """Hold a message that comes a little before play.

    None for a second one of a kind, which may be refused or not.
    """
    second = any(isinstance(early, type(message)) for early in talk.early)
    talk.early.append(message)
    return None if second else LAWFUL


def _accuses(
    talk: Conversation, accusation: Blame, heard: frozenset[str] | None, turn: JournalEntry
) -> None:
    """Check an accusation, by the last message or by the time that the other side took."""
    rule = accusation.rule
    if rule.startswith("CH-TIME") and isinstance(turn.event, Block):
        if not (late(talk, rule, 0) or lacks_numbers(talk, rule)):
            talk.broken.append(f"it gave up too early: {accusation}")
    elif rule == "CH-COINS-1":
        pass  # its own batch would have made a coin at a reward address
    elif heard is not None and not _names(rule, heard):
        why = f"what breaks {', '.join(sorted(heard))}" if heard else "what breaks no rule"
        talk.broken.append(f"it accused {why}: {accusation}")


def _sends(talk: Conversation, blob: bytes) -> None:
    message = decode(blob)
    if isinstance(message, Resume):
        sends_numbers(talk, message)
        return
    if talk.may_repeat and blob == talk.last_signed:
        return
    if talk.resuming and isinstance(message, SIGNED):
        talk.fails("it signs before the other side's last numbers are here")
    if not isinstance(message, UNSIGNED):
        talk.last_signed, talk.may_repeat = blob, False
    rules = _apply(talk, message, talk.side)
    if rules:
        kind = type(message).__name__.lower()
        talk.fails(f"it sent a {kind} that breaks {', '.join(sorted(rules))}")


def _apply(talk: Conversation, message: Message, sender: int) -> frozenset[str]:
    """Apply a message of either side, and return the rules that it breaks."""
    late = isinstance(message, Funded) and talk.is_open
    if not talk.is_open or (late and not talk.handshake.over):
        rules = talk.handshake.take(message, sender, talk.peak)
        talk.since = talk.peak
        if isinstance(message, Funded) and not (rules or late):
            talk.resuming, talk.resumed = False, talk.peak
        return rules
    if talk.closing is not None:
        return _ends(talk, message, sender)
    match message:
        case Batch():
            return _batch(talk, message, sender)
        case Request():
            if talk.holder != sender:
                talk.asked.setdefault(sender, talk.peak)
            return LAWFUL
        case _ if isinstance(message, ASIDE):
            return LAWFUL
        case Shutdown():
            return _shutdown(talk, message, sender)
        case ShutdownDone():
            return frozenset({"CH-SHUT-4"})
        case _:
            return frozenset({"CH-MSG-3"})


def _batch(talk: Conversation, batch: Batch, sender: int) -> frozenset[str]:
    before, other = talk.newest(), 1 - sender
    # The decks of the state before it are kept until the newest one has both signatures.
    signed = [talk.accounts[n] for n in (before.number - 1, before.number) if n in talk.accounts]
    verdict = judge(
        before,
        batch,
        sender,
        talk.agreed(),
        talk.careful.kept_decks(signed),
        holder=talk.holder,
        asked=other in talk.asked,
    )
    rules = verdict.rules
    if sender == talk.side and verdict.after is not None and not rules:
        rules = talk.careful.breaks(batch, before, verdict.after, talk.agreed())
    if verdict.after is not None and (not rules or verdict.slashable):
        talk.accounts[batch.number] = verdict.after
    if verdict.slashable:
        talk.slashable = batch.number
    if not rules:
        talk.sent, talk.received = (
            (batch.number, talk.received) if sender == talk.side else (talk.sent, batch.number)
        )
        talk.careful.names_decks(batch)
        talk.holder = other
        talk.asked.pop(other, None)
        talk.since = talk.peak
    return rules


def _shutdown(talk: Conversation, message: Shutdown, sender: int) -> frozenset[str]:
    state, rules = talk.newest(), set()
    if talk.holder != sender:
        rules.add("CH-SHUT-1")
    if state.games:
        rules.add("CH-SHUT-2")
    elif not talk.agreed().is_shutdown_half(state, sender, message.half):
        rules.add("CH-SHUT-3")
    if not rules:
        talk.closing = sender
        talk.since = talk.peak
    return frozenset(rules)


def _ends(talk: Conversation, message: Message, sender: int) -> frozenset[str]:
    """Judge a message after a shutdown was requested: only its completion is allowed."""
    match message:
        case ShutdownDone(signature) if sender != talk.closing and not talk.closed:
            if not talk.agreed().is_shutdown(talk.newest(), signature):
                return frozenset({"CH-SHUT-3"})
            talk.closed = True
            return LAWFUL
        case _ if isinstance(message, Request | ASIDE) and (
            sender != talk.closing and not talk.closed
        ):
            return LAWFUL
        case _:
            return frozenset({"CH-SHUT-5"})


def _names(rule: str, heard: frozenset[str]) -> bool:
    """True if the accused rule was broken. Games have rules of their own under CH-MOVE-4."""
    if not rule.startswith("CH-"):
        return bool(heard & {"CH-MOVE-4", rule})
    return rule in heard


def _delays(run: Run) -> int:
    """Blocks that reorganisations may add to a time of the honest side."""
    return run.reorgs * (2 * run.scenario.confirmations + 2)


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
        wishes=None if run.restores else Wishes(side, TIMES, _delays(run)),
    )
    for turn in run.parties[side].journal:
        if talk.over:
            check_silence(talk, turn)
        else:
            judge_turn(talk, turn)
    return talk
