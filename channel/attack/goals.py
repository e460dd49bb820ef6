"""The ledger of goals: what the sessions of a campaign should have been through, a row for each.

A row is an id, what completes "a session in which ...", and a test of a session. Add rows at the
end of `GOALS`; a campaign counts the sessions that reach each, and says which none reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from channelsim.channel.attack.actions import Action, hostile_side
from channelsim.channel.attack.kinds import KINDS, OF_A_SIDE, STATEMENT
from channelsim.channel.attack.old_copies import RECOVERY
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.situations import Killed, Noted, Restarted
from channelsim.channel.peer.chain_news import (
    ChannelSettled,
    Forfeited,
    GamePaid,
    GameVoid,
    LeftForChain,
    MovedOnChain,
    StateCounts,
    Undone,
    UnilateralClose,
    UnrollSeen,
)
from channelsim.channel.peer.interface import (
    BrokenOff,
    Connected,
    GameSettled,
    OldCopy,
    Push,
    Send,
)
from channelsim.channel.protocol.messages import Batch, Resume, Shutdown, ShutdownDone
from channelsim.channel.session.session_events import Handled, NewsFor, Sent
from channelsim.channel.simulation.run import read_message


@dataclass(frozen=True, slots=True)
class Goal:
    """A row of the ledger; `about` completes "a session in which ..."."""

    id: str
    about: str
    is_reached: Callable[[Session], bool]


# --- tests of a session -----------------------------------------------------------------------


def news(session: Session, *kinds: type) -> Iterator[tuple[Noted, Any]]:
    """The news of these kinds, with when and whose it was."""
    for noted in session.events:
        if isinstance(noted.what, NewsFor) and isinstance(noted.what.news, kinds):
            yield noted, noted.what.news


def has_news(*kinds: type) -> Callable[[Session], bool]:
    """Test for news of one of these kinds."""
    return lambda session: any(True for _ in news(session, *kinds))


def undone(*facts: type) -> Callable[[Session], bool]:
    """Test for a fact of one of these kinds that a reorganisation undid, and that came back."""

    def is_reached(session: Session) -> bool:
        """Look for the same kind of fact after it was undone."""
        lost: set[tuple[int, type]] = set()
        for noted in session.events:
            if not isinstance(noted.what, NewsFor):
                continue
            match noted.what.news:
                case Undone(fact) if isinstance(fact, facts):
                    lost.add((noted.side, type(fact)))
                case fact if (noted.side, type(fact)) in lost:
                    return True
                case _:
                    pass
        return False

    return is_reached


def kills(session: Session) -> Iterator[tuple[Noted, Killed]]:
    """The kills, with when and of which side."""
    for noted in session.events:
        if isinstance(noted.what, Killed):
            yield noted, noted.what


def killed_before(kind: type) -> Callable[[Session], bool]:
    """Test for a kill after an event was stored, and before such a message was sent."""

    def is_reached(session: Session) -> bool:
        """Look at what the kills left out."""
        return any(
            isinstance(effect, Send) and isinstance(read_message(effect.message), kind)
            for _, killed in kills(session)
            for effect in killed.lost
        )

    return is_reached


def _killed_before_a_push(session: Session) -> bool:
    return any(isinstance(effect, Push) for _, killed in kills(session) for effect in killed.lost)


def _in_a_dispute(session: Session, *, of: Callable[[object], bool]) -> bool:
    """True if something happened to a side that had gone on chain."""
    seen = set[int]()
    for noted in session.events:
        if isinstance(noted.what, NewsFor) and isinstance(noted.what.news, LEAVING):
            seen.add(noted.side)
        elif noted.side in seen and of(noted.what):
            return True
    return False


LEAVING = (LeftForChain, UnilateralClose, BrokenOff)
"""News with which a side is on chain."""


def _disk_failed(what: object) -> bool:
    return isinstance(what, Action) and KINDS[what.kind].counter == STATEMENT


def _killed_while_resuming(session: Session) -> bool:
    """A kill after a side used a new connection, and before it had the other's numbers."""
    waits = [False, False]
    for noted in session.events:
        match noted.what:
            case Handled(event=Connected()):
                waits[noted.side] = True
            case Killed() if waits[noted.side]:
                return True
            case Killed() | Restarted():
                waits[noted.side] = False
            case Sent(message=message) if isinstance(read_message(message), Resume):
                waits[1 - noted.side] = False
            case _:
                pass
    return False


def _died_in_restart(session: Session) -> bool:
    return session.died_in_restart


def _both_down(session: Session) -> bool:
    """Both processes were killed in one block."""
    return any(
        first.side != later.side and first.height == later.height
        for (first, _), (later, _) in pairwise(kills(session))
    )


def _faults_of_both(session: Session) -> bool:
    sides = {action.side for action in session.done if KINDS[action.kind].counter in OF_A_SIDE}
    return len(sides) > 1


def _stale_preempted(session: Session) -> bool:
    return any(counts.preempted for _, counts in news(session, StateCounts))


def _left_for(rule: str) -> Callable[[Session], bool]:
    """Test for a side that gave the other up by a rule on times."""
    return lambda session: any(rule in str(broken.blame) for _, broken in news(session, BrokenOff))


def _slashed(session: Session) -> bool:
    """An honest side was paid for an illegal move of the hostile one."""
    hostile = hostile_side(session.attack.actions)
    return any(
        noted.side != hostile and paid.slashed == "us" for noted, paid in news(session, GamePaid)
    )


def _published(session: Session) -> bool:
    return any(left.reason == RECOVERY for _, left in news(session, LeftForChain))


def _shutdown_overtaken(session: Session) -> bool:
    """A side asked for the shutdown, and the channel ended on chain."""
    return session.on_chain and any(
        isinstance(noted.what, Sent) and isinstance(read_message(noted.what.message), Shutdown)
        for noted in session.events
    )


def _shutdown_replaced(session: Session) -> bool:
    """The last blocks were replaced after the shutdown was complete, and both sides closed."""
    complete = False
    for noted in session.events:
        match noted.what:
            case Sent(message=message) if isinstance(read_message(message), ShutdownDone):
                complete = True
            case Action(kind="reorganise") if complete and not session.on_chain:
                return True
            case _:
                pass
    return False


def _moves(session: Session, *, least: int) -> bool:
    return len({fact.coin for _, fact in news(session, MovedOnChain)}) >= least


def _fold_on_chain(session: Session) -> bool:
    """A side folded in a game whose coin was paid out on chain."""
    folded = {(noted.side, ended.game_id) for noted, ended in news(session, GameSettled)}
    return any((noted.side, paid.game_id) in folded for noted, paid in news(session, GamePaid))


def _away_at_the_limit(session: Session) -> bool:
    """A side was away for as long as both wait, and they went on without a dispute."""
    return not session.on_chain and any(action.blocks >= 10 for action in session.done)


GOALS: tuple[Goal, ...] = (
    # How sessions end.
    Goal("opening failed", "no channel was funded", lambda session: not session.funded),
    Goal(
        "closed by both",
        "both sides completed the shutdown",
        lambda session: session.funded and not session.on_chain,
    ),
    Goal("settled on chain", "a dispute was settled", has_news(ChannelSettled)),
    Goal(
        "shutdown overtaken", "the shutdown was asked for, then came a dispute", _shutdown_overtaken
    ),
    # Going on chain.
    Goal("left for the chain", "a side left, though nobody broke a rule", has_news(LeftForChain)),
    Goal("gave up waiting", "a side missed an answer, by CH-TIME-1", _left_for("CH-TIME-1")),
    Goal("stale unroll preempted", "a newer state replaced the unroll's", _stale_preempted),
    Goal(
        "unroll timed out",
        "the published state was paid out",
        lambda session: any(not counts.preempted for _, counts in news(session, StateCounts)),
    ),
    Goal("fold on chain", "a fold came too late for the state paid out", _fold_on_chain),
    Goal("game void", "a game of a newer state was not in the one paid out", has_news(GameVoid)),
    Goal("game forfeited", "a game coin was left to the other side", has_news(Forfeited)),
    Goal("moved on chain", "a move was made on chain", has_news(MovedOnChain)),
    Goal("three moves on chain", "three were", lambda session: _moves(session, least=3)),
    Goal("game paid on chain", "a game coin was paid out", has_news(GamePaid)),
    # Reorganisations.
    Goal("unroll undone", "the unroll was undone, and came back", undone(UnrollSeen)),
    Goal("payout undone", "the state paid out was undone, and came back", undone(StateCounts)),
    Goal("move undone", "a move on chain was undone, and made again", undone(MovedOnChain)),
    Goal("game payment undone", "a game's was undone, and came back", undone(GamePaid)),
    Goal("shutdown replaced", "blocks were, once it was complete", _shutdown_replaced),
    # Kills.
    Goal("killed before a batch", "between signing and sending", killed_before(Batch)),
    Goal("killed before a resume", "before its numbers were sent", killed_before(Resume)),
    Goal(
        "killed before its half of the shutdown",
        "it was stored, not sent",
        killed_before(Shutdown),
    ),
    Goal(
        "killed before the shutdown's completion",
        "it was stored, not sent",
        killed_before(ShutdownDone),
    ),
    Goal("killed before a push", "a spend was stored, not offered", _killed_before_a_push),
    Goal("killed while resuming", "before the other's numbers were here", _killed_while_resuming),
    Goal("killed in its restart", "a process started twice within a block", _died_in_restart),
    Goal(
        "killed three times",
        "one process was",
        lambda session: max(session.lives) > 3,
    ),
    Goal("both killed in one block", "each side was", _both_down),
    Goal(
        "killed in a dispute",
        "a process was killed once it was on chain",
        lambda session: _in_a_dispute(session, of=lambda what: isinstance(what, Killed)),
    ),
    Goal(
        "disk failed in a dispute",
        "a write failed once a side was on chain",
        lambda session: _in_a_dispute(session, of=_disk_failed),
    ),
    Goal(
        "watched while it was down",
        "a watcher looked after a side",
        lambda session: session.attack.watched and max(session.lives) > 1,
    ),
    # Against a hostile side, and from old copies.
    Goal("illegal move slashed", "an honest side slashed one", _slashed),
    Goal("broken rule answered", "an honest side named it, and left", has_news(BrokenOff)),
    Goal("old copy shown", "a side learnt that its copy was old", has_news(OldCopy)),
    Goal("old copy published", "its newest state was, as nobody closed", _published),
    # Absence.
    Goal("away to the limit", "the sides waited for each other, and went on", _away_at_the_limit),
    Goal("faults of both sides", "something failed at either side", _faults_of_both),
)
"""The rows of the ledger."""


def reached(session: Session) -> list[str]:
    """The ids of the goals that a session reached."""
    return [goal.id for goal in GOALS if goal.is_reached(session)]
