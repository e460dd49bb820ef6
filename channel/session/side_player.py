"""The player of one side: it proposes and accepts the hands agreed on, decides, and closes.

The sides propose in turn, the initiator first, and whoever would propose the next hand asks for the
shutdown when there is none; so does who declines one. The receiver prepares the deck of the next
hand during the one before. All of that follows from the states, so that a player that is restarted
goes on where it was: hands are counted by the games that were accepted, whatever the ids of their
proposals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
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
    DECLINES,
    GAVE_UP,
    MOST_PROPOSALS,
    BegunHands,
    EndOfHands,
    HandCounter,
    decliner,
    end_of_hands,
)
from channelsim.channel.session.picks import Pick
from channelsim.channel.session.questions import Deciding, take_turn
from channelsim.channel.session.setup import NAMES, Setup, policy_of
from channelsim.clsp.values import tree_hash
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Parameters, Player

PATIENCE = 60
"""Blocks without a live game, or since its own proposal, after which a side asks for the
shutdown: no rule makes the other side answer a proposal."""

Accepting = Callable[[int], bool]
"""Whether to play the hand of this number, counted from 0."""

Choosing = Callable[[int], Pick | None]
"""Names the game of the hand of this number that this side deals; None for no more hands."""


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
    """One side's player. `decide`, `accepts` and `choose` may take their time.

    By default the dealer names the games of the list in turn. Unless it `prepares` decks, another
    provides one for each proposal that needs it. `end` is the reason for which it asked for the
    shutdown. `idle_since` is the height since which nothing happens, and `proposed` are its own
    proposals that are open.
    """

    setup: Setup
    peer: Peer
    decide: Deciding
    accepts: Accepting = lambda number: True
    choose: Choosing | None = None
    prepares: bool = True
    idle_since: int | None = None
    proposed: tuple[int, ...] = ()
    counter: HandCounter = field(default_factory=HandCounter)
    end: EndOfHands | None = None

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Answer a question of the peer; None if it needs no answer any more.

        May block, and only reads the peer.
        """
        match question:
            case Proposed() if self.peer.phase is not Phase.PLAYING:
                return None
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
        if self._lacks_deck(begun):
            return PrepareDeck()
        proposed = tuple(group.id for group in play.state.groups if group.proposer is side)
        answers = len(proposed) < len(play.state.groups)
        if proposed != self.proposed:
            self.proposed, self.idle_since = proposed, None
        if play.state.games or answers or play.queue or play.closing:
            self.idle_since = None
            return None
        self.idle_since = peak if self.idle_since is None else min(self.idle_since, peak)
        waited, declined = peak - self.idle_since, decliner(play)
        if proposed:
            return self._close(EndOfHands(GAVE_UP, False)) if waited > PATIENCE else None
        end = end_of_hands(self.setup, play, begun, side)
        proposes = begun.hands % 2 == side
        if declined is not None:
            # Who does not want the hand closes; the other side does, if no shutdown comes.
            closes = declined is side or waited > 0
        elif proposes:
            closes = end is not None
        else:
            # The other side proposes or closes; unless it proposes what we refuse without end.
            closes = begun.proposals(play.state, side.other) > MOST_PROPOSALS
        if closes or waited > PATIENCE:
            return self._close(end or EndOfHands(GAVE_UP, False))
        return self._propose(begun) if proposes and end is None else None

    def decks_needed(self, hands: int) -> int:
        """Count the decks for this many hands after those that began or are proposed."""
        setup, first = self.setup, self._begun().hands + bool(self.peer.play.state.groups)
        coming = map(setup.named, range(first, min(setup.hands, first + hands)))
        return sum(any(registry.get(name).deck_positions for name in games) for games in coming)

    def _begun(self) -> BegunHands:
        return self.counter.begun(self.peer.play.history)

    def _close(self, end: EndOfHands) -> Command:
        self.end = end
        return Close()

    def _propose(self, begun: BegunHands) -> Command | None:
        setup, number, side = self.setup, begun.hands, self.peer.config.side
        if setup.script is not None and begun.proposals(self.peer.play.state, side):
            # The ids of later games are no longer the numbers of the script's hands.
            raise UsageError(f"the deck of hand {number + 1} was lost: its script no longer fits")
        pick = self.choose(number) if self.choose else Pick(setup.game(number))
        if pick is None:
            return self._close(EndOfHands(f"the {NAMES[side]} names no other game", True))
        lacks_deck = registry.get(pick.game).deck_positions and not self.peer.play.decks.ready
        if self.prepares and lacks_deck:
            return None
        first = setup.first(number, pick.game) == side
        wish = Wish(pick.game, self._parameters(pick), setup.game_timeout, first)
        return ProposeGames((wish,))

    def _parameters(self, pick: Pick) -> Parameters:
        """The parameters of the next hand, with what earlier ones left to it."""
        parameters = self.setup.parameters(pick.game, pick.limit)
        carry = registry.get(pick.game).carry
        if carry is None:
            return parameters
        return carry.add(parameters, carried(self.peer.play.history))

    def _lacks_deck(self, begun: BegunHands) -> bool:
        """True if this side, the receiver, has to start the deck of the next hand."""
        play, side = self.peer.play, self.peer.config.side
        prepares = self.prepares and side is Side.RECEIVER and not self.peer.state.resuming
        if not prepares or play.closing or play.decks.decks or play.decks.is_full:
            return False
        # The hand that is proposed now has its deck.
        return self.decks_needed(1) > 0 and end_of_hands(self.setup, play, begun, side) is None

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
        games = setup.named(number)
        if len(offers) != 1 or offers[0].game not in games:
            return f"the next hand is one of {' or '.join(games)}"
        offer, name = offers[0], offers[0].game
        if offer.proposer_is_alice != (setup.first(number, name) == group.proposer):
            return "other seats than those agreed on"
        limits = (None, *(registry.get(name).limits if setup.dealer_chooses else ()))
        if offer.parameters not in [self._parameters(Pick(name, limit)) for limit in limits]:
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
        return "" if self.accepts(number) else DECLINES[self.peer.config.side]


def carried(history: StateHistory) -> int:
    """What the newest hand of a game that may leave money to the next one left, in mojos."""
    for link in history:
        for game in link.state.games:
            carry = registry.get(game.terms.game).carry
            if carry is not None:
                before = game.before
                return carry.left(game.terms, before.position, game.position) if before else 0
    return 0
