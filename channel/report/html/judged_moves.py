"""Verdicts on the moves of messages, by the rules and by the program, with the rule they break."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.errors import Violation
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
from channelsim.channel.protocol.state import LiveGame
from channelsim.channel.report.html.session_data import MoveVerdict
from channelsim.games import registry
from channelsim.games.contract import Player
from channelsim.games.judge import Ruling, hashes_of, judge_move
from channelsim.games.referee import RefereeRefusal


class MoveJudge:
    """Follows the games of a channel by the news of both peers, and judges received moves.

    `games` are the live games as both peers know them.
    """

    def __init__(self) -> None:
        self.games: dict[int, LiveGame] = {}
        self._players: dict[tuple[str, int], Player] = {}

    def follow(self, peer: str, news: News) -> None:
        """Take in the news of a peer."""
        match news:
            case GameStarted(game, player):
                self.games.setdefault(game.id, game)
                self._players[peer, game.id] = player
            case Acted(game_id, _, _, _, player) | SawCards(game_id, player):
                self._players[peer, game_id] = player
            case Moved(game_id, _, player):
                self._players[peer, game_id] = player
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
        validator = game.position.validator or ""
        try:
            coin = game.coin.after(
                action.move, action.commitment, action.share, action.max_move_size
            )
        except RefereeRefusal as refusal:
            words = ("not asked", "not asked", refusal.rule, str(refusal))
            return MoveVerdict(game.id, game.terms.game, validator, *words, 0)
        rules = registry.get(game.terms.game)
        candidates = player.evidence(game.position, action.move)
        ruling = judge_move(rules, hashes_of(rules), game.position, coin, candidates)
        if ruling.legal:
            self.games[game.id] = game.after(coin, ruling.next)
        return _verdict(game, validator, ruling)


def _was_judged(news: News) -> bool:
    """Whether a peer judged the moves of the batch that it has these news of."""
    if isinstance(news, BrokenOff):
        return news.blame.rule not in ("CH-BATCH-1", "CH-BATCH-2")
    return isinstance(news, Moved)


def _verdict(game: LiveGame, validator: str, ruling: Ruling) -> MoveVerdict:
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
