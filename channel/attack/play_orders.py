"""The orders in which a side sends what is wanted, and tells what has happened.

Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from channelsim.channel.peer.interface import (
    AcceptGames,
    Acted,
    Command,
    Effect,
    Event,
    GameSettled,
    GameStarted,
    Moved,
    News,
    ProposeGames,
    SawCards,
    Send,
    Tell,
    YourTurn,
)
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.messages import (
    Accept,
    Batch,
    Message,
    Offer,
    Propose,
    Request,
    decode,
)
from channelsim.channel.protocol.proposals import Wish


def wrong_orders(
    event: Event | None, before: PeerState, effects: Sequence[Effect]
) -> Iterator[str]:
    """Find what a side sends, or tells its player, in another order than it has to."""
    yield from _of_news([effect.news for effect in effects if isinstance(effect, Tell)])
    play = before.play
    if play is None or event is None or before.phase is not Phase.PLAYING:
        return
    sent = [decode(effect.message) for effect in effects if isinstance(effect, Send)]
    yield from _of_messages(sent)
    wanted = [*play.queue, *([event] if isinstance(event, Command) else [])]
    for batch in sent:
        # A batch that is repeated has what was wanted before.
        if isinstance(batch, Batch) and batch.number > play.state.number:
            yield from _of_actions(wanted, batch)


def _of_news(news: Sequence[News]) -> Iterator[str]:
    """A game begins before anything else is told of it, and nothing more is told once it ends."""
    for at, report in enumerate(news):
        match report:
            case GameStarted(game, _) if game.id in _about_games(news[:at]):
                yield f"tells of game {game.id} before it begins"
            case GameSettled(game_id) if game_id in _about_games(news[at + 1 :]):
                yield f"tells of game {game_id} after it has ended"
            case Acted(game_id) | Moved(game_id) if _asks(news[:at], game_id):
                yield f"asks about game {game_id} before it tells of the move"
            case _:
                pass


def _about_games(news: Iterable[News]) -> set[int]:
    kinds = Acted | Moved | SawCards | YourTurn | GameSettled
    return {report.game_id for report in news if isinstance(report, kinds)}


def _asks(news: Iterable[News], game_id: int) -> bool:
    return YourTurn(game_id) in news


def _of_messages(sent: Sequence[Message]) -> Iterator[str]:
    """A holder gives the potato away before it asks for it back."""
    asks = False
    for message in sent:
        if isinstance(message, Batch) and asks:
            yield "asks for the potato before it gives it away"
        asks = asks or isinstance(message, Request)


def _of_actions(wanted: Sequence[Command], batch: Batch) -> Iterator[str]:
    """Proposals, and acceptances, are sent in the order in which a player wants them."""
    wishes = [tuple(map(_of_wish, one.wishes)) for one in wanted if isinstance(one, ProposeGames)]
    offered = [
        tuple(map(_of_offer, action.offers))
        for action in batch.actions
        if isinstance(action, Propose)
    ]
    if not _is_in_order(offered, wishes):
        yield "makes proposals in another order than its player wants"
    answers = [one.group_id for one in wanted if isinstance(one, AcceptGames)]
    accepted = [action.group_id for action in batch.actions if isinstance(action, Accept)]
    if not _is_in_order(accepted, answers):
        yield "accepts proposals in another order than its player does"


def _is_in_order(part: Iterable[Hashable], whole: Iterable[Hashable]) -> bool:
    """True if one is the other, perhaps without some of its items.

    >>> _is_in_order("ac", "abc"), _is_in_order("ca", "abc")
    (True, False)
    """
    left = iter(whole)
    return all(item in left for item in part)


def _of_wish(wish: Wish) -> Hashable:
    return wish.game, wish.timeout, wish.i_am_alice, tuple(sorted(wish.parameters.items()))


def _of_offer(offer: Offer) -> Hashable:
    parameters = tuple(sorted(offer.parameters.items()))
    return offer.game, offer.timeout, offer.proposer_is_alice, parameters
