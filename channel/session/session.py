"""A session: two honest peers on one node play hands in turn, and close the channel cleanly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.errors import Blame, InvariantError
from channelsim.channel.peer.chain_news import ChannelClosed, GameEnded
from channelsim.channel.peer.decks.pool import MOST_DECKS
from channelsim.channel.peer.interface import (
    BrokenOff,
    ChannelOpen,
    Close,
    GameSettled,
    NearLimit,
    News,
    OpeningFailed,
    OwnFault,
)
from channelsim.channel.peer.limits import Limits
from channelsim.channel.peer.machine import Config, Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import EndOfHands
from channelsim.channel.session.dealers import (
    Dealer,
    DecksAhead,
    SimulatedDealer,
)
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.deck_works import DeckThreads, seeded_secrets
from channelsim.channel.session.driver import Delivery, Driver
from channelsim.channel.session.hands import HandTracker
from channelsim.channel.session.identity import (
    make_config,
    node_seed,
)
from channelsim.channel.session.peer_driver import Actor, DrivenPeer
from channelsim.channel.session.picks import Pick
from channelsim.channel.session.players import Players
from channelsim.channel.session.result import Checks, Result, find_rewards, is_conserved
from channelsim.channel.session.script import Script
from channelsim.channel.session.session_events import (
    Answered,
    ChannelFunded,
    Chosen,
    Closed,
    Handled,
    Listener,
    NewsFor,
    NoMoreHands,
    SessionEvent,
)
from channelsim.channel.session.setup import NAMES, Setup
from channelsim.channel.session.side_player import SidePlayer
from channelsim.games.contract import Action, Player

PATIENCE = 100
"""Blocks in a row without a message or a command after which a session is stuck: a bug."""

BATCHES_PER_HAND = 100
"""Batches for which each hand of a session has room; no game takes more."""


class SessionBroken(Exception):
    """A peer broke off; `news` has whom it blames, and the state that it publishes."""

    def __init__(self, name: str, news: BrokenOff) -> None:
        super().__init__(str(news.blame))
        self.name = name
        self.news = news


class Session:
    """Plays the hands of a setup as its deciders want; listeners receive all events.

    Call `run` once. `wrap` may put something in the place of each peer. With a `simulated_dealer`
    the peers are given their decks, and prepare none. `delivery` is between the peers and their
    node, and between the two. By default, all hands fit into the `limits` of the peers.
    """

    def __init__(
        self,
        deciders: Deciders,
        listeners: Sequence[Listener] = (),
        chain: FarmableChain | None = None,
        wrap: Callable[[Peer], Actor] = lambda peer: peer,
        *,
        simulated_dealer: bool = False,
        delivery: Delivery | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._deciders, setup = deciders, deciders.setup
        seed = setup.seed.encode()
        self._chain = chain or node_of(setup)
        self._peers = _make_peers(setup, self._chain, limits or room_for(setup.hands))
        initiator, receiver = (
            DrivenPeer(peer.config.name, wrap(peer), pays_fees=peer.config.fees is not None)
            for peer in self._peers
        )
        self._threads = DeckThreads(seeded_secrets(seed))
        self._driver = Driver(
            self._chain,
            (initiator, receiver),
            (deciders, *listeners, self._on_event),
            delivery,
            compute_deck=self._threads,
        )
        self._hands = HandTracker(self._driver.notify, self._balances)
        self._sides = [self._player(side) for side in Side]
        ahead, hands = self._sides[Side.RECEIVER].decks_needed, MOST_DECKS * len(setup.games)
        dealer: Dealer = (
            SimulatedDealer(self._driver, self._peers, seed)
            if simulated_dealer
            else DecksAhead(self._driver, self._peers, partial(ahead, hands))
        )
        self._players = Players(self._driver, self._sides, dealer)
        self._end: EndOfHands | None = None

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
            if self._driver.deliver() or self._players.ask() or self._act():
                idle = 0
                continue
            idle += 1
            if idle > PATIENCE:
                phases = ", ".join(f"{one.config.name} in {one.phase.value}" for one in self._peers)
                raise InvariantError(f"nothing happened for {PATIENCE} blocks: {phases}")
            self._driver.farm()
        return self._result()

    # --- the players ---

    def _player(self, side: Side) -> SidePlayer:
        """The player of this side: its deciders decide, and listeners hear of it."""
        name, peer, deciders = NAMES[side], self._peers[side], self._deciders

        def decide(game: str, game_id: int, player: Player) -> Action:
            return deciders.decide(name, self._hands.number(game_id), player)

        def accepts(number: int) -> bool:
            accepted = not peer.play.closing and deciders.answer(name, number)
            self._driver.notify(Answered(name, number, accepted))
            return accepted

        def choose(number: int) -> Pick | None:
            pick = deciders.choose(name, number)
            game, limit = (pick.game, pick.limit) if pick else (None, None)
            self._driver.notify(Chosen(name, number, game, limit))
            return pick

        chooses = choose if deciders.setup.dealer_chooses else None
        return SidePlayer(deciders.setup, peer, decide, accepts, chooses, prepares=False)

    def _act(self) -> bool:
        """Let a player propose the next hand, or ask for the shutdown, once both play."""
        both = all(peer.phase is Phase.PLAYING for peer in self._peers)
        return both and self._end is None and self._players.act()

    def _stop(self, end: EndOfHands) -> None:
        self._end = end
        self._driver.notify(NoMoreHands(end.reason))

    # --- events ---

    def _on_event(self, event: SessionEvent) -> None:
        match event:
            case NewsFor(_, GameEnded() | GameSettled(by_us=True)):
                pass  # the side that did not settle hears of it last: then both agree
            case NewsFor(name, news):
                side = Side(NAMES.index(name))
                self._on_news(side, news)
                self._hands.follow(side, news)
            case Handled(name, Close()):
                end = self._sides[NAMES.index(name)].end
                if end is not None:
                    self._stop(end)
            case _:
                pass

    def _on_news(self, side: Side, news: News) -> None:
        match news:
            case ChannelOpen(coin, height) if side is Side.RECEIVER:
                self._driver.notify(ChannelFunded(coin, height, self._balances()))
            case NearLimit(limit) if self._end is None:
                self._stop(EndOfHands(f"the channel is near its limit of {limit}", True))
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

    # --- the result ---

    def _balances(self) -> tuple[int, int]:
        return self._peers[Side.INITIATOR].play.state.balances

    def _configs(self) -> tuple[Config, Config]:
        initiator, receiver = self._peers
        return initiator.config, receiver.config

    def _result(self) -> Result:
        endpoint = self._peers[Side.INITIATOR].state.endpoint
        if endpoint is None or self._end is None:
            raise InvariantError("a session without a channel")
        if self._hands.lost:
            raise InvariantError("a move that no player made")
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
            reason=self._end.reason,
            excused=self._end.excused,
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
    def make(side: Side) -> Peer:
        fees = setup.max_fee, setup.max_fees
        config = make_config(setup.seed.encode(), side, chain, setup.agreement, *fees)
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
