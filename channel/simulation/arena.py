"""Two peers on one node, one of them perhaps an adversary, until the honest ones have their due.

The driver of disputes: it carries bytes, pushes spends, farms blocks and lets the weather at
them, and tells its listeners; the same scenario gives the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from channel.adversaries.base import Adversary
from channel.chain.interface import Answer, blocks_for
from channel.chain.simulator import SimulatedChain
from channel.crypto.hkdf import derive
from channel.errors import UsageError
from channel.peer.interface import (
    AcceptGames,
    Act,
    Acted,
    ChannelOpen,
    Close,
    Command,
    Effect,
    Event,
    GameSettled,
    GameStarted,
    Moved,
    News,
    Pinned,
    Proposed,
    ProposeGames,
    Push,
    Received,
    Send,
    Store,
    Tell,
    Watch,
    YourTurn,
)
from channel.peer.machine import Phase
from channel.session.session_events import BlockMade, Decided, Listener, NewsFor, Pushed, Sent, Told
from channel.session.setup import policy_of
from channel.simulation.bundle_delivery import Post
from channel.simulation.endpoints import End, Heard, Run, Turn, Uttered, make_ends
from channel.simulation.scenario import Scenario
from channel.simulation.schedule import Hands
from channel.simulation.weather import Weather
from games.chance import Chance

__all__ = ["Arena", "End", "Heard", "Run"]

LIMIT = 600
"""Blocks after which a run is given up; the promise of liveness is broken long before."""

PATIENCE = 30
"""Blocks without progress, whatever was said, after which an honest player wants to close."""

PROGRESS = (ChannelOpen, GameStarted, Acted, Moved, GameSettled)
"""News for which an honest player waits a little longer."""

AFTERWARDS = 8
"""Blocks that an adversary still has once the honest side is done."""

OVER = (Phase.CLOSED, Phase.FAILED)


class Arena:
    """Runs one scenario. `run` once; listeners hear of everything as it happens.

    `node` makes the chain from a seed.
    """

    def __init__(
        self,
        scenario: Scenario,
        listeners: Sequence[Listener] = (),
        node: Callable[[int], SimulatedChain] = SimulatedChain,
    ) -> None:
        self.scenario = scenario
        self._listeners = tuple(listeners)
        seed = scenario.seed.encode()
        self.chain = node(int.from_bytes(derive(seed, "node", length=4), "big"))
        sky = Chance(derive(seed, "weather", scenario.weather))
        self._weather = Weather(scenario, self.chain, sky)
        self._ends = make_ends(scenario, self.chain, self._weather.rewind)
        self._weather.floor = self.chain.peak()
        self._begun_by = self.chain.peak() + scenario.confirmations + 2
        self._plan = Chance(derive(seed, "plan"))
        self._hands = Hands(scenario, self._plan)
        self._mail: deque[tuple[int, bytes]] = deque()
        self._heard: list[Heard] = []
        self._closing = False
        self._post = Post(self.chain, self._weather)
        self._quiet = 0
        self._finished: list[int | None] = [None, None]

    def run(self) -> Run:
        """Play it all, to the last payout."""
        start = self.chain.peak()
        for index in (0, 1):
            self._handle(index, None)
        rest = AFTERWARDS
        for _ in range(LIMIT):
            while self._propose_beside() or self._deliver() or self._decide() or self._go_on():
                # Blocks come while they talk, with messages still on their way.
                if self._plan.chance(25):
                    break
            rest -= self._honest_done()
            if rest < 0:
                break
            self._next_block()
        return Run(
            self.scenario,
            self.chain,
            self._ends,
            tuple(self._heard),
            self.chain.peak() - start,
            self._weather.reorgs,
            (self._finished[0], self._finished[1]),
        )

    # --- between blocks ---

    def _deliver(self) -> bool:
        if not self._mail:
            return False
        index, message = self._mail.popleft()
        actor = self._ends[1 - index].actor
        honest = not isinstance(actor, Adversary) or actor.means(message)
        self._heard.append(Heard(1 - index, message, honest))
        self._handle(index, Received(message))
        return True

    def _decide(self) -> bool:
        for index, end in enumerate(self._ends):
            if end.offers:
                self._command(index, AcceptGames(end.offers.pop(0)))
                return True
            if end.turns:
                game_id = end.turns.pop(0)
                player = end.actor.player(game_id)
                if player is not None and player.choices():
                    policy = policy_of(end.game(game_id), self.scenario.policies[index])
                    action = policy(player, end.chance)
                    self._tell(Decided(end.name, game_id, action))
                    self._command(index, Act(game_id, action))
                return True
        return False

    def _proposer(self) -> int | None:
        """Who proposes now: the adversary first, and afterwards either; None while nobody can."""
        honest, side = self.scenario.honest, self.scenario.side
        peer = self._ends[honest].peer
        if peer.phase is not Phase.PLAYING:
            return None
        if self._ends[side].actor.phase is not peer.phase:
            return honest
        return side if self._hands.first or self._plan.below(2) else honest

    def _propose_beside(self) -> bool:
        """The next of staggered games, in the middle of others."""
        if not self._hands.beside():
            return False
        proposer = self._proposer()
        if proposer is None:
            return False
        self._command(proposer, ProposeGames(self._hands.next()))
        return True

    def _go_on(self) -> bool:
        """The hands first, then the shutdown, whoever can still ask for them."""
        honest = self.scenario.honest
        peer = self._ends[honest].peer
        if peer.phase is not Phase.PLAYING:
            return False
        if self._hands.after(peer.play.state):
            proposer = self._proposer()
            if proposer is not None:
                self._command(proposer, ProposeGames(self._hands.next()))
            return True
        if self._quiet > PATIENCE:
            # Nobody asks for anything: the honest player has had enough, and wants its money.
            self._quiet = 0
            self._command(honest, Close())
            return True
        state = peer.play.state
        if self._hands.over and not (self._closing or state.games or state.groups):
            self._closing = True
            both = self._ends[1 - honest].actor.phase is peer.phase
            other = self.scenario.side if both else honest
            self._command(honest if self._plan.below(2) else other, Close())
            return True
        return False

    def _command(self, index: int, command: Command) -> None:
        # Without it, the game, or the channel, has gone on meanwhile.
        with suppress(UsageError):
            self._handle(index, command)

    # --- blocks ---

    def _next_block(self) -> None:
        for index, push in self._post.released():
            self._push(index, push)
        self._quiet += 1
        self.chain.farm()
        self._weather.strike()
        self._hear()
        adversary = self._ends[self.scenario.side].actor
        if isinstance(adversary, Adversary):
            reorgs = self._weather.reorgs
            self._carry_out(self.scenario.side, adversary.last())
            if self._weather.reorgs > reorgs:
                self._hear()

    def _hear(self) -> None:
        """Tell both of the tip as it is now."""
        self._tell(BlockMade(self.chain.peak()))
        for index, end in enumerate(self._ends):
            if index == self.scenario.honest and self._weather.cut_off():
                continue
            for block in blocks_for(self.chain, end.watched):
                self._handle(index, block)

    def _honest_done(self) -> bool:
        done = True
        for index, end in enumerate(self._ends):
            unbegun = end.peer.phase is Phase.OPENING and not end.sent
            over = end.peer.phase in OVER or (unbegun and self.chain.peak() > self._begun_by)
            if over and self._finished[index] is None:
                self._finished[index] = self.chain.peak()
            if not over:
                self._finished[index] = None
            if index == self.scenario.honest or not self.scenario.adversary:
                done = done and over
        return done

    # --- effects ---

    def _handle(self, index: int, event: Event | None) -> None:
        """Give this end an event and carry out what it does about it. Raises `UsageError`."""
        effects = self._react(index, event)
        self._ends[index].journal.append(Turn(self.chain.peak(), event, tuple(effects)))
        self._carry_out(index, effects)

    def _react(self, index: int, event: Event | None) -> list[Effect]:
        """What this end does about an event; None is the beginning."""
        actor = self._ends[index].actor
        return actor.start(self.chain.peak()) if event is None else actor.handle(event)

    def _carry_out(self, index: int, effects: Sequence[Effect]) -> None:
        end = self._ends[index]
        for effect in effects:
            match effect:
                case Send(message):
                    self._tell(Sent(end.name, message))
                    end.sent.append(message)
                    end.uttered.append(Uttered(self.chain.peak(), "message", message))
                    self._mail.append((1 - index, message))
                case Push():
                    wait = self._weather.delay() if index == self.scenario.honest else 0
                    if wait:
                        self._post.keep(index, effect, wait)
                    else:
                        self._push(index, effect)
                case Store():
                    pass
                case Watch(coin):
                    end.watched.append(coin)
                case Tell(news):
                    self._on_news(index, news)

    def _on_news(self, index: int, news: News) -> None:
        end = self._ends[index]
        self._tell(NewsFor(end.name, news))
        end.news.append(news)
        if index == self.scenario.honest:
            self._hands.hear(news)
            if isinstance(news, PROGRESS):
                self._quiet = 0
        if isinstance(news, Proposed):
            end.offers.append(news.group.id)
        if isinstance(news, YourTurn):
            end.turns.append(news.game_id)

    def _push(self, index: int, push: Push) -> None:
        end = self._ends[index]
        result = self._post.offer(push.bundle)
        if result is None:
            return
        end.uttered.append(Uttered(self.chain.peak(), push.name, push.bundle))
        end.pushed.append((push.name, push.bundle, result.answer))
        self._tell(Pushed(end.name, push.name, push.bundle, result))
        if result.answer is Answer.PENDING_CONFLICT:
            found = [self.chain.pending(spend.coin.id) for spend in push.bundle.spends]
            pending = tuple(one for bundles in found for one in bundles)
            self._handle(index, Pinned(push.bundle, pending))

    def _tell(self, told: Told) -> None:
        for listener in self._listeners:
            listener(told)
