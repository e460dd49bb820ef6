"""The duties of a side in play, and of one that leaves: right events, and each mistake."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.attack.play_duties import IDLE, MOST_IDLE, PlayDuties, unfit_reveals
from channelsim.channel.attack.spends_due import needless_funding, wrong_spends
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Close,
    Command,
    Connected,
    Ignored,
    Moved,
    NotProposed,
    ProposeGames,
    Push,
    Received,
    SawCards,
    Send,
    Tell,
)
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.protocol.messages import (
    Accept,
    Advisory,
    Batch,
    BatchAction,
    Funded,
    Message,
    Move,
    NamedDeck,
    Offer,
    Propose,
    Request,
    Resume,
    encode,
)
from channelsim.channel.protocol.state import Side
from channelsim.games.contract import Action, Choice, Forced, Plain

ACT = Act(4, Action("check"))

WISH = ProposeGames(())

HALF = bytes(96)

KEPT = 10_000
"""More bytes than are kept of a state."""


class History(list[Any]):
    """The newest states, of which most looks take the first one alone."""

    older: Any = None


def game(mover: Side, game_id: int = 4) -> Any:
    return SimpleNamespace(id=game_id, mover=mover)


def state(
    number: int,
    *queue: Command,
    potato: bool = True,
    closing: bool = False,
    games: tuple[Any, ...] = (),
    groups: tuple[int, ...] = (),
    resuming: bool = False,
) -> Any:
    """The state of the initiator; it holds even states, and so received the even one."""
    live = {game.id: game for game in games}
    open_groups = [
        SimpleNamespace(
            id=number,
            proposer=Side.RECEIVER,
            offers=(SimpleNamespace(game_id=number, deck=None),),
        )
        for number in groups
    ]
    next_id = max(groups, default=-2) + 2
    newest = number if number % 2 == 0 else number - 1
    state_of_channel = SimpleNamespace(
        number=number,
        games=games,
        groups=open_groups,
        group={group.id: group for group in open_groups}.get,
        game=live.get,
        next_ids=(next_id, next_id),
    )
    play = SimpleNamespace(
        state=state_of_channel,
        newest=SimpleNamespace(state=SimpleNamespace(number=newest)),
        history=History([SimpleNamespace(state=state_of_channel)]),
        stored_bytes=KEPT * number,
        players={},
        potato=potato,
        closing=closing,
        queue=queue,
        we_asked=False,
    )
    return SimpleNamespace(
        phase=Phase.PLAYING,
        play=play,
        resuming=resuming,
        dispute=None,
        early=(),
        last_sent=b"",
        last_received=b"",
        last_batch=b"",
    )


def batch(number: int, *actions: BatchAction) -> Batch:
    return Batch(number, actions, HALF, HALF)


def moved(game_id: int = 4) -> Move:
    return Move(game_id, b"", 0, 0, b"")


def found(event: Any, before: Any, after: Any, *sent: Message, **known: Any) -> list[str]:
    duties = PlayDuties(Side.INITIATOR, **known)
    effects = [Send(encode(message)) for message in sent]
    after.play.we_asked = Request() in sent
    after.last_sent = next((encode(message) for message in sent if isinstance(message, Batch)), b"")
    return [*duties.follow(event, before, after, effects)]


OURS, THEIRS = (game(Side.INITIATOR),), (game(Side.RECEIVER),)

BOTH = (*THEIRS, game(Side.INITIATOR, 6))

ASKED = Received(encode(Request()))


@pytest.mark.parametrize(
    ("event", "before", "after", "sent", "known", "text"),
    [
        # A request.
        (WISH, state(3, potato=False), state(3, WISH, potato=False), (Request(),), {}, ""),
        (WISH, state(3, potato=False), state(3, WISH, potato=False), (), {"asked": True}, ""),
        (WISH, state(3, potato=False), state(3, WISH, potato=False), (), {}, "does not ask"),
        (
            *(WISH, state(3, WISH, potato=False), state(3, WISH, WISH, potato=False)),
            *((Request(),), {"asked": True}, "asks for the potato again"),
        ),
        # The other side owes a move while we close the channel: it is left its time.
        (
            *(Block(9), state(3, potato=False, closing=True, games=BOTH)),
            *(state(3, potato=False, closing=True, games=BOTH), (Request(),)),
            *({}, "while it closes"),
        ),
        (
            *(Block(9), state(3, potato=False, closing=True, games=BOTH)),
            *(state(3, potato=False, closing=True, games=BOTH), (Request(),)),
            *({"gave_away": True}, ""),
        ),
        # The potato is for something.
        (Block(9), state(3, potato=False), state(3, potato=False), (Request(),), {}, "for nothing"),
        (Close(), state(3, potato=False), state(3, potato=False, closing=True), (), {}, "not ask"),
        (
            *(Close(), state(3, potato=False), state(3, potato=False, closing=True)),
            *((Request(),), {}, ""),
        ),
        # What is asked for is given, and at once unless nothing has moved for long.
        (ASKED, state(2), state(3, potato=False), (batch(3),), {}, ""),
        (ASKED, state(2), state(2), (), {}, "keeps the potato"),
        (ASKED, state(2), state(2), (), {"idle": IDLE}, ""),
        (ASKED, state(2), state(3, potato=False), (batch(3),), {"idle_now": MOST_IDLE}, "without"),
        (ASKED, state(2), state(3, potato=False), (batch(3),), {"idle": IDLE + 2}, "at once"),
        (ASKED, state(2, ACT), state(3, potato=False), (batch(3),), {"idle": IDLE + 2}, ""),
        (Block(9), state(2), state(3, potato=False), (batch(3),), {"idle": IDLE + 2}, ""),
        # A decision goes out, unless another one is to come.
        (
            ACT,
            state(2, games=OURS),
            state(3, potato=False, games=THEIRS),
            (batch(3, moved()),),
            {},
            "",
        ),
        (ACT, state(2, games=OURS), state(2, ACT, games=OURS), (), {}, "keeps what"),
        (
            *(ACT, state(2, games=(*OURS, game(Side.INITIATOR, 6)))),
            *(state(2, ACT, games=(*OURS, game(Side.INITIATOR, 6))), (), {}, ""),
        ),
        (
            ACT,
            state(2, games=OURS, groups=(5,)),
            state(2, ACT, games=OURS, groups=(5,)),
            (),
            {},
            "",
        ),
        (
            *(Block(9), state(2, ACT, games=OURS, groups=(5,))),
            *(state(2, ACT, games=OURS, groups=(5,)), (), {}, "keeps what"),
        ),
        # Nothing of it is lost.
        (
            ACT,
            state(2, games=OURS),
            state(3, potato=False, games=OURS),
            (batch(3),),
            {},
            "drops the d",
        ),
        (
            *(AcceptGames(5), state(2, groups=(5,)), state(3, potato=False, groups=(5,))),
            *((batch(3),), {}, "drops the answer"),
        ),
        (
            *(CancelGames(5, ""), state(2, groups=(5,)), state(3, potato=False, groups=(5,))),
            *((batch(3),), {}, "drops the answer"),
        ),
        (
            *(Received(encode(batch(4))), state(3, WISH, potato=False), state(4)),
            *((), {"asked": True}, "drops a proposal"),
        ),
        # A side that closes the channel does not keep the potato that the other one needs.
        (
            *(Block(9), state(2, closing=True, games=THEIRS)),
            *(state(2, closing=True, games=THEIRS), (), {}, "keeps the potato while it closes"),
        ),
        (
            *(Block(9), state(2, closing=True, games=BOTH)),
            *(state(2, closing=True, games=BOTH), (), {}, ""),
        ),
        # The shutdown comes first.
        (Close(), state(2), state(2, closing=True), (), {}, "does not send the shutdown"),
        (
            *(ASKED, state(2, closing=True), state(3, potato=False, closing=True)),
            *((batch(3), Request()), {}, "before the shutdown"),
        ),
        (
            *(ASKED, state(2, closing=True, games=OURS, groups=(5,))),
            *(state(3, potato=False, closing=True, games=OURS), (batch(3, Accept(5)),)),
            *({}, "begins a game"),
        ),
    ],
)
def test_a_side_does_its_duty_in_play_or_is_seen(
    event: Any, before: Any, after: Any, sent: tuple[Message, ...], known: Any, text: str
) -> None:
    how = found(event, before, after, *sent, **known)
    assert len(how) == bool(text)
    assert all(text in one for one in how)


@pytest.mark.parametrize(
    ("choices", "sent", "text"),
    [
        ((Forced("deal"),), (), "owes a move of one kind in game 4"),
        ((Forced("deal"),), (Request(),), ""),
        ((Plain("call"), Plain("fold")), (), ""),
    ],
)
def test_a_move_without_a_choice_is_made_as_soon_as_it_can_be(
    choices: tuple[Choice, ...], sent: tuple[Message, ...], text: str
) -> None:
    before, after = state(2, games=OURS), state(3, potato=False, games=OURS)
    after.play.players = {4: SimpleNamespace(choices=lambda: choices)}
    how = found(ASKED, before, after, batch(3), *sent)
    assert len(how) == bool(text)
    assert all(text in one for one in how)


@pytest.mark.parametrize(("potato", "is_right"), [(True, False), (False, True)])
def test_a_request_that_came_before_play_is_answered(potato: bool, is_right: bool) -> None:
    before, after = state(2, potato=potato), state(2 + (not potato), potato=potato)
    before.phase, before.early = Phase.FUNDING, ((HALF, Request()),)
    before.play.potato = True
    sent = () if potato else (batch(3),)
    assert (found(Block(9), before, after, *sent) == []) is is_right


def test_a_proposal_of_which_its_player_hears_is_not_lost() -> None:
    before, after = state(3, WISH, potato=False), state(4)
    event, told = Received(encode(batch(4))), Tell(NotProposed((), "no deck is ready"))
    assert [*PlayDuties(Side.INITIATOR).follow(event, before, after, [told])] == []


def test_a_new_connection_needs_a_request_again_unless_the_answer_is_on_its_way() -> None:
    waits = state(3, WISH, potato=False)
    for sent, text in ((4, ""), (2, "does not ask")):
        duties = PlayDuties(Side.INITIATOR, asked=True)
        resuming = state(3, WISH, potato=False, resuming=True)
        assert [*duties.follow(Connected(), waits, resuming, [])] == []
        numbers = Received(encode(Resume(3, sent, bytes(32), HALF, HALF, (), 0)))
        how = [*duties.follow(numbers, resuming, waits, [])]
        assert len(how) == bool(text)
        assert all(text in one for one in how)


@pytest.mark.parametrize("is_shown", [True, False])
def test_an_early_reveal_is_made_again_on_a_new_connection(is_shown: bool) -> None:
    ours = SimpleNamespace(id=4, mover=Side.INITIATOR, coin="after the move")
    before, after = state(4, resuming=True), state(4, games=(ours,))
    after.play.players = {4: SimpleNamespace(advisory=lambda: b"seen")}
    earlier = SimpleNamespace(game={4: SimpleNamespace(coin="before it")}.get)
    after.play.history.older = SimpleNamespace(state=earlier)
    numbers = Received(encode(Resume(3, 4, bytes(32), HALF, HALF, (), 0)))
    sent = [Advisory(4, b"seen")] if is_shown else []
    assert found(numbers, before, after, *sent) == (
        [] if is_shown else ["shows nothing early in game 4"]
    )


@pytest.mark.parametrize(
    ("made", "begins", "is_right"),
    [
        (b"seen and bet", "here", True),
        (b"else", "here", False),
        # A move before it, which an older state on chain shows again.
        (b"else", "earlier", True),
    ],
)
def test_an_early_reveal_is_what_the_next_move_begins_with(
    made: bytes, begins: str, is_right: bool
) -> None:
    player: Any = SimpleNamespace(position="here")
    after: Any = SimpleNamespace(move=made)
    live = SimpleNamespace(id=4, position=after, before=SimpleNamespace(position=begins))
    live.mover = Side.RECEIVER
    duties, before, now = PlayDuties(Side.INITIATOR), state(4), state(4, games=(live,))
    shown = [Tell(SawCards(4, player))]
    assert [*duties.follow(Received(encode(Advisory(4, b"seen"))), before, before, shown)] == []
    how = [*duties.follow(Block(9), now, now, [Tell(Moved(4, after, player, 1, ()))])]
    assert ("has shown its player what is not so in game 4" in how) is not is_right


def test_an_early_reveal_that_does_not_fit_is_no_honest_one() -> None:
    reasons = [f"an early reveal in game 4: {why}" for why in ("it is known already", "too early")]
    effects = [Tell(Ignored(reason)) for reason in (*reasons, "a repeat")]
    assert [*unfit_reveals(effects)] == reasons[1:]


def test_what_the_other_side_lacks_is_repeated() -> None:
    before, after = (state(3, potato=False, resuming=is_new) for is_new in (True, False))
    lacks = Received(encode(Resume(1, 2, bytes(32), HALF, HALF, (), 0)))
    assert found(lacks, before, after) == ["does not repeat batch 3, which the other side lacks"]
    assert found(lacks, before, after, batch(3)) == []
    has = Received(encode(Resume(3, 2, bytes(32), HALF, HALF, (), 0)))
    assert found(has, before, after) == []
    before, after = (state(1, resuming=is_new) for is_new in (True, False))
    for funding in (before, after):
        funding.phase = Phase.FUNDING
    numbers = Received(encode(Resume(0, 1, bytes(32), HALF, HALF, (), 0)))
    assert found(numbers, before, after) == ["does not repeat the completed funding"]
    funded = Funded(Bundle((), HALF))
    assert found(numbers, before, after, funded) == []
    after.phase = Phase.OUTDATED
    assert found(numbers, before, after) == []


def test_no_side_asks_for_the_potato_that_it_has() -> None:
    now = state(4, games=OURS)
    assert found(Block(9), now, now, Request()) == ["asks for the potato, which it has"]


@pytest.mark.parametrize(("second", "is_right"), [(2, True), (1, False)])
def test_no_deck_is_named_twice_in_a_batch(second: int, is_right: bool) -> None:
    named = [
        Propose((Offer(0, "razz", {}, 99, True, 2, (1, 1), HALF[:32], 1, 0, deck),))
        for deck in (NamedDeck(1, bytes(32)), NamedDeck(second, bytes(32)))
    ]
    before, after = state(2, WISH), state(3, potato=False)
    how = found(ASKED, before, after, batch(3, *named))
    assert ("names deck 1 for two games of a batch" in how) is not is_right


@pytest.mark.parametrize("is_resuming", [True, False])
def test_a_request_before_the_last_numbers_does_not_count(is_resuming: bool) -> None:
    duties, before = PlayDuties(Side.INITIATOR), state(4, resuming=is_resuming)
    assert [*duties.follow(Received(encode(Request())), before, before, [])] == (
        [] if is_resuming else ["keeps the potato from the other side, which has asked for it"]
    )
    numbers = Received(encode(Resume(4, 3, bytes(32), HALF, HALF, (), 0)))
    assert bool([*duties.follow(numbers, before, state(4), [])]) is not is_resuming


@pytest.mark.parametrize(
    ("asked", "knows", "newest", "is_right"),
    [(True, True, 3, True), (True, False, 3, False), (True, False, 4, True)],
)
def test_a_side_knows_that_it_has_asked_until_the_potato_comes(
    asked: bool, knows: bool, newest: int, is_right: bool
) -> None:
    before, after = state(3, WISH, potato=False), state(newest, WISH, potato=newest == 4)
    before.play.we_asked, after.play.we_asked = asked, knows
    duties = PlayDuties(Side.INITIATOR, asked=True)
    how = [*duties.follow(Block(9), before, after, [])]
    assert ("asks for the potato, and does not know it" in how) is not is_right


@pytest.mark.parametrize(("used", "left", "is_right"), [(4, 6, True), (4, 4, False), (2, 6, False)])
def test_no_id_of_a_game_is_used_again(used: int, left: int, is_right: bool) -> None:
    before, after = state(2), state(3, potato=False, groups=(used,))
    before.play.state.next_ids, after.play.state.next_ids = (0, 4), (0, left)
    how = [*PlayDuties(Side.INITIATOR).follow(Block(9), before, after, [])]
    assert (how == []) is is_right


# --- on chain ------------------------------------------------------------------------------------


def preempting(published: int, newest: int) -> list[str]:
    """The mistakes of an initiator that preempts this state with its newest one."""
    channel = SimpleNamespace(coin=None)
    lineage = SimpleNamespace(published=SimpleNamespace(number=published))
    dispute = SimpleNamespace(
        endpoint=SimpleNamespace(channel=channel, side=Side.INITIATOR),
        newest=SimpleNamespace(state=SimpleNamespace(number=newest)),
        lineage=lineage,
    )
    after: Any = SimpleNamespace(dispute=dispute, shown=None, phase=Phase.ON_CHAIN, play=None)
    push: Any = Push("preempt", SimpleNamespace(spends=()))  # type: ignore[arg-type]
    return [*wrong_spends(after, [push])]


@pytest.mark.parametrize(
    ("published", "newest", "is_right"), [(7, 10, True), (8, 10, False), (11, 10, False)]
)
def test_only_a_stale_state_of_the_other_side_is_preempted(
    published: int, newest: int, is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channelsim.channel.attack.spends_due.unroll_coin", lambda *given: None)
    assert (preempting(published, newest) == []) is is_right


@pytest.mark.parametrize("was_deep", [True, False])
def test_a_side_that_has_left_funds_only_a_channel_that_was_deep(was_deep: bool) -> None:
    after: Any = SimpleNamespace(dispute=SimpleNamespace(), was_deep=was_deep)
    push: Any = Push("funding", SimpleNamespace(spends=()))  # type: ignore[arg-type]
    assert ([*needless_funding(after, [push])] == []) is was_deep


@pytest.mark.parametrize(
    ("sent", "is_right"), [("the same", True), ("another", False), ("", False)]
)
def test_a_player_is_not_asked_again_for_what_was_sent(
    sent: str, is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game waits in the state that counts; in the next state it moved, or was settled."""
    monkeypatch.setattr("channelsim.channel.attack.spends_due.unroll_coin", lambda *given: None)
    counts = SimpleNamespace(coin="the same")
    after_it = {4: SimpleNamespace(coin=sent)} if sent else {}
    dispute = SimpleNamespace(
        endpoint=SimpleNamespace(channel=SimpleNamespace(coin=None), side=Side.INITIATOR),
        newest=SimpleNamespace(state=SimpleNamespace(number=6, game={4: counts}.get)),
        undecided={4: SimpleNamespace(game=counts)},
    )
    play = SimpleNamespace(state=SimpleNamespace(number=7, game=after_it.get))
    after: Any = SimpleNamespace(dispute=dispute, shown=None, phase=Phase.CLOSED, play=play)
    assert ([*wrong_spends(after, [])] == []) is is_right


def test_batches_that_were_held_before_play_count_as_idle() -> None:
    duties, opening = PlayDuties(Side.INITIATOR), state(1, potato=False)
    opening.phase = Phase.FUNDING
    assert not [*duties.follow(Block(9), opening, state(IDLE + 1), [])]
    assert not [*duties.follow(ASKED, state(IDLE + 1), state(IDLE + 1), [])]


@pytest.mark.parametrize(
    ("game_id", "deck", "found"), [(5, 1, True), (5, None, False), (7, 1, False)]
)
def test_no_cards_are_opened_in_the_batch_that_accepts_their_game(
    game_id: int, deck: int | None, found: bool
) -> None:
    duties, before = PlayDuties(Side.INITIATOR), state(2, groups=(5,))
    group = SimpleNamespace(offers=(SimpleNamespace(game_id=5, deck=deck),))
    before.play.state.group = lambda number: group if number == 5 else None
    sent = Send(encode(batch(3, Accept(5), moved(game_id))))
    wrong = [*duties.follow(AcceptGames(5), before, state(3, potato=False), [sent])]
    assert any("opens cards of game 5" in how for how in wrong) is found


@pytest.mark.parametrize(("counted", "is_right"), [(0, False), (900, False), (1100, True)])
@pytest.mark.parametrize("is_ours", [False, True])
def test_the_bytes_of_each_batch_count(is_ours: bool, counted: int, is_right: bool) -> None:
    number = 5 if is_ours else 4
    before, after = state(number - 1, potato=is_ours), state(number, potato=not is_ours)
    after.play.stored_bytes = before.play.stored_bytes + counted
    message = batch(number)
    event = Block(9) if is_ours else Received(encode(message))
    wrong = found(event, before, after, *((message,) if is_ours else ()))
    assert any("counts" in how for how in wrong) is not is_right
