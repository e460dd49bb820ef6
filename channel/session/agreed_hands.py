"""The hands that both sides agreed on: how many began, and why no more of them do.

All of it follows from the states of the channel, which both sides have and a restart restores.
A hand is begun when its game is accepted. Whoever is to propose a hand proposes it again if the
proposal was cancelled because its deck was lost, a few times.
"""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.play.play_state import PlayState, Refusal
from channelsim.channel.protocol.state import ChannelState, Side
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.games.amounts import counted

MOST_PROPOSALS = 4
"""The most proposals of one hand: the first, and three more with new decks."""

DECLINES = tuple(f"{name} declines" for name in NAMES)
"""The reasons with which players cancel a hand that they do not want, by side."""

GAVE_UP = "this side asked for the shutdown: no hand began in time, or `close` was run"


@dataclass(frozen=True, slots=True)
class BegunHands:
    """The hands that began up to a state.

    `number` is the number of the state, and `next_ids` are those of the state in which the newest
    hand began: ids above them were used for proposals of the next one.
    """

    number: int = -1
    hands: int = 0
    next_ids: tuple[int, int] = (0, 1)

    def proposals(self, state: ChannelState, side: Side) -> int:
        """Count the proposals of the next hand that this side has made up to this newer state.

        >>> BegunHands(7, 1, (2, 1)).proposals(ChannelState(9, (0, 0), next_ids=(2, 5)), Side(1))
        2
        """
        return (state.next_ids[side] - self.next_ids[side]) // 2


class HandCounter:
    """Counts the hands that began, and looks at each state of a history once."""

    def __init__(self) -> None:
        self._begun = BegunHands()

    def begun(self, history: StateHistory) -> BegunHands:
        """Count the hands up to the newest state.

        A game that is accepted is in the state after it, and ids of games are never used again. So
        a hand begins in each state with a game that the state before it does not have.
        """
        if history.state.number < self._begun.number:
            self._begun = BegunHands()  # of another history, as after a restart
        newer = []
        for link in history:
            if link.state.number <= self._begun.number:
                break
            newer.append(link)
        for link in reversed(newer):
            before = link.older.state.games if link.older is not None else ()
            known = {game.id for game in before}
            new = sum(game.id not in known for game in link.state.games)
            last = self._begun
            ids = link.state.next_ids if new else last.next_ids
            self._begun = BegunHands(link.state.number, last.hands + new, ids)
        return self._begun


@dataclass(frozen=True, slots=True)
class HandAccount:
    """Count of the hands played of those asked for, and the reason for the others.

    `reason` is empty if all were. `excused`: nothing failed, since a player declined a hand, or a
    balance did not cover the next stake.
    """

    asked: int
    played: int
    reason: str
    excused: bool

    @property
    def failed(self) -> bool:
        """True if hands remain that both could pay for and that neither side declined."""
        return bool(self.reason) and not self.excused

    def __str__(self) -> str:
        """One line: how many, and why."""
        if not self.reason:
            return f"{self.played} of {counted(self.asked, 'hand')} played"
        return f"{self.played} of {counted(self.asked, 'hand')} played: {self.reason}"


@dataclass(frozen=True, slots=True)
class EndOfHands:
    """A reason to play no more hands. `excused` as in `HandAccount`."""

    reason: str
    excused: bool


def end_of_hands(setup: Setup, play: PlayState, begun: BegunHands, us: Side) -> EndOfHands | None:
    """The reason for which the next hand is not to be proposed; None if it is.

    Of what the other side says, only the reason of its refusal matters here.
    """
    number = begun.hands
    if number >= setup.hands:
        return EndOfHands("all hands are played", True)
    if play.refusal is not None and not play.refusal.deck_lost:
        return _refused(play.refusal, number, us)
    for name, has, stake in zip(NAMES, play.state.balances, setup.stakes(number), strict=True):
        if has < stake and not play.state.games:
            left = counted(has, "mojo")
            return EndOfHands(f"the {name}'s balance of {left} no longer covers the stake", True)
    proposer = Side(number % 2)
    proposed = begun.proposals(play.state, proposer)
    if proposed >= MOST_PROPOSALS and not play.state.groups:
        lost = counted(proposed, "time")
        return EndOfHands(f"hand {number + 1} was proposed {lost}, and its deck was lost", False)
    return None


def decliner(play: PlayState) -> Side | None:
    """The side that does not want the next hand, if one of them said so."""
    refusal = play.refusal
    return refusal.by if refusal is not None and refusal.reason in DECLINES else None


def account_of(setup: Setup, state: PeerState, us: Side) -> HandAccount:
    """Account of the hands that this side was asked to play, once its channel has ended."""
    play = state.play
    if play is None:
        return HandAccount(setup.hands, 0, "the channel was not opened", False)
    begun = HandCounter().begun(play.history)
    played = min(begun.hands, setup.hands)
    if played == setup.hands:
        return HandAccount(setup.hands, played, "", True)
    if state.phase is Phase.FAILED:
        return HandAccount(setup.hands, played, "the channel was not funded", False)
    if state.dispute is not None and state.closed is None:
        return HandAccount(setup.hands, played, "the channel was closed on chain", False)
    end = end_of_hands(setup, play, begun, us)
    if end is None and play.closing:
        end = EndOfHands(GAVE_UP, False)
    if end is None:
        end = EndOfHands(f"the {NAMES[us.other]} asked for the shutdown", False)
    return HandAccount(setup.hands, played, end.reason, end.excused)


def _refused(refusal: Refusal, number: int, us: Side) -> EndOfHands:
    """The end after a proposal that was cancelled, and not for its deck."""
    who = NAMES[refusal.by]
    if refusal.by is refusal.proposer:
        return EndOfHands(f"the {who} withdrew hand {number + 1}: {refusal.reason}", False)
    declines = refusal.reason == DECLINES[refusal.by]
    if refusal.by is us and not declines:
        proposer = NAMES[refusal.proposer]
        why = f"the {proposer} did not propose hand {number + 1} as agreed: {refusal.reason}"
        return EndOfHands(why, False)
    said = "" if declines else f": {refusal.reason}"
    return EndOfHands(f"the {who} declined hand {number + 1}{said}", True)
