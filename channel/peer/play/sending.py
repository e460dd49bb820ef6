"""Our own batches: the player's commands and forced moves, in the order of the protocol.

Our batch goes through the same `apply` as the other side's, so that we never send one that it has
to refuse. Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.peer import interface
from channelsim.channel.peer.decks.pool import name
from channelsim.channel.peer.endpoint import Endpoint, OwnAction
from channelsim.channel.peer.interface import (
    Effect,
    GameStarted,
    NotProposed,
    Send,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import (
    LAST_GAME,
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
from channelsim.channel.protocol.proposals import (
    UnfitProposal,
    Wish,
    needs_deck,
    offer_of,
    reason_to_refuse,
)
from channelsim.channel.protocol.state import ChannelState, Group, LiveGame
from channelsim.channel.protocol.transitions import (
    MAX_LIVE_GAMES,
    MAX_OPEN_PROPOSALS,
    Settled,
    apply,
)
from channelsim.games.choices import forced_action
from channelsim.games.contract import Action
from channelsim.games.errors import IllegalAction, IllegalMove

PROLONGING = (interface.ProposeGames, interface.AcceptGames)
"""Commands that lead to new games."""

ANSWERS = (interface.AcceptGames, interface.CancelGames)
"""Commands that answer the other side's proposals."""

WorkedOut: TypeAlias = Mapping[int, OwnAction]
"""Our actions that are worked out already, by game."""

Turns: TypeAlias = Mapping[int, Action | None]
"""The action that we take in each game in which it is our turn; None: the player has to decide."""


def check_command(endpoint: Endpoint, play: PlayState, command: interface.Command) -> WorkedOut:
    """Check that a command can be carried out, and work out the action of it, if it has one.

    Raises `UsageError`, and `IllegalMove` for a move that the game's own rules refuse.
    """
    if play.closing and isinstance(command, PROLONGING):
        raise UsageError("the channel is being closed: no game is proposed or accepted any more")
    match command:
        case interface.Act(game_id, action):
            game, player = play.state.game(game_id), play.players.get(game_id)
            if game is None or player is None:
                raise UsageError(f"no game {game_id} is being played")
            try:
                return {game_id: endpoint.own_action(game, player, action)}
            except IllegalMove:
                raise  # a mistake of the game, not of who chose the action
            except IllegalAction as error:
                raise UsageError(f"game {game_id}: {error}") from None
        case interface.AcceptGames(group_id) | interface.CancelGames(group_id):
            group = play.state.group(group_id)
            if group is None:
                raise UsageError(f"no proposal {group_id} is open")
            if isinstance(command, interface.AcceptGames) and group.proposer is endpoint.side:
                raise UsageError(f"proposal {group_id} is our own: the other side may accept it")
            if group_id in _answered(play):
                raise UsageError(f"proposal {group_id} is answered already")
        case interface.ProposeGames(wishes):
            _check_wishes(endpoint, play, wishes)
        case interface.Close():
            pass
    return {}


def without_new_games(play: PlayState) -> tuple[PlayState, list[Effect]]:
    """Drop what would begin games: the channel is being closed. Also return the news of that."""
    dropped = [one for one in play.queue if isinstance(one, interface.ProposeGames)]
    queue = tuple(one for one in play.queue if not isinstance(one, PROLONGING))
    reason = "the channel is being closed"
    return replace(play, queue=queue), [Tell(NotProposed(one.wishes, reason)) for one in dropped]


def our_turns(endpoint: Endpoint, play: PlayState) -> Turns:
    """Our turns: the action is the only one, or the player's decision."""
    chosen = {act.game_id: act.action for act in play.queue if isinstance(act, interface.Act)}
    turns: dict[int, Action | None] = {}
    for game in play.state.games:
        if game.mover is endpoint.side:
            player, action = play.players.get(game.id), chosen.get(game.id)
            if action is None and player is not None:
                action = forced_action(player.choices())
            turns[game.id] = action
    return turns


def unanswered(endpoint: Endpoint, play: PlayState) -> list[int]:
    """List the other side's proposals that the player has not answered."""
    answered = _answered(play)
    return [
        group.id
        for group in play.state.groups
        if group.proposer is not endpoint.side and group.id not in answered
    ]


def _answered(play: PlayState) -> set[int]:
    return {command.group_id for command in play.queue if isinstance(command, ANSWERS)}


def _check_wishes(endpoint: Endpoint, play: PlayState, wishes: tuple[Wish, ...]) -> None:
    if not wishes:
        raise UsageError("cannot propose: no game is named")
    try:
        offers = _offers(endpoint, play, wishes)
    except UnfitProposal as unfit:
        raise UsageError(f"cannot propose: {unfit}") from None
    refused = reason_to_refuse(
        endpoint.channel, Group(endpoint.side, offers), endpoint.confirmations, endpoint.spacing
    )
    reason = refused or next(filter(None, map(unsendable, offers)), None)
    if reason is not None:
        raise UsageError(f"cannot propose: {reason}")
    queued = [one.wishes for one in play.queue if isinstance(one, interface.ProposeGames)]
    proposed = [*(group.offers for group in play.state.groups), *queued, offers]
    if sum(map(len, proposed)) > MAX_OPEN_PROPOSALS:
        raise UsageError(f"cannot propose: at most {MAX_OPEN_PROPOSALS} proposals are open")


def send_batch(
    endpoint: Endpoint, play: PlayState, turns: Turns, worked_out: WorkedOut
) -> tuple[PlayState, bytes, list[Effect]]:
    """Send a batch of all queued commands and forced moves; it may be empty.

    Also return its bytes.
    """
    state = play.state
    acts = [
        worked_out.get(game.id) or endpoint.own_action(game, player, action)
        for game in state.games
        if (action := turns.get(game.id)) and (player := play.players.get(game.id))
    ]
    settles = [own for own in acts if isinstance(own.wire, Settle)]
    answers = [command for command in play.queue if isinstance(command, ANSWERS)]
    wanted = [one for one in play.queue if isinstance(one, interface.ProposeGames)]
    cancels, accepts = _answers(endpoint, play, answers, settles) if answers else ([], [])
    proposes, unsent = _proposes(endpoint, play, wanted) if wanted else ([], [])
    decks = name(play.decks, _decks_of(proposes)) if proposes else play.decks
    moves = [own for own in acts if isinstance(own.wire, Move)]
    groups = [play.state.group(accept.group_id) for accept in accepts]
    started = [new for group in groups if group for new in endpoint.started(group)]
    moves += _first_moves(endpoint, started) if started else []
    results = {own.after.id: own.after for own in moves}
    actions: list[BatchAction] = [
        *(own.wire for own in settles),
        *cancels,
        *accepts,
        *(own.wire for own in moves),
        *proposes,
    ]
    new_state, settled = apply(
        endpoint.channel, state, endpoint.side, actions, lambda game, _: results[game.id]
    )
    halves = sign_halves(endpoint.channel, endpoint.secret_keys, new_state)
    batch = Batch(new_state.number, tuple(actions), *halves)
    message = encode(batch)
    seats = {new.game.id: new.player for new in started}
    seats |= {own.after.id: own.acted.player for own in moves}
    after = replace(
        play.after(endpoint.side, batch, new_state, None, seats),
        decks=decks,
        queue=(),
        potato=False,
        they_asked=False,
    )
    effects: list[Effect] = [Send(message)]
    effects += _news(endpoint, state, started, [*settles, *moves], settled, cancels)
    effects += unsent
    return after, message, effects


def your_turns(turns: Turns) -> list[Effect]:
    """Ask the player in every game that waits for a decision."""
    return [Tell(YourTurn(game_id)) for game_id, action in turns.items() if action is None]


# --- moves -------------------------------------------------------------------------------------


def opens_cards(game: LiveGame) -> bool:
    """True if the first move of a game opens cards of a deck."""
    return game.terms.deck is not None


def _first_moves(endpoint: Endpoint, started: Iterable[GameStarted]) -> list[OwnAction]:
    """The forced first moves of games that this batch accepts, where we are Alice.

    An opening of cards waits for a state that we can complete, with the game in it (PD-15): the
    other side could look at its cards, and publish an older state.
    """
    moves: list[OwnAction] = []
    for new in started:
        action = forced_action(new.player.choices())
        ours = new.game.mover is endpoint.side
        if ours and action is not None and not opens_cards(new.game):
            moves.append(endpoint.own_action(new.game, new.player, action))
    return moves


# --- proposals ---------------------------------------------------------------------------------


def _offers(
    endpoint: Endpoint,
    play: PlayState,
    wishes: Iterable[Wish],
    used: int = 0,
    named: Collection[int] = (),
) -> tuple[Offer, ...]:
    """The offers for these wishes, after `used` others in this batch that name these decks.

    Raises `UnfitProposal`.
    """
    first = play.state.next_ids[endpoint.side] + 2 * used
    free = iter(sorted(play.decks.ready.keys() - set(named)))
    offers: list[Offer] = []
    for number, wish in enumerate(wishes):
        if first + 2 * number > LAST_GAME:
            raise UnfitProposal("the ids of games are used up: close the channel")
        if needs_deck(wish):
            wish = replace(wish, deck=next(free, None))
            if wish.deck is None:
                raise UnfitProposal(f"no deck is ready for {wish.game}")
        offers.append(offer_of(endpoint.channel, endpoint.side, first + 2 * number, wish))
    return tuple(offers)


def _decks_of(proposes: Iterable[Propose]) -> list[int]:
    """The decks that proposals name."""
    offers = (offer for propose in proposes for offer in propose.offers)
    return [offer.deck.number for offer in offers if offer.deck is not None]


def _proposes(
    endpoint: Endpoint, play: PlayState, wanted: Iterable[interface.ProposeGames]
) -> tuple[list[Propose], list[Effect]]:
    """Make our proposals, and the news of those that no longer fit."""
    gone = _answered(play)
    staying = (group for group in play.state.groups if group.id not in gone)
    room = MAX_OPEN_PROPOSALS - sum(len(group.offers) for group in staying)
    proposes: list[Propose] = []
    unsent: list[Effect] = []
    for command in wanted:
        used = sum(len(propose.offers) for propose in proposes)
        try:
            offers = _offers(endpoint, play, command.wishes, used, _decks_of(proposes))
        except UnfitProposal as unfit:
            # The other side named the decks that were ready when the player wanted this.
            unsent.append(Tell(NotProposed(command.wishes, str(unfit))))
            continue
        if used + len(offers) <= room:
            proposes.append(Propose(offers))
            continue
        reason = f"{MAX_OPEN_PROPOSALS} proposals are open"
        unsent.append(Tell(endpoint.cancelled(Group(endpoint.side, offers), reason)))
    return proposes, unsent


def _answers(
    endpoint: Endpoint,
    play: PlayState,
    answers: Iterable[interface.AcceptGames | interface.CancelGames],
    settles: Iterable[OwnAction],
) -> tuple[list[Cancel], list[Accept]]:
    """Make our answers: an acceptance that has become impossible is a cancellation."""
    balances = list(play.state.balances)
    for own in settles:
        for side, share in enumerate(own.after.shares()):
            balances[side] += share
    settled = {own.after.id for own in settles}
    live = sum(game.id not in settled for game in play.state.games)
    cancels: list[Cancel] = []
    accepts: list[Accept] = []
    for command in answers:
        group = play.state.group(command.group_id)
        if group is None:
            # The other side's batch came first: it accepted or cancelled this proposal.
            continue
        if isinstance(command, interface.CancelGames):
            cancels.append(Cancel(group.id, as_text(command.reason)))
            continue
        stakes = group.stakes()
        reason = reason_to_refuse(endpoint.channel, group, endpoint.confirmations, endpoint.spacing)
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
    endpoint: Endpoint,
    before: ChannelState,
    started: Iterable[GameStarted],
    acts: Iterable[OwnAction],
    settled: Iterable[Settled],
    cancels: Iterable[Cancel],
) -> list[Effect]:
    news: list[Effect] = [Tell(new) for new in started]
    news += [Tell(own.acted) for own in acts]
    news += [Tell(endpoint.settled(ended)) for ended in settled]
    for cancel in cancels:
        group = before.group(cancel.group_id)
        if group is not None:
            news.append(Tell(endpoint.cancelled(group, cancel.reason)))
    return news
