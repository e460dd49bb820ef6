"""One side of a funded channel: what is fixed for as long as the channel lives, and its decks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import (
    Acted,
    Cancelled,
    GameSettled,
    GameStarted,
    Push,
)
from channelsim.channel.protocol.messages import Move, Settle
from channelsim.channel.protocol.proposals import first_game
from channelsim.channel.protocol.state import Channel, Group, LiveGame, Side
from channelsim.channel.protocol.transitions import Settled
from channelsim.games import registry
from channelsim.games.contract import Action, Play, Player, SharedDeck
from channelsim.games.dealing import FRESH_SIZE, deck_entropy
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.errors import IllegalMove
from channelsim.games.hidden import Lies, seated
from channelsim.games.judge import commitment, hashes_of, own_move, program_record
from channelsim.games.players import player_after
from channelsim.games.referee import RefereeRefusal


class OwnAction(msgspec.Struct, frozen=True):
    """Our action in a game: its form in a batch, the game after it (the same if we settle), and
    the news of it."""

    wire: Settle | Move
    after: LiveGame
    acted: Acted


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One side of a channel: the channel, our keys and our secrets.

    `entropy` gives the secret bytes of a game by its id, for this side and channel only. `decks`
    are those of the channel as we hold them, with our locks. `lies` are those of our `Config`.
    """

    side: Side
    channel: Channel
    secret_keys: SecretKeys
    confirmations: int
    spacing: int
    entropy: Callable[[int], bytes] = field(repr=False)
    decks: Mapping[int, FinishedDeck] = field(default_factory=dict, repr=False)
    lies: Lies = ()

    def new_player(self, game: LiveGame) -> Player:
        """Take our seat in a game that has just started."""
        entropy, shared = self.entropy(game.id), game.terms.deck
        if shared is not None:
            deck = self._deck(shared)
            if deck is None:
                raise InvariantError(f"the deck of game {game.id} is erased")
            entropy = deck_entropy(deck, len(shared.locks), entropy[:FRESH_SIZE])
        rules, seat = registry.get(game.terms.game), game.seat(self.side)
        return seated(rules, seat, game.terms, entropy, self.lies_in(game))

    def lies_in(self, game: LiveGame) -> Lies:
        """Our lies about what our seat hides in this game; others are about other games."""
        rules, seat = registry.get(game.terms.game), game.seat(self.side)
        hides = {hidden.name for hidden in rules.hidden if seat in hidden.seats}
        return tuple(lie for lie in self.lies if lie[0] in hides)

    def own_action(self, game: LiveGame, player: Player, action: Action) -> OwnAction:
        """Work out what our action sends, and the game after it. Raises `IllegalAction`.

        A player that lies makes moves that its rules refuse, and goes where the program leads; it
        settles where the referee takes no such move.
        """
        play, before = player.act(action), game.position
        settled = OwnAction(Settle(game.id), game, Acted(game.id, action, before, before, player))
        if not isinstance(play, Play):
            return settled
        rules, lying = registry.get(game.terms.game), bool(self.lies and self.lies_in(game))
        hashes = hashes_of(rules)
        try:
            if lying:
                step = program_record(rules, hashes, before, game.coin, play)
            else:
                step = own_move(rules, hashes, before, game.coin.amount, play)
            committed = commitment(step, hashes)
            size = step.max_move_size if step else 0
            coin = game.coin.after(play.move, committed, play.share, size)
        except RefereeRefusal as error:
            if lying:
                return settled
            raise IllegalMove(
                f"the game {rules.name}: its player's own move at {before.validator} breaks {error}"
            ) from None
        after = game.after(coin, step, play.memory)
        player = player_after(player, after.position, play.memory)
        wire = Move(game.id, play.move, play.share, size, committed)
        return OwnAction(wire, after, Acted(game.id, action, before, after.position, player))

    def can_play(self, game: LiveGame) -> bool:
        """True if we have all secrets of a game: those of its deck are erased when it is final."""
        return game.terms.deck is None or self._deck(game.terms.deck) is not None

    def _deck(self, shared: SharedDeck) -> FinishedDeck | None:
        """The deck of a game as we hold it."""
        return next((one for one in self.decks.values() if one.deck == shared.deck_id), None)

    def with_decks(self, decks: Mapping[int, FinishedDeck]) -> Endpoint:
        """The endpoint with these decks and no others."""
        public = {number: replace(deck, own_locks=()) for number, deck in decks.items()}
        return replace(self, decks=decks, channel=replace(self.channel, decks=public))

    def started(self, group: Group) -> list[GameStarted]:
        """Start the games of an accepted proposal: each at its first coin, with our seat in it."""
        games = [first_game(self.channel, group.proposer, offer) for offer in group.offers]
        return [GameStarted(game, self.new_player(game)) for game in games]

    def funding_push(self, bundle: Bundle, deadline: int) -> Push:
        """The push of the funding, which has to be confirmed before this height."""
        return Push("funding", bundle, self.channel.contributions[self.side], deadline)

    def settled(self, ended: Settled) -> GameSettled:
        """The news of a game that was settled off chain."""
        ours, theirs = ended.payouts[self.side], ended.payouts[self.side.other]
        return GameSettled(ended.game.id, ended.by is self.side, ours, theirs)

    def cancelled(self, group: Group, reason: str) -> Cancelled:
        """The news of a proposal that ended without a game."""
        return Cancelled(group, group.proposer is self.side, reason)
