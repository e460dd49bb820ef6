"""Games that were settled off chain, and come back on chain with an older state.

What a side settled is taken anew from all states that it signed: a game that one has, and the
newest one has not, ended where it was seen last. Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from channelsim.channel.peer.chain_news import GameEnded
from channelsim.channel.peer.interface import Effect, Push, Tell
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.state import LiveGame


def wrong_after_settling(after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find news of a settled game that are wrong, and a move at the coin where a side settled."""
    play, dispute = after.play, after.dispute
    if play is None or dispute is None:
        return
    ended = [
        effect.news
        for effect in effects
        if isinstance(effect, Tell) and isinstance(effect.news, GameEnded)
    ]
    moves = [effect for effect in effects if isinstance(effect, Push) and _is_move(effect)]
    if not ended and not moves:
        return
    settled, side = _settled(play), dispute.endpoint.side
    for news in ended:
        game = settled.get(news.game_id)
        if news.corrects != (game is not None):
            off_chain = "off chain" if news.corrects else "on chain alone"
            yield f"it says that game {news.game_id} had ended {off_chain}"
        shares = game.shares() if game is not None else None
        if shares is not None and (shares[side], shares[side.other]) == (news.ours, news.theirs):
            yield f"its player hears again that game {news.game_id} ended"
    for push in moves:
        tracked = dispute.tracked.get(push.bundle.spends[0].coin)
        game = settled.get(tracked.game.id) if tracked is not None else None
        if tracked is not None and game is not None and tracked.game.coin == game.coin:
            yield f"it moves in game {game.id}, where it settled that game"


def _is_move(push: Push) -> bool:
    return push.name.partition("+")[0] == "move"


def _settled(play: PlayState) -> Mapping[int, LiveGame]:
    """The games that have ended off chain, each as it was seen last."""
    seen: dict[int, LiveGame] = {}
    for link in play.history:
        for game in link.state.games:
            seen.setdefault(game.id, game)
    return {number: game for number, game in seen.items() if play.state.game(number) is None}
