"""The cards that a player of a poker game sees: those that the position, or the last move, shows.

Source: spec/poker.md, "Hands"; spec/deck.md, "Decks of a channel".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.peer.interface import Acted, Effect, Moved, SawCards, Tell
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.protocol.state import LiveGame
from channelsim.games.contract import Player
from channelsim.games.poker.openings import OPENING, SCALAR
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.states import Begin, Draw, End, Mid, Score, Show


def wrong_cards(after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find seats in news that lack cards which they have to see, or take others for them."""
    for effect in effects:
        news = effect.news if isinstance(effect, Tell) else None
        if isinstance(news, Acted | Moved) and not _sees_shown(news.player):
            yield f"its player does not see the hand that is shown in game {news.game_id}"
        if isinstance(news, Acted | Moved | SawCards) and isinstance(news.player, PokerPlayer):
            yield from _of_board(news.game_id, news.player)
            # Its end may be accepted, and the game settled, with the same event.
            states = [link.state for link in after.play.history] if after.play is not None else []
            game = next(filter(None, (state.game(news.game_id) for state in states)), None)
            if isinstance(news, Moved) and game is not None and game.position == news.after:
                yield from _of_showdown(game, news.player)


LAST = "end"
"""The validator of games in which the hand that is shown last is judged."""


def _sees_shown(player: Player) -> bool:
    """True if a seat sees the other's hand, where that is shown."""
    state, is_mover = player.position.state, player.position.mover is player.seat
    match player:
        case PokerPlayer() if isinstance(state, End) and is_mover:
            return sorted((*player.cards.others, *player.cards.others_up)) == sorted(state.shown)
        case PokerPlayer() if isinstance(state, Score) and is_mover:
            return player.cards.others == state.shown
        case PokerPlayer():
            return True
        case _:
            cards = getattr(player, "cards", None)
            hands = [getattr(cards, name) for name in ("other", "final") if hasattr(cards, name)]
            is_last = is_mover and player.position.validator == LAST
            return not (player.position.over or is_last) or None not in hands


def _of_board(game_id: int, player: PokerPlayer) -> Iterator[str]:
    """A seat sees at least the shared cards that are open for both."""
    state = player.position.state
    if isinstance(state, Begin | Mid | Draw | Show):
        board = state.known.board
        if player.cards.board[: len(board)] != board:
            yield f"its player sees the board {player.cards.board} in game {game_id}, not {board}"


def _of_showdown(game: LiveGame, player: PokerPlayer) -> Iterator[str]:
    """A seat sees the hand with which the other one has ended the game."""
    state = game.before.position.state if game.before is not None else None
    if isinstance(state, End | Score):
        size = OPENING * len(state.held)
        shown = [game.position.move[at + SCALAR] for at in range(0, size, OPENING)]
        if sorted(player.cards.others) != sorted(shown):
            yield f"its player does not see the hand that ends game {game.id}"
