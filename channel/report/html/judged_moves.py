"""Verdicts of rules and programs on moves, in messages and on chain, with the rules they break."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.errors import Violation
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
from channelsim.channel.protocol.messages import Batch, Move, decode
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.protocol.spend_parsing import MovedTo, game_spend
from channelsim.channel.protocol.state import LiveGame
from channelsim.channel.report.html.session_data import MoveVerdict
from channelsim.games import registry
from channelsim.games.contract import Player, Position
from channelsim.games.judge import Ruling, hashes_of, judge_move
from channelsim.games.referee import GameCoin, RefereeRefusal


class MoveJudge:
    """Follows the games of a channel by the news of both peers, and judges moves.

    `games` are the live games as both peers know them.
    """

    def __init__(self) -> None:
        self.games: dict[int, LiveGame] = {}
        self._players: dict[tuple[str, int], Player] = {}
        self._seats: dict[tuple[str, int, Position], Player] = {}
        self._states: dict[bytes, LiveGame] = {}
        self._on_chain: dict[bytes, tuple[LiveGame, Player | None]] = {}
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
            case _:
                pass

    def received(
        self, peer: str, message: bytes, effects: tuple[Effect, ...]
    ) -> tuple[MoveVerdict, ...]:
        """Judge the moves of a message that this peer received with these effects."""
        try:
            batch = decode(message)
        except Violation:
            return ()
        if not isinstance(batch, Batch):
            return ()
        news = [effect.news for effect in effects if isinstance(effect, Tell)]
        if not any(_was_judged(one) for one in news):
            return ()  # a repeat, or a batch of another state
        for one in news:
            if isinstance(one, GameStarted):
                self.follow(peer, one)  # a message may accept a game and move in it
        return tuple(self._judged(peer, batch))

    def block(self, coins: Iterable[CoinSeen]) -> None:
        """Take in the watched coins of a block, with the solutions of those that are spent."""
        for seen in coins:
            if seen.solution is not None:
                self._solutions[seen.coin.id] = seen.solution

    def on_chain(self, peer: str, news: News) -> tuple[MoveVerdict, ...]:
        """Follow the games on chain by the news of one peer; judge the move that they are about."""
        match news:
            case StateCounts(games=games):
                for game_id, coin in games:
                    game = self._states.get(coin.puzzle_hash)
                    if game is not None:
                        seat = self._seats.get((peer, game_id, game.position))
                        self._on_chain[coin.id] = game, seat
            case MovedOnChain(_, by_us, coin):
                return self._moved_on_chain(coin, by_us=by_us)
            case _:
                pass
        return ()

    def _moved_on_chain(self, coin: Coin, *, by_us: bool) -> tuple[MoveVerdict, ...]:
        before, solution = self._on_chain.get(coin.parent), self._solutions.get(coin.parent)
        if before is None or solution is None or before[0].position.over:
            return ()
        game, player = before
        spend = game_spend(game.coin, solution)
        if not isinstance(spend, MovedTo):
            return ()
        # Nobody holds evidence against its own move.
        judge = None if by_us else player
        ruling = _ruling(game, spend.coin, judge)
        after = game.after(spend.coin, ruling.next)
        seat = player.moved(after.position) if player and ruling.legal else None
        self._on_chain[coin.id] = after, seat
        return (_verdict(game, ruling),)

    def _reach(self, game: LiveGame) -> None:
        """Keep a state of a game, which may be paid out later."""
        self.games[game.id] = game
        self._states[game.coin.puzzle_hash()] = game

    def _seat(self, peer: str, game_id: int, position: Position, player: Player) -> None:
        self._players[peer, game_id] = self._seats[peer, game_id, position] = player

    def _judged(self, peer: str, batch: Batch) -> Iterator[MoveVerdict]:
        moved: set[int] = set()
        for action in batch.actions:
            if not isinstance(action, Move):
                continue
            game = self.games.get(action.game_id)
            player = self._players.get((peer, action.game_id))
            again = action.game_id in moved  # CH-MOVE-3: the peer judged none of them
            if again or game is None or player is None or game.position.over:
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


def _ruling(game: LiveGame, after: GameCoin, player: Player | None) -> Ruling:
    """Judge the move to this coin, with the evidence of this player."""
    rules = registry.get(game.terms.game)
    candidates = player.evidence(game.position, after.move) if player else ()
    return judge_move(rules, hashes_of(rules), game.position, after, candidates)


def _was_judged(news: News) -> bool:
    """Whether a peer judged the moves of the batch that it has these news of."""
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
    said = "; ".join(ruling.disagreements) or words
    program = "no program" if validator in rules.missing else words
    sentence = rules.rules.get(rule) or RULES.get(rule, "")
    return MoveVerdict(
        game.id, game.terms.game, validator, said, program, rule, sentence, ruling.runs
    )
