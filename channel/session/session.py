"""A session: two honest peers on one node play hands in turn, and close the channel cleanly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.errors import Blame, InvariantError, UsageError
from channelsim.channel.peer.agreement import Agreement
from channelsim.channel.peer.chain_news import ChannelClosed
from channelsim.channel.peer.decks.pool import MOST_DECKS
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    BrokenOff,
    CancelGames,
    Cancelled,
    ChannelOpen,
    Close,
    Command,
    NearLimit,
    News,
    OpeningFailed,
    OwnFault,
    Proposed,
    ProposeGames,
    YourTurn,
)
from channelsim.channel.peer.limits import Limits
from channelsim.channel.peer.machine import Config, Peer, Phase
from channelsim.channel.peer.play.play_state import LOST_DECK
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import MOST_PROPOSALS
from channelsim.channel.session.dealers import (
    Dealer,
    DecksAhead,
    SimulatedDealer,
    deck_settings,
)
from channelsim.channel.session.deck_works import DeckThreads, seeded_secrets
from channelsim.channel.session.driver import Delivery, Driver
from channelsim.channel.session.hands import HandTracker
from channelsim.channel.session.identity import (
    fund_wallet,
    make_config,
    node_seed,
    policy_chance,
    secret_of,
)
from channelsim.channel.session.peer_driver import Actor, DrivenPeer
from channelsim.channel.session.picks import Pick
from channelsim.channel.session.result import Checks, Result, find_rewards, is_conserved
from channelsim.channel.session.script import Script
from channelsim.channel.session.session_events import (
    Answered,
    ChannelFunded,
    Chosen,
    Closed,
    Decided,
    HandEnded,
    Listener,
    NewsFor,
    NoMoreHands,
    SessionEvent,
)
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Player

PATIENCE = 100
"""Blocks in a row without a message or a command after which a session is stuck: a bug."""

BATCHES_PER_HAND = 100
"""Batches for which each hand of a session has room; no game takes more."""

Decider = Callable[[str, int, Player, Chance], Action]
"""Decides for a player (by name, in the hand of this number, counted from 0)."""

Answerer = Callable[[str, int], bool]
"""Answers for a player (by name) if it accepts the hand of this number."""


Chooser = Callable[[str, int, Chance], Pick | None]
"""Names the game for a player (by name) that deals the hand of this number; None for no more."""


class SessionBroken(Exception):
    """A peer broke off; `news` has whom it blames, and the state that it publishes."""

    def __init__(self, name: str, news: BrokenOff) -> None:
        super().__init__(str(news.blame))
        self.name = name
        self.news = news


class Session:
    """Plays the hands of its setup. Call `run` once; listeners receive every event.

    `wrap` may put something in the place of each peer. With a `simulated_dealer` the peers are
    given their decks, and prepare none. `choose` names the games if the dealer chooses them.
    `delivery` is between the peers and their node, and between the two. By default, all hands fit
    into the `limits` of the peers.
    """

    def __init__(
        self,
        setup: Setup,
        decide: Decider,
        answer: Answerer,
        listeners: Sequence[Listener] = (),
        chain: FarmableChain | None = None,
        wrap: Callable[[Peer], Actor] = lambda peer: peer,
        *,
        simulated_dealer: bool = False,
        choose: Chooser | None = None,
        delivery: Delivery | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._setup = setup
        self._choose = choose
        self._decide = decide
        self._answer = answer
        seed = setup.seed.encode()
        self._chain = chain or node_of(setup)
        self._chances = tuple(policy_chance(seed, side) for side in Side)
        self._peers = _make_peers(setup, self._chain, limits or room_for(setup.hands))
        initiator, receiver = (
            DrivenPeer(peer.config.name, wrap(peer), pays_fees=peer.config.fees is not None)
            for peer in self._peers
        )
        self._threads = DeckThreads(seeded_secrets(seed))
        self._driver = Driver(
            self._chain,
            (initiator, receiver),
            (*listeners, self._on_event),
            delivery,
            compute_deck=self._threads,
        )
        self._dealer: Dealer = (
            SimulatedDealer(self._driver, self._peers, seed)
            if simulated_dealer
            else DecksAhead(self._driver, self._peers, self._decks_needed)
        )
        self._hands = HandTracker(self._driver.notify, self._balances)
        self._proposed = 0
        self._lost_decks = 0
        self._hand_is_open = False
        self._carried = 0
        self._declined = ""
        self._failed = ""
        self._closing = ""

    def run(self) -> Result:
        """Play it all. Raises `SessionBroken`, or `UsageError` for an impossible script."""
        try:
            return self._run()
        finally:
            self._threads.close()

    def _run(self) -> Result:
        self._driver.start()
        idle = 0
        while not all(peer.phase is Phase.CLOSED for peer in self._peers):
            if self._driver.deliver() or self._ask_player() or self._propose_or_close():
                idle = 0
                continue
            idle += 1
            if idle > PATIENCE:
                phases = ", ".join(f"{one.config.name} in {one.phase.value}" for one in self._peers)
                raise InvariantError(f"nothing happened for {PATIENCE} blocks: {phases}")
            self._driver.farm()
        return self._result()

    # --- the players ---

    def _ask_player(self) -> bool:
        asked = self._driver.next_question()
        if asked is None:
            return False
        side, question = Side(asked[0]), asked[1]
        command: Command
        match question:
            case Proposed(group):
                if self._peers[side].phase is not Phase.PLAYING:
                    return True  # its peer has asked for the shutdown instead
                command = self._answer_proposal(side, group.id)
            case YourTurn(game_id):
                command = self._take_turn(side, game_id)
            case _:
                assert_never(question)
        self._driver.handle(side, command)
        return True

    def _answer_proposal(self, side: Side, group_id: int) -> Command:
        name, number = NAMES[side], self._proposed - 1
        closing = self._peers[side].play.closing
        accepts = not closing and self._answer(name, number)
        self._driver.notify(Answered(name, number, accepts))
        return AcceptGames(group_id) if accepts else CancelGames(group_id, f"{name} declines")

    def _take_turn(self, side: Side, game_id: int) -> Command:
        name, player = NAMES[side], self._peers[side].player(game_id)
        if player is None:
            raise InvariantError(f"{name} has no seat in game {game_id}")
        number = self._hands.number(game_id)
        action = self._dealer.meanwhile(
            lambda: self._decide(name, number, player, self._chances[side])
        )
        self._driver.notify(Decided(name, game_id, action))
        return Act(game_id, action)

    def _propose_or_close(self) -> bool:
        """Propose the next hand, or ask for the shutdown, if the peers have nothing else to do."""
        playing = all(peer.phase is Phase.PLAYING for peer in self._peers)
        if self._hand_is_open or self._closing or not playing:
            return False
        proposer = self._proposed % 2
        setup, number = self._setup, self._proposed
        self._closing = self._why_stop()
        pick = None if self._closing else self._pick(Side(proposer), number)
        if pick is None:
            self._driver.notify(NoMoreHands(self._closing))
            self._driver.handle(proposer, Close())
            return True
        game = registry.get(pick.game)
        parameters = setup.parameters(pick.game, pick.limit)
        if game.carry is not None:
            parameters = game.carry.add(parameters, self._carried)
        if game.deck_positions:
            self._dealer.provide()
        moves_first = setup.first(number, pick.game) == proposer
        wish = Wish(pick.game, parameters, setup.game_timeout, moves_first)
        self._hand_is_open = True
        self._proposed += 1
        self._driver.handle(proposer, ProposeGames((wish,)))
        return True

    def _pick(self, dealer: Side, number: int) -> Pick | None:
        """The game of the next hand; None, with the reason, if its dealer wants no more hands."""
        if not self._setup.dealer_chooses:
            return Pick(self._setup.game(number))
        if self._choose is None:
            raise InvariantError("nobody chooses for the dealer")
        name, chance = NAMES[dealer], self._chances[dealer]
        pick = self._choose(name, number, chance)
        game, limit = (None, None) if pick is None else (pick.game, pick.limit)
        self._driver.notify(Chosen(name, number, game, limit))
        if pick is None:
            self._closing = f"{name} names no other game"
        return pick

    def _decks_needed(self) -> int:
        """Count the decks that the coming hands need, at most as many as there may be."""
        setup, first = self._setup, self._proposed
        if setup.dealer_chooses:
            # What will be chosen is unknown: only a list of games with decks tells.
            always = all(registry.get(name).deck_positions for name in setup.games)
            return min(setup.hands - first, MOST_DECKS) if always else 0
        coming = range(first, min(setup.hands, first + MOST_DECKS * len(setup.games)))
        needing = [n for n in coming if registry.get(setup.game(n)).deck_positions]
        return min(len(needing), MOST_DECKS)

    def _why_stop(self) -> str:
        if self._declined or self._failed:
            return self._declined or self._failed
        if self._proposed >= self._setup.hands:
            return "all hands are played"
        stakes = self._setup.stakes(self._proposed)
        for name, balance, stake in zip(NAMES, self._balances(), stakes, strict=True):
            if balance < stake:
                left = counted(balance, "mojo")
                return f"{name}'s balance of {left} no longer covers the stake"
        return ""

    # --- events ---

    def _on_event(self, event: SessionEvent) -> None:
        match event:
            case NewsFor(name, news):
                side = Side(NAMES.index(name))
                self._on_news(side, news)
                self._hands.follow(side, news)
            case HandEnded(_, name, hand):
                self._hand_is_open = False
                self._lost_decks = 0
                if (carry := registry.get(name).carry) is not None:
                    last = next(step for step in reversed(hand.steps) if not step.before.over)
                    self._carried = carry.left(hand.terms, last.before, last.after)
            case _:
                pass

    def _on_news(self, side: Side, news: News) -> None:
        match news:
            case ChannelOpen(coin, height) if side is Side.RECEIVER:
                self._driver.notify(ChannelFunded(coin, height, self._balances()))
            case Cancelled(group, True, reason):
                self._hand_is_open = False
                if group.decks() and reason.startswith(LOST_DECK):
                    self._on_lost_deck()
                else:
                    self._declined = reason
            case NearLimit(limit) if not self._closing:
                self._closing = f"the channel is near its limit of {limit}"
                self._driver.notify(NoMoreHands(self._closing))
            case BrokenOff():
                raise SessionBroken(NAMES[side], news)
            case OwnFault(reason):
                raise InvariantError(f"the {NAMES[side]} broke off by its own fault: {reason}")
            case OpeningFailed(deadline):
                detail = f"no funding by height {deadline}"
                blame = Blame(NAMES[side.other], "the funding", "CH-OPEN-7", detail)
                raise SessionBroken(NAMES[side], BrokenOff(blame, None))
            case ChannelClosed(_, height) if self._peers[side.other].phase is Phase.CLOSED:
                self._driver.notify(Closed(find_rewards(self._chain, self._configs()), height))
            case _:
                pass

    def _on_lost_deck(self) -> None:
        """Have the hand proposed again, with another deck, unless that was done often enough."""
        self._proposed -= 1
        self._lost_decks += 1
        number = self._proposed + 1
        if self._setup.script is not None:
            # The ids of later games are no longer the numbers of the script's hands.
            raise UsageError(f"the deck of hand {number} was lost: its script no longer fits")
        if self._lost_decks >= MOST_PROPOSALS:
            lost = counted(self._lost_decks, "time")
            self._failed = f"hand {number} was proposed {lost}, and its deck was lost"

    # --- the result ---

    def _balances(self) -> tuple[int, int]:
        return self._peers[Side.INITIATOR].play.state.balances

    def _configs(self) -> tuple[Config, Config]:
        initiator, receiver = self._peers
        return initiator.config, receiver.config

    def _result(self) -> Result:
        endpoint = self._peers[Side.INITIATOR].state.endpoint
        if endpoint is None:
            raise InvariantError("a session without a channel")
        configs, balances, hands = self._configs(), self._balances(), self._hands
        rewards = find_rewards(self._chain, configs)
        conserved = is_conserved(self._chain, configs, balances, rewards)
        return Result(
            hands=tuple(hands.finished),
            balances=balances,
            channel_coin=endpoint.channel.coin,
            rewards=rewards,
            checks=Checks(hands.moves, not hands.disagreements, conserved, hands.moves_by_rules),
            disagreements=tuple(hands.disagreements),
            reason=self._closing,
            excused=not self._failed,
        )


def node_of(setup: Setup) -> SimulatedChain:
    """The embedded node of a session."""
    return SimulatedChain(node_seed(setup.seed.encode()), NodeSettings(mixed=setup.mixed))


def room_for(hands: int) -> Limits:
    """The limits of peers into whose channel so many hands fit; the usual ones for a few."""
    states, usual = BATCHES_PER_HAND * hands, Limits()
    if states <= usual.states // 2:
        return usual
    return Limits(states, usual.bytes * states // usual.states, demonstration=True)


def _make_peers(setup: Setup, chain: FarmableChain, limits: Limits) -> tuple[Peer, Peer]:
    agreement = Agreement(
        (setup.balance, setup.balance),
        setup.unroll_timeout,
        setup.confirmations,
        decks=deck_settings(setup.games),
        spacing=setup.spacing,
    )

    def make(side: Side) -> Peer:
        seed = setup.seed.encode()
        config = make_config(seed, side, chain, agreement)
        if most := setup.max_fees or setup.max_fee:
            wallet = fund_wallet(secret_of(seed, side), "fees", chain, most)
            config = replace(config, fees=Fees(wallet, setup.max_fee, setup.max_fees))
        entropy = scripted(setup.script, side, config.entropy)
        return Peer(replace(config, entropy=entropy, limits=limits))

    return make(Side.INITIATOR), make(Side.RECEIVER)


def scripted(
    script: Script | None, side: Side, derived: Callable[[int], bytes]
) -> Callable[[int], bytes]:
    """The entropy of a peer's games: what the script fixes, and otherwise what is derived."""

    def entropy(game_id: int) -> bytes:
        # Proposers alternate, and a proposal is one game: the ids of the games are 0, 1, 2, …,
        # unless a hand is proposed again, which ends a session with a script.
        if script is not None and game_id < len(script.hand):
            fixed = script.hand[game_id].entropy(NAMES[side])
            if fixed is not None:
                return fixed
        return derived(game_id)

    return entropy
