"""Play one scenario: two peers on one node, one of them perhaps an adversary.

Games are proposed by a schedule. It ends when the honest side has everything it is entitled to. The
same scenario gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from channelsim.channel.adversaries.base import Adversary, Rewind
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.interface import (
    Acted,
    ChannelOpen,
    Close,
    GameSettled,
    GameStarted,
    Moved,
    ProposeGames,
)
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.proposals import needs_deck
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import HandCounter
from channelsim.channel.session.dealers import SimulatedDealer
from channelsim.channel.session.deck_works import on_demand, seeded_secrets
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.identity import node_seed
from channelsim.channel.session.peer_driver import DrivenPeer
from channelsim.channel.session.players import Players, WillingPlayer
from channelsim.channel.session.questions import PlayerOfPeer
from channelsim.channel.session.session_events import Listener, NewsFor, Pushed, SessionEvent
from channelsim.channel.session.setup import policy_of
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.simulation.crowd import CROWDED, CrowdedChain, CrowdSize
from channelsim.channel.simulation.deadlines import deadlines
from channelsim.channel.simulation.parties import Wrap, make_parties, peer_itself
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.run import Run, RunLog
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.channel.simulation.schedule import Schedule
from channelsim.channel.simulation.session_processes import SessionProcesses
from channelsim.channel.simulation.weather import Weather
from channelsim.games.chance import Chance
from channelsim.games.deck.work import LAST_STEP

LIMIT = 600
"""Blocks after which a run is given up, multiplied by the spacing; the promise of liveness is
broken long before."""

PATIENCE = 30
"""Blocks without progress, whatever was sent, after which the honest player closes."""

ENOUGH = 60
"""Blocks after the newest proposal of the schedule after which the honest player closes."""

PROGRESS = (ChannelOpen, GameStarted, Acted, Moved, GameSettled)
"""News for which the honest player waits a little longer."""

OPENING = ("funding",)
"""Spends of the opening: the crowd of a scenario comes with a later one of the honest side."""

AFTERWARDS = 8
"""Blocks that an adversary still has once the honest side is done, multiplied by the spacing."""


SLOWNESS = 12
"""A step of a deck that agreed players prepare is finished before one in so many messages and
decisions, on average."""


class Arena:
    """Plays one scenario. Call `run` once; listeners receive every event.

    `node` makes another chain than the scenario's from a seed; `wrap` may put something in the
    place of a peer that is no adversary's. With `apart`, the node and both sides are processes of
    their own, and neither of these two applies.
    """

    def __init__(
        self,
        scenario: Scenario,
        listeners: Sequence[Listener] = (),
        node: Callable[[int], FarmableChain] | None = None,
        wrap: Wrap | None = None,
        apart: SessionProcesses | None = None,
    ) -> None:
        self.scenario = scenario
        seed = scenario.seed.encode()
        node = node or partial(SimulatedChain, settings=NodeSettings(mixed=scenario.mixed))
        self.chain: FarmableChain = apart.chain if apart else node(node_seed(seed))
        self._crowd: CrowdedChain | None = None
        if scenario.crowd:
            size = CrowdSize(scenario.crowd, CROWDED)
            self._crowd = CrowdedChain(self.chain, derive(seed, "crowd"), size)
            self.chain = self._crowd
        sky = Chance(derive(seed, "weather", scenario.weather))
        self._weather = Weather(scenario, self.chain, sky, apart.push if apart else None)
        rewind: Rewind = self._weather.rewind
        if apart is not None:
            rewind, wrap = apart.rewinding(rewind), None
        self.parties = make_parties(scenario, self.chain, rewind, wrap or peer_itself)
        self._honest = self.parties[scenario.honest]
        self._weather.reorganisations.floor = self.chain.peak()
        self._begun_by = self.chain.peak() + scenario.confirmations + 2
        self._plan = Chance(derive(seed, "plan"))
        self._schedule = Schedule(scenario, self._plan)
        self._log = RunLog(self.chain, self.parties)
        actors = [
            apart.direct(party.peer.config, party.actor) if apart else party.actor
            for party in self.parties
        ]
        adversary = actors[scenario.side] if scenario.adversary else None
        self._adversary = adversary if isinstance(adversary, Adversary | RemoteActor) else None
        initiator, receiver = (
            DrivenPeer(party.name, actor, pays_fees=party.peer.config.fees is not None)
            for party, actor in zip(self.parties, actors, strict=True)
        )
        self._driver = Driver(
            self.chain,
            (initiator, receiver),
            (*listeners, self._log, self._on_event),
            self._weather,
            on_demand(seeded_secrets(seed)),
        )
        peers = (self.parties[0].peer, self.parties[1].peer)
        self._dealer = SimulatedDealer(self._driver, peers, seed)
        self._players = Players(self._driver, [self._player(side) for side in Side])
        self._closing = False
        self._quiet = 0
        self._waited = 0
        self._finished: list[int | None] = [None, None]

    def run(self) -> Run:
        """Play it all, to the last payout."""
        start = self.chain.peak()
        self._driver.start()
        rest = self.scenario.spacing * AFTERWARDS
        for _ in range(self.scenario.spacing * LIMIT):
            while self._between_blocks():
                # A block may come while messages are still on their way.
                if self._plan.chance(25):
                    break
            rest -= self._honest_done()
            if rest < 0:
                break
            self._next_block()
        return Run(
            self.scenario,
            self.chain,
            self.parties,
            tuple(self._log.delivered),
            self.chain.peak() - start,
            self._weather.reorganisations.count,
            (self._finished[0], self._finished[1]),
            frozenset(self._weather.struck),
        )

    def _player(self, side: Side) -> PlayerOfPeer:
        """The player of a side: of the hands agreed on, or of whatever is proposed."""
        scenario, party = self.scenario, self.parties[side]
        name = scenario.policies[side]
        if scenario.agreed:
            decide = by_policy(name, party.peer.config.secret)
            return SidePlayer(setup_of(scenario), party.peer, decide)
        return WillingPlayer(
            party.peer,
            lambda game, game_id, player: policy_of(game, name)(player, party.chance),
        )

    # --- between blocks ---

    def _between_blocks(self) -> bool:
        """Take the next step that needs no block; False if there is none."""
        if self.scenario.agreed:
            return self._agreed_step()
        return (
            self._reconnect()
            or self._propose_beside()
            or self._driver.deliver()
            or self._driver.finish_step()
            or self._players.ask()
            or self._propose_or_close()
        )

    def _agreed_step(self) -> bool:
        """Let a player act, a step of a deck be finished, or a message arrive; False for none.

        Steps of decks take their time, and play goes on meanwhile.
        """
        driver, chance = self._driver, self._plan
        if chance.below(2) and self._act():
            return True
        if self._is_held_up() or chance.below(SLOWNESS) == 0:
            return driver.finish_step() or driver.deliver() or self._act()
        return driver.deliver() or self._act() or driver.finish_step()

    def _act(self) -> bool:
        """Let a player act of its own accord, or answer; False if neither has to."""
        for player in self._players.players:
            if isinstance(player, SidePlayer):
                player.counter = HandCounter()  # it may have been killed with its peer
        return self._players.act() or self._players.ask()

    def _is_held_up(self) -> bool:
        """True if the next message waits for a last step of a deck, as a runner lets it wait."""
        if not self._driver.messages:
            return False
        state = self.parties[self._driver.messages[0][0]].peer.state
        decks = state.play.decks.decks.values() if state.play is not None else ()
        return any(deck.computing is not None and deck.computing[0] == LAST_STEP for deck in decks)

    def _reconnect(self) -> bool:
        """Let the adversary make a new connection."""
        if self._adversary is None or not self._adversary.breaks_connection():
            return False
        self._driver.reconnect()
        return True

    def _proposer(self) -> int | None:
        """The side that proposes now: first the adversary, later either; None if neither can."""
        honest, side = self.scenario.honest, self.scenario.side
        if self._honest.peer.phase is not Phase.PLAYING:
            return None
        if self.parties[side].peer.phase is not Phase.PLAYING:
            return honest
        return side if self._schedule.is_new or self._plan.below(2) else honest

    def _propose_beside(self) -> bool:
        """Propose the next of staggered games while others are being played."""
        if not self._schedule.is_due_beside_others():
            return False
        proposer = self._proposer()
        if proposer is None:
            return False
        self._propose(proposer)
        return True

    def _propose(self, proposer: int) -> None:
        """Propose the next games, with a deck for each that needs one, and one to spare."""
        wishes = self._schedule.take()
        self._waited = 0
        needed = sum(needs_deck(wish) for wish in wishes)
        for _ in range(needed and needed + 1 - len(self.parties[proposer].peer.play.decks.ready)):
            self._dealer.deal()
        self._players.command(proposer, ProposeGames(wishes))

    def _propose_or_close(self) -> bool:
        """Propose the next hand, or after the last one ask for the shutdown."""
        honest, peer = self.scenario.honest, self._honest.peer
        if peer.phase is not Phase.PLAYING:
            return False
        state = peer.play.state
        if self._schedule.is_due_after(state):
            proposer = self._proposer()
            if proposer is not None:
                self._propose(proposer)
            return True
        if self._quiet > PATIENCE:
            self._quiet = 0
            self._players.command(honest, Close())
            return True
        if self._schedule.is_over and not (self._closing or state.games or state.groups):
            self._closing = True
            both = self.parties[self.scenario.side].peer.phase is Phase.PLAYING
            other = self.scenario.side if both else honest
            self._players.command(honest if self._plan.below(2) else other, Close())
            return True
        return False

    def _lose_patience(self) -> None:
        """Close after a while, whatever the other side still wants."""
        peer = self._honest.peer
        if self._schedule.is_new or peer.phase is not Phase.PLAYING:
            return
        self._waited += 1
        if self._waited > ENOUGH and not peer.play.closing:
            self._players.command(self.scenario.honest, Close())

    def _on_event(self, event: SessionEvent) -> None:
        match event:
            case NewsFor(name, news) if name == self._honest.name:
                self._schedule.follow(news)
                if isinstance(news, PROGRESS):
                    self._quiet = 0
            case Pushed(name, spend) if name == self._honest.name:
                if self._crowd is not None and spend not in OPENING:
                    self._crowd.begin()
            case _:
                pass

    # --- blocks ---

    def _next_block(self) -> None:
        self._quiet += 1
        self._lose_patience()
        self._driver.farm()
        if self._adversary is not None:
            reorgs = self._weather.reorganisations.count
            self._driver.carry_out(self.scenario.side, self._adversary.finish_block())
            if self._weather.reorganisations.count > reorgs:
                self._driver.report_peak()
        if self._weather.strike(due for party in self.parties for due in deadlines(party.peer)):
            self._driver.report_peak()

    def _honest_done(self) -> bool:
        done = True
        for index, party in enumerate(self.parties):
            unbegun = party.peer.phase is Phase.OPENING and not party.sent
            over = party.peer.is_over or (unbegun and self.chain.peak() > self._begun_by)
            if not over:
                self._finished[index] = None
            elif self._finished[index] is None:
                self._finished[index] = self.chain.peak()
                if party.peer.phase is Phase.FAILED and index == self.scenario.honest:
                    # Its process ends: what a reorganisation brings later, it does not see.
                    self._weather.ended.add(index)
            if index == self.scenario.honest or not self.scenario.adversary:
                done = done and over
        return done
