"""Verdicts of rules and programs on moves, in messages and on chain, with the rules they break."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import MovedOnChain, StateCounts
from channelsim.channel.peer.interface import (
    Acted,
    BrokenOff,
    Effect,
    GameSettled,
    GameStarted,
    Moved,
    News,
    SawCards,
    Tell,
)
from channelsim.channel.protocol.messages import Batch, Move
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.spend_parsing import MovedTo, game_spend
from channelsim.channel.protocol.state import LiveGame
from channelsim.channel.report.html.session_data import MoveVerdict
from channelsim.channel.report.lanes import decoded
from channelsim.channel.session.setup import NAMES
from channelsim.games import registry
from channelsim.games.contract import Player, Position
from channelsim.games.judge import Ruling, hashes_of, judge_move
from channelsim.games.referee import GameCoin, RefereeRefusal

MOST_STATES = 5_000
"""The newest states of games that are kept: one of them may be paid out on chain."""


class MoveJudge:
    """Follows the games of a channel by the news of both peers, and judges moves.

    `games` are the live games as both peers know them.
    """

    def __init__(self) -> None:
        self.games: dict[int, LiveGame] = {}
        self._players: dict[tuple[str, int], Player] = {}
        self._seats: dict[tuple[str, int, Position], Player] = {}
        self._states: dict[bytes, LiveGame] = {}
        self._on_chain: dict[bytes, tuple[LiveGame, dict[str, Player]]] = {}
        self._solutions: dict[bytes, bytes] = {}

    def follow(self, peer: str, news: News) -> None:
        """Take in the news of a peer."""
        match news:
            case GameStarted(game, player):
                if game.id not in self.games:
                    self._reach(game)
                self._seat(peer, game.id, game.position, player)
            case Acted(game_id, _, _, after, player) | Moved(game_id, after, player):
                self._seat(peer, game_id, after, player)
            case SawCards(game_id, player):
                self._seat(peer, game_id, player.position, player)
            case GameSettled(game_id):
                self.games.pop(game_id, None)
                self._players.pop((peer, game_id), None)
            case _:
                pass

    def received(
        self, peer: str, message: bytes, effects: tuple[Effect, ...]
    ) -> tuple[MoveVerdict, ...]:
        """Judge the moves of a message that this peer received with these effects."""
        batch = decoded(message)
        if not isinstance(batch, Batch):
            return ()
        news = [effect.news for effect in effects if isinstance(effect, Tell)]
        if not any(map(_was_judged, news)):
            return ()  # a repeat, or a batch of another state
        for told in news:
            if isinstance(told, GameStarted):
                self.follow(peer, told)  # a message may accept a game and move in it
        return tuple(self._judged(peer, batch))

    def block(self, coins: Iterable[CoinSeen]) -> None:
        """Take in the watched coins of a block, with the solutions of those that are spent."""
        for seen in coins:
            if seen.solution is not None:
                self._solutions[seen.coin.id] = seen.solution

    def on_chain(self, news: News) -> tuple[MoveVerdict, ...]:
        """Follow the games on chain by the news of one peer; judge the move that they are about."""
        match news:
            case StateCounts(games=games):
                for game_id, coin in games:
                    game = self._states.get(coin.puzzle_hash)
                    if game is not None:
                        keys = ((name, game_id, game.position) for name in NAMES)
                        seats = {key[0]: self._seats[key] for key in keys if key in self._seats}
                        self._on_chain[coin.id] = game, seats
            case MovedOnChain(_, _, coin):
                return self._moved_on_chain(coin)
            case _:
                pass
        return ()

    def _moved_on_chain(self, coin: Coin) -> tuple[MoveVerdict, ...]:
        before, solution = self._on_chain.get(coin.parent), self._solutions.get(coin.parent)
        if before is None or solution is None or before[0].position.over:
            return ()
        game, seats = before
        spend = game_spend(game.coin, solution)
        receiver = seats.get(NAMES[game.mover.other])
        if not isinstance(spend, MovedTo) or receiver is None:
            return ()
        ruling = _ruling(game, spend.coin, receiver)
        after = game.after(spend.coin, ruling.next)
        if not ruling.legal:
            seats = {}  # no rules say how the game goes on
        seats = {
            # The mover's own seat has the memory of its move.
            name: self._seats.get((name, game.id, after.position)) or player.moved(after.position)
            for name, player in seats.items()
        }
        self._on_chain[coin.id] = after, seats
        return (_verdict(game, ruling),)

    def _reach(self, game: LiveGame) -> None:
        """Keep a state of a game, which may be paid out later."""
        self.games[game.id] = game
        self._states[game.coin.puzzle_hash()] = game
        _drop_oldest(self._states)

    def _seat(self, peer: str, game_id: int, position: Position, player: Player) -> None:
        self._players[peer, game_id] = self._seats[peer, game_id, position] = player
        _drop_oldest(self._seats)

    def _judged(self, peer: str, batch: Batch) -> Iterator[MoveVerdict]:
        moved: set[int] = set()
        for action in batch.actions:
            if not isinstance(action, Move):
                continue
            game = self.games.get(action.game_id)
            player = self._players.get((peer, action.game_id))
            moves_twice = action.game_id in moved  # CH-MOVE-3: the peer judged none of them
            if moves_twice or game is None or player is None or game.position.over:
                continue
            moved.add(action.game_id)
            yield self._judge(game, player, action)

    def _judge(self, game: LiveGame, player: Player, action: Move) -> MoveVerdict:
        try:
            coin = game.coin.after(
                action.move, action.commitment, action.share, action.max_move_size
            )
        except RefereeRefusal as refusal:
            words = ("not asked", "not asked", refusal.rule, str(refusal))
            validator = game.position.validator or ""
            return MoveVerdict(game.id, game.terms.game, validator, *words, 0)
        ruling = _ruling(game, coin, player)
        if ruling.legal:
            self._reach(game.after(coin, ruling.next))
        return _verdict(game, ruling)


def _drop_oldest(states: dict[Any, Any]) -> None:
    """Keep no more than `MOST_STATES` items."""
    if len(states) > MOST_STATES:
        del states[next(iter(states))]


def _ruling(game: LiveGame, after: GameCoin, player: Player) -> Ruling:
    """Judge the move to this coin, with the evidence of the player that receives it."""
    rules = registry.get(game.terms.game)
    candidates = player.evidence(game.position, after.move)
    return judge_move(rules, hashes_of(rules), game.position, after, candidates)


def _was_judged(news: News) -> bool:
    """True if a peer judged the moves of the batch that it has these news of."""
    if isinstance(news, BrokenOff):
        return news.blame.rule not in ("CH-BATCH-1", "CH-BATCH-2")
    return isinstance(news, Moved)


def _verdict(game: LiveGame, ruling: Ruling) -> MoveVerdict:
    """The ruling on a move that was made at this state of a game, in words."""
    validator = game.position.validator or ""
    rules = registry.get(game.terms.game)
    words = rule = ""
    if ruling.legal:
        words = "legal"
    elif ruling.evidence is None:
        words, rule = "raises, whatever the evidence", "CH-MOVE-4"
    elif ruling.rule:
        words, rule = "illegal", ruling.rule
    else:
        words, rule = "another result than the move declares", "CH-MOVE-5"
    verdict = "; ".join(ruling.disagreements) or words
    program = "no program" if validator in rules.missing else words
    sentence = rules.rules.get(rule) or RULES.get(rule, "")
    return MoveVerdict(
        game.id, game.terms.game, validator, verdict, program, rule, sentence, ruling.runs
    )
