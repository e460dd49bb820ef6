"""The player of one side: it proposes and accepts the hands agreed on, decides, and closes.

The sides propose in turn, the initiator first, and whoever would propose the next hand asks for the
shutdown when there is none. The receiver prepares the deck of the next hand during the one before.
All of that follows from the states, so that a player that is restarted goes on where it was: hands
are counted by the games that were accepted, whatever the ids of their proposals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Close,
    Command,
    PrepareDeck,
    Proposed,
    ProposeGames,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.proposals import Wish, by_spacing, least_timeout
from channelsim.channel.protocol.state import Group, Side
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.session.agreed_hands import (
    DECLINED,
    MOST_PROPOSALS,
    BegunHands,
    HandCounter,
    end_of_hands,
)
from channelsim.channel.session.questions import Deciding, take_turn
from channelsim.channel.session.setup import Setup, policy_of
from channelsim.clsp.values import tree_hash
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Parameters, Player

PATIENCE = 60
"""Blocks without a live game or an open proposal after which a side asks for the shutdown."""

Accepting = Callable[[int], bool]
"""Whether to play the hand of this number, counted from 0."""


def by_policy(name: str, secret: bytes) -> Deciding:
    """Decide by a game's policy of this name.

    What is left to chance follows from the secret and the position: asked again after a restart,
    the player decides the same.
    """

    def decide(game: str, game_id: int, player: Player) -> Action:
        position = player.position
        state = tree_hash(position.state.value()).hex() if position.state else ""
        labels = (game_id, position.validator or "", state, position.move.hex())
        return policy_of(game, name)(player, Chance(derive(secret, "policy", *labels)))

    return decide


@dataclass(slots=True)
class SidePlayer:
    """One side's player. `decide` may take its time; everything else answers at once."""

    setup: Setup
    peer: Peer
    decide: Deciding
    accepts: Accepting = lambda number: True
    idle_since: int | None = None
    counter: HandCounter = field(default_factory=HandCounter)

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Answer a question of the peer; None if it needs no answer any more.

        May block, and only reads the peer.
        """
        match question:
            case Proposed(group):
                reason = self._refusal(group)
                return CancelGames(group.id, reason) if reason else AcceptGames(group.id)
            case YourTurn(game_id):
                return take_turn(self.peer, game_id, self.decide)

    def next_command(self) -> Command | None:
        """Prepare a deck, propose the next hand or ask for the shutdown, when that is up to us."""
        peer, side = self.peer, self.peer.config.side
        if peer.phase is not Phase.PLAYING:
            return None
        play, peak, begun = peer.play, peer.state.block.peak, self._begun()
        number = begun.hands
        if self._lacks_deck(begun):
            return PrepareDeck()
        if play.state.games or play.state.groups or play.queue or play.closing:
            self.idle_since = None
            return None
        self.idle_since = peak if self.idle_since is None else min(self.idle_since, peak)
        if peak - self.idle_since > PATIENCE:
            return Close()
        if number % 2 != side:
            # The other side proposes or closes; unless it proposes what we refuse without end.
            endless = begun.proposals(play.state, side.other) > MOST_PROPOSALS
            return Close() if endless else None
        if end_of_hands(self.setup, play, begun, side) is not None:
            return Close()
        return self._propose(number)

    def _begun(self) -> BegunHands:
        return self.counter.begun(self.peer.play.history)

    def _propose(self, number: int) -> Command | None:
        setup, name = self.setup, self.setup.game(number)
        if registry.get(name).deck_positions and not self.peer.play.decks.ready:
            return None
        first = setup.first(number, name) == self.peer.config.side
        return ProposeGames((Wish(name, self._parameters(name), setup.game_timeout, first),))

    def _parameters(self, name: str) -> Parameters:
        """The parameters of the next hand, with what earlier ones left to it."""
        parameters, carry = self.setup.parameters(name), registry.get(name).carry
        if carry is None:
            return parameters
        return carry.add(parameters, carried(self.peer.play.history))

    def _lacks_deck(self, begun: BegunHands) -> bool:
        """True if this side, the receiver, has to start the deck of the next hand."""
        play = self.peer.play
        if self.peer.config.side is not Side.RECEIVER or self.peer.state.resuming:
            return False
        # The hand that is proposed now has its deck.
        number = begun.hands + bool(play.state.groups)
        if play.closing or number >= self.setup.hands or play.decks.decks or play.decks.is_full:
            return False
        if not registry.get(self.setup.game(number)).deck_positions:
            return False
        return end_of_hands(self.setup, play, begun, Side.RECEIVER) is None

    def _refusal(self, group: Group) -> str:
        """The reason not to play a proposal; empty for the hand agreed on."""
        setup, play, begun = self.setup, self.peer.play, self._begun()
        number, offers = begun.hands, group.offers
        if number >= setup.hands:
            return "all hands are played"
        if play.state.games or any(isinstance(one, AcceptGames) for one in play.queue):
            return "one hand at a time"
        if group.proposer is not Side(number % 2):
            return "it is the other side's turn to propose"
        name = setup.game(number)
        if len(offers) != 1 or offers[0].game != name:
            return f"the next hand is one of {name}"
        offer = offers[0]
        if offer.proposer_is_alice != (setup.first(number, name) == group.proposer):
            return "other seats than those agreed on"
        if offer.parameters != self._parameters(name):
            return "other parameters than those agreed on"
        agreement = self.peer.config.agreement
        least = least_timeout(name, agreement.confirmations, agreement.spacing)
        most = max(least, setup.game_timeout)
        if not least <= offer.timeout <= most:
            blocks = counted(offer.timeout, "block")
            return f"a timeout of {blocks}: from {least} to {most}{by_spacing(agreement.spacing)}"
        if begun.proposals(play.state, group.proposer) > MOST_PROPOSALS:
            return f"more than {MOST_PROPOSALS} ids were used for hand {number + 1}"
        refusal = play.refusal
        if refusal is not None and refusal.by is not group.proposer and not refusal.deck_lost:
            return refusal.reason  # it was refused before
        return "" if self.accepts(number) else DECLINED


def carried(history: StateHistory) -> int:
    """What the newest hand of a game that may leave money to the next one left, in mojos."""
    for link in history:
        for game in link.state.games:
            carry = registry.get(game.terms.game).carry
            if carry is not None:
                before = game.before
                return carry.left(game.terms, before.position, game.position) if before else 0
    return 0
