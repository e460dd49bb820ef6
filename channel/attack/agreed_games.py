"""The games that a player began, and its account of the hands, beside what both agreed on.

The other side may be hostile: no player begins a game that it did not agree on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from channelsim.channel.peer.interface import (
    AcceptGames,
    Effect,
    Event,
    Proposed,
    ProposeGames,
    Tell,
)
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.proposals import least_timeout
from channelsim.channel.protocol.state import LiveGame, Side
from channelsim.channel.session.agreed_hands import DECLINES, account_of
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.session.side_player import Choosing
from channelsim.games import registry
from channelsim.games.amounts import counted


@dataclass(slots=True)
class Declining:
    """Follows what a side does with hands that a player declines, where hands are agreed on.

    From then on that its player `declines` them, it accepts none that it is asked about. A player
    that `proposes` a game by itself may do so at any time.
    """

    is_agreed: bool = True
    declines: bool = False
    proposes: bool = False
    _asked: set[int] = field(default_factory=set)

    def follow(
        self, event: Event | None, before: PeerState, effects: Sequence[Effect]
    ) -> Iterator[str]:
        """Find a hand that is accepted, or proposed again, though a player has declined it."""
        if not self.is_agreed:
            return
        if isinstance(event, AcceptGames) and event.group_id in self._asked:
            yield f"accepts proposal {event.group_id}, and its player wants no other hand"
        if isinstance(event, ProposeGames) and not self.proposes and _decliner(before) is not None:
            yield "proposes a hand again that was declined"
        if self.declines:
            told = (effect.news for effect in effects if isinstance(effect, Tell))
            self._asked |= {news.group.id for news in told if isinstance(news, Proposed)}


def _decliner(state: PeerState) -> int | None:
    """The side that has declined the hand that was proposed last."""
    refusal = state.play.refusal if state.play is not None else None
    if refusal is None or refusal.by is refusal.proposer or refusal.reason not in DECLINES:
        return None
    return refusal.by


def begun_games(state: PeerState) -> list[LiveGame]:
    """The games of a peer's states, each at its first coin, in the order in which they began."""
    first: dict[int, LiveGame] = {}
    for link in state.play.history if state.play is not None else ():
        for game in link.state.games:
            first[game.id] = game
    return list(reversed(first.values()))


def not_agreed_on(setup: Setup, state: PeerState) -> Iterator[str]:
    """Find games that began and are not the next hand that both sides agreed on."""
    games, history = begun_games(state), state.play.history if state.play is not None else ()
    one_by_one = all(len(link.state.games) <= 1 for link in history)
    if len(games) > setup.hands:
        yield f"begins {counted(len(games), 'hand')}, and {setup.hands} were agreed on"
    for number, game in enumerate(games[: setup.hands]):
        name, rules = game.terms.game, registry.get(game.terms.game)
        if name not in setup.named(number):
            yield f"begins a hand of {name}, which is not the next one"
            continue
        if game.alice != setup.first(number, name):
            yield f"begins hand {number + 1} of {name} with exchanged seats"
        least = least_timeout(name, setup.confirmations, setup.spacing)
        most = max(least, setup.game_timeout)
        if not least <= game.coin.timeout <= most:
            yield f"begins a hand of {name} with a timeout of {game.coin.timeout}, at most {most}"
        if not setup.dealer_chooses and (rules.carry is None or one_by_one):
            parameters = setup.parameters(name)
            if rules.carry is not None:
                parameters = rules.carry.add(parameters, _left(state, games[:number]))
            terms = rules.terms(parameters)
            if (game.terms.parameters, game.terms.stakes) != (terms.parameters, terms.stakes):
                yield f"begins a hand of {name} with other terms than were agreed on"


def wrongly_dealt(
    setup: Setup, state: PeerState, choosing: Sequence[Choosing | None]
) -> Iterator[str]:
    """Find hands of another game, or with other bets, than their dealers chose, by side."""
    for number, game in enumerate(begun_games(state)[: setup.hands]):
        choose = choosing[number % 2]
        pick = choose(number) if choose is not None else None
        if pick is None:
            continue
        bets = registry.get(pick.game).limits.get(pick.limit or "", {})
        named = f"{pick.game} {pick.limit}" if pick.limit else pick.game
        if game.terms.game != pick.game:
            yield f"begins hand {number + 1} of {game.terms.game}, and its dealer chose {named}"
        elif not {*bets.items()} <= {*game.terms.parameters}:
            yield f"begins hand {number + 1} with other bets than its dealer chose: {named}"


def _left(state: PeerState, earlier: Sequence[LiveGame]) -> int:
    """The mojos that the last of these games left to the next one, as of its newest state."""
    ids = [game.id for game in earlier if registry.get(game.terms.game).carry is not None]
    for link in state.play.history if state.play is not None and ids else ():
        for game in link.state.games:
            carry = registry.get(game.terms.game).carry
            if carry is None or game.id != ids[-1]:
                continue
            before = game.before
            return carry.left(game.terms, before.position, game.position) if before else 0
    return 0


def wrong_account(setup: Setup, state: PeerState, side: Side) -> Iterator[str]:
    """Find an account of the hands that is not so, however the channel ended."""
    account, begun = account_of(setup, state, side), len(begun_games(state))
    if account.played != min(begun, setup.hands):
        yield f"counts {counted(account.played, 'hand')}, and {begun} began"
    if (account.played < account.asked) != bool(account.reason):
        yield f"gives the reason {account.reason!r} for {account.played} of {account.asked}"
    on_chain = state.dispute is not None and state.closed is None
    if account.reason and account.excused and (on_chain or state.play is None):
        yield f"takes hands for excused that were not played: {account.reason}"


def wrongly_declined(
    setup: Setup, state: PeerState, side: Side, decliners: Collection[int]
) -> Iterator[str]:
    """Find hands that are called declined though no player, but one of these, declined any."""
    reason = account_of(setup, state, side).reason
    named = [other for other in Side if reason.startswith(f"the {NAMES[other]} declined hand")]
    # Who refuses what was not agreed on says why.
    if named and ":" not in reason and not {*named} <= {*decliners}:
        yield f"says {reason!r}, and it did not"
    if named and ":" not in reason and not account_of(setup, state, side).excused:
        yield f"fails because of a player's wish: {reason}"
    played = state.dispute is None and state.play is not None and state.phase is Phase.CLOSED
    refusal = state.play.refusal if state.play is not None else None
    has_declined = refusal is not None and refusal.reason in DECLINES
    if played and has_declined and not named:
        yield f"does not say that a player declined the next hand: {reason!r}"
