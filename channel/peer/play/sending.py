"""Making a batch: what the player wants, in the order that the protocol has.

Source: the state channel, "The potato". Our own batch goes through the same `apply` as the
other side's, so that we never send what it would have to refuse.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from channel.errors import UsageError
from channel.peer import interface
from channel.peer.interface import (
    Acted,
    Cancelled,
    Effect,
    GameSettled,
    GameStarted,
    Send,
    Store,
    Tell,
    YourTurn,
)
from channel.peer.play.book import Book, Out, Table
from channel.protocol.half_signed import sign_halves
from channel.protocol.messages import (
    Accept,
    Batch,
    BatchAction,
    Cancel,
    Move,
    Offer,
    Propose,
    Settle,
    as_text,
    encode,
    unsendable,
)
from channel.protocol.proposals import Unfit, Wish, offer_of, why_not
from channel.protocol.state import Before, ChannelState, Group, LiveGame
from channel.protocol.transitions import MAX_LIVE_GAMES, MAX_OPEN_PROPOSALS, Settled, apply
from games import registry
from games.contract import Action, Choice, Play, Player, Position
from games.errors import IllegalAction
from games.judge import commitment, own_move, position_after


@dataclass(frozen=True, slots=True)
class Own:
    """What we do in one game: the wire's action, and where it leads (nowhere, if we settle)."""

    action: Action
    wire: Settle | Move
    before: Position
    after: LiveGame
    player: Player


def check_command(table: Table, book: Book, command: interface.Command) -> None:
    """Refuse, by `UsageError`, what could never be carried out; nothing is changed."""
    match command:
        case interface.Act(game_id, action):
            game, player = book.state.game(game_id), book.player(game_id)
            if game is None or player is None:
                raise UsageError(f"no game {game_id} is being played")
            try:
                own_action(table, game, player, action)
            except IllegalAction as error:
                raise UsageError(f"game {game_id}: {error}") from None
        case interface.Accept(group_id) | interface.Cancel(group_id):
            group = book.state.group(group_id)
            if group is None:
                raise UsageError(f"no proposal {group_id} is open")
            if isinstance(command, interface.Accept) and group.proposer is table.side:
                raise UsageError(f"proposal {group_id} is our own: the other side may accept it")
            if group_id in _answered(book):
                raise UsageError(f"proposal {group_id} is answered already")
        case interface.Propose(wishes):
            _check_wishes(table, book, wishes)
        case interface.Close():
            pass


def undecided(table: Table, book: Book) -> list[int]:
    """The games in which the player has to decide before we can send a batch."""
    answered = {command.game_id for command in book.queue if isinstance(command, interface.Act)}
    return [
        game.id
        for game in book.state.games
        if game.mover is table.side and game.id not in answered and _forced(book, game) is None
    ]


def unanswered(table: Table, book: Book) -> list[int]:
    """The other side's proposals that the player has not answered."""
    answered = _answered(book)
    return [
        group.id
        for group in book.state.groups
        if group.proposer is not table.side and group.id not in answered
    ]


def _answered(book: Book) -> set[int]:
    return {
        command.group_id
        for command in book.queue
        if isinstance(command, interface.Accept | interface.Cancel)
    }


def _check_wishes(table: Table, book: Book, wishes: tuple[Wish, ...]) -> None:
    if not wishes:
        raise UsageError("cannot propose: no game is named")
    queued = [len(one.wishes) for one in book.queue if isinstance(one, interface.Propose)]
    try:
        offers = _offers(table, book.state, wishes)
    except Unfit as unfit:
        raise UsageError(f"cannot propose: {unfit}") from None
    refused = why_not(table.channel, Group(table.side, offers), table.confirmations)
    reason = refused or next(filter(None, map(unsendable, offers)), None)
    if reason is not None:
        raise UsageError(f"cannot propose: {reason}")
    if _open_offers(book.state) + sum(queued) + len(offers) > MAX_OPEN_PROPOSALS:
        raise UsageError(f"cannot propose: at most {MAX_OPEN_PROPOSALS} proposals are open")


def _open_offers(state: ChannelState) -> int:
    return sum(len(group.offers) for group in state.groups)


def has_something_to_send(table: Table, book: Book) -> bool:
    """Whether a batch would carry anything."""
    return bool(book.queue) or any(
        game.mover is table.side and _forced(book, game) is not None for game in book.state.games
    )


def send_batch(table: Table, book: Book) -> Out:
    """The book after our batch of all that is queued and forced (it may be empty)."""
    state = book.state
    acts = _acts(table, book)
    settles = [own for own in acts if isinstance(own.wire, Settle)]
    cancels, accepts = _answers(table, book, settles)
    proposes, crowded = _proposes(table, book)
    moves = [own for own in acts if isinstance(own.wire, Move)]
    groups = [book.state.group(accept.group_id) for accept in accepts]
    started = [new for group in groups if group for new in table.started(group)]
    moves += _first_moves(table, started)
    results = {own.after.id: own.after for own in moves}
    actions: list[BatchAction] = [
        *(own.wire for own in settles),
        *cancels,
        *accepts,
        *(own.wire for own in moves),
        *proposes,
    ]
    new_state, settled = apply(
        table.channel, state, table.side, actions, lambda game, _: results[game.id]
    )
    halves = sign_halves(table.channel, table.secret_keys, new_state)
    message = encode(Batch(new_state.number, tuple(actions), *halves))
    past = book.past.with_state(new_state, None)
    after = replace(book, state=new_state, past=past, queue=(), potato=False, owed=False)
    for new in started:
        after = after.with_player(new.game.id, new.player)
    for own in moves:
        after = after.with_player(own.after.id, own.player)
    effects: list[Effect] = [
        table.keep(new_state),
        *table.keep_proposals(state, new_state),
        # The message itself, until the next one, to be repeated after a lost connection.
        Store("last-sent", message),
        Send(message),
    ]
    effects += _news(table, state, started, [*settles, *moves], settled, cancels)
    effects += crowded
    return after.only_live(), effects


def your_turns(table: Table, book: Book) -> list[Effect]:
    """Ask the player, in every game that waits for a decision."""
    return [Tell(YourTurn(game_id)) for game_id in undecided(table, book)]


# --- moves -------------------------------------------------------------------------------------


def _forced(book: Book, game: LiveGame) -> Choice | None:
    """The one thing to do in this game, when nobody has to decide it."""
    player = book.player(game.id)
    choices = player.choices() if player else ()
    return choices[0] if len(choices) == 1 and choices[0].forced else None


def _acts(table: Table, book: Book) -> list[Own]:
    chosen = {c.game_id: c.action for c in book.queue if isinstance(c, interface.Act)}
    acts: list[Own] = []
    for game in book.state.games:
        player = book.player(game.id)
        if game.mover is not table.side or player is None:
            continue
        forced = _forced(book, game)
        action = Action(forced.verb) if forced else chosen.get(game.id)
        if action is not None:
            acts.append(own_action(table, game, player, action))
    return acts


def _first_moves(table: Table, started: Iterable[GameStarted]) -> list[Own]:
    """The forced first moves in games that this very batch accepts, where we are Alice."""
    moves: list[Own] = []
    for new in started:
        choices = new.player.choices()
        if new.game.mover is table.side and len(choices) == 1 and choices[0].forced:
            moves.append(own_action(table, new.game, new.player, Action(choices[0].verb)))
    return moves


def own_action(table: Table, game: LiveGame, player: Player, action: Action) -> Own:
    """What this action is, and where it leads. Raises `IllegalAction`."""
    play = player.act(action)
    before = game.position
    if not isinstance(play, Play):
        return Own(action, Settle(game.id), before, game, player)
    hashes = table.hashes(game.terms.game)
    step = own_move(registry.get(game.terms.game), hashes, before, game.coin.amount, play)
    committed = commitment(step, hashes)
    size = step.max_move_size if step else 0
    coin = game.coin.after(play.move, committed, play.share, size)
    position = position_after(before, step, play.move, play.share)
    after = LiveGame(game.id, game.terms, game.alice, coin, position, Before(before, game.coin))
    wire = Move(game.id, play.move, play.share, size, committed)
    return Own(action, wire, before, after, player.moved(position))


# --- proposals ---------------------------------------------------------------------------------


def _offers(
    table: Table, state: ChannelState, wishes: Iterable[Wish], used: int = 0
) -> tuple[Offer, ...]:
    """The offers for these wishes, behind `used` others of the same batch. Raises `Unfit`."""
    first = state.next_ids[table.side] + 2 * used
    return tuple(
        offer_of(table.channel, table.side, first + 2 * i, wish) for i, wish in enumerate(wishes)
    )


def _proposes(table: Table, book: Book) -> tuple[list[Propose], list[Effect]]:
    """What we propose; what the other side's proposals left no room for comes to nothing."""
    gone = {c.group_id for c in book.queue if isinstance(c, interface.Accept | interface.Cancel)}
    room = MAX_OPEN_PROPOSALS - sum(
        len(group.offers) for group in book.state.groups if group.id not in gone
    )
    proposes: list[Propose] = []
    crowded: list[Effect] = []
    for command in book.queue:
        if not isinstance(command, interface.Propose):
            continue
        used = sum(len(propose.offers) for propose in proposes)
        offers = _offers(table, book.state, command.wishes, used)
        if used + len(offers) <= room:
            proposes.append(Propose(offers))
            continue
        reason = f"{MAX_OPEN_PROPOSALS} proposals are open"
        crowded.append(Tell(Cancelled(Group(table.side, offers), True, reason)))
    return proposes, crowded


def _answers(table: Table, book: Book, settles: Iterable[Own]) -> tuple[list[Cancel], list[Accept]]:
    """What we cancel and accept; an acceptance that a balance does not cover is a cancel."""
    balances = list(book.state.balances)
    for own in settles:
        for side, share in enumerate(own.after.shares()):
            balances[side] += share
    settled = {own.after.id for own in settles}
    live = sum(game.id not in settled for game in book.state.games)
    cancels: list[Cancel] = []
    accepts: list[Accept] = []
    for command in book.queue:
        if not isinstance(command, interface.Accept | interface.Cancel):
            continue
        group = book.state.group(command.group_id)
        if group is None:
            # The other side's batch was quicker: it accepted, or took back, this proposal.
            continue
        if isinstance(command, interface.Cancel):
            cancels.append(Cancel(group.id, as_text(command.reason)))
            continue
        stakes = group.stakes()
        reason = why_not(table.channel, group, table.confirmations)
        if reason is None and any(b < s for b, s in zip(balances, stakes, strict=True)):
            reason = "a balance no longer covers the stake"
        if reason is None and live + len(group.offers) > MAX_LIVE_GAMES:
            reason = f"more than {MAX_LIVE_GAMES} games at once"
        if reason is not None:
            cancels.append(Cancel(group.id, as_text(reason)))
            continue
        accepts.append(Accept(group.id))
        live += len(group.offers)
        balances = [b - s for b, s in zip(balances, stakes, strict=True)]
    return cancels, accepts


# --- news --------------------------------------------------------------------------------------


def _news(
    table: Table,
    before: ChannelState,
    started: Iterable[GameStarted],
    acts: Iterable[Own],
    settled: Iterable[Settled],
    cancels: Iterable[Cancel],
) -> list[Effect]:
    news: list[Effect] = [Tell(new) for new in started]
    news += [
        Tell(Acted(own.after.id, own.action, own.before, own.after.position, own.player))
        for own in acts
    ]
    for ended in settled:
        ours, theirs = ended.payouts[table.side], ended.payouts[table.side.other]
        news.append(Tell(GameSettled(ended.game.id, True, ours, theirs)))
    for cancel in cancels:
        group = before.group(cancel.group_id)
        if group is not None:
            news.append(Tell(Cancelled(group, group.proposer is table.side, cancel.reason)))
    return news
