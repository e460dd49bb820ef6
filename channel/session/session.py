"""A whole session: two peers, one node, hands in turn, and a clean close.

The driver around the state machines: it carries bytes, pushes spends, farms blocks, asks the
policies, and tells its listeners. Peers share nothing; the session sees both, so that it can
tell the story.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from channel.chain.coins import Coin
from channel.chain.interface import FarmableChain, blocks_for
from channel.chain.simulator import SimulatedChain
from channel.crypto.hkdf import derive
from channel.errors import InvariantError, Violation
from channel.peer.agreement import Agreement
from channel.peer.chain_news import ChannelClosed
from channel.peer.interface import (
    AcceptGames,
    Act,
    Acted,
    BrokenOff,
    CancelGames,
    Cancelled,
    ChannelOpen,
    Close,
    Command,
    Effect,
    GameSettled,
    GameStarted,
    Moved,
    News,
    OpeningFailed,
    Proposed,
    ProposeGames,
    Push,
    Received,
    SawCards,
    Send,
    Store,
    Tell,
    Watch,
    YourTurn,
)
from channel.peer.machine import Peer, Phase
from channel.protocol.proposals import Wish
from channel.protocol.state import Side
from channel.protocol.wallet import Wallet
from channel.session.identity import config_of, wallet_of
from channel.session.session_events import (
    Answered,
    BlockMade,
    ChannelFunded,
    Closed,
    Decided,
    HandEnded,
    HandStarted,
    Listener,
    NewsFor,
    NoMoreHands,
    Pushed,
    Sent,
    StepMade,
    Told,
)
from channel.session.setup import NAMES, Setup
from games import registry
from games.chance import Chance
from games.contract import Action, Hand, Player, Seat, Step

PATIENCE = 100
"""Blocks without any news after which a session is stuck, which is a bug."""

Decider = Callable[[str, int, Player, Chance], Action]
"""Decides for a player (by name, in the hand of this number, counted from 0)."""

Answerer = Callable[[str, int], bool]
"""Whether a player takes up another hand (by name, and the hand's number)."""


class SessionBroken(Exception):
    """A peer broke off: the violation, by whom, and what it published."""

    def __init__(self, name: str, news: BrokenOff) -> None:
        super().__init__(str(news.violation))
        self.name = name
        self.news = news


@dataclass(frozen=True, slots=True)
class Checks:
    """What was checked: moves judged, whether rules and programs agreed, whether money did."""

    moves_checked: int
    python_clvm_agree: bool
    conserved: bool


@dataclass(frozen=True, slots=True)
class Result:
    """A finished session. Balances and rewards are the initiator's, then the receiver's."""

    hands: tuple[tuple[str, Hand], ...]
    balances: tuple[int, int]
    channel_coin: Coin
    rewards: tuple[Coin | None, Coin | None]
    checks: Checks
    disagreements: tuple[str, ...]
    reason: str
    """Why no more hands were played."""


@dataclass(slots=True)
class _End:
    """One end of the session: a peer and what its driver keeps for it."""

    name: str
    peer: Peer
    chance: Chance
    watched: list[Coin] = field(default_factory=list)
    store: dict[str, bytes] = field(default_factory=dict)
    turns: list[int] = field(default_factory=list)
    offered: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Playing:
    """A hand under way, and the step that its mover has made but its waiter not yet judged."""

    number: int
    game: str
    hand: Hand
    sides: tuple[int, int]
    players: list[Player]
    acted: Acted | None = None
    before: tuple[Player, Player] | None = None


class Session:
    """Plays what its setup says. `run` once; listeners hear of everything as it happens."""

    def __init__(
        self,
        setup: Setup,
        decide: Decider,
        answer: Answerer,
        listeners: Sequence[Listener] = (),
        chain: FarmableChain | None = None,
    ) -> None:
        self.setup = setup
        self._decide = decide
        self._answer = answer
        self._listeners = tuple(listeners)
        self._seed = setup.seed.encode()
        self._chain = chain or SimulatedChain(_node_seed(self._seed))
        self._wallets: list[Wallet] = []
        self._ends = self._make_ends()
        self._mail: deque[tuple[int, bytes]] = deque()
        self._games: dict[int, _Playing] = {}
        self._hands: list[tuple[str, Hand]] = []
        self._started = 0
        self._waiting = False
        self._closing = ""
        self._declined = ""
        self._moves = 0
        self._disagreements: list[str] = []
        self._idle = 0

    # --- the loop ---

    def run(self) -> Result:
        """Play it all. Raises `SessionBroken`, or `UsageError` for an impossible script."""
        for index, end in enumerate(self._ends):
            self._carry_out(index, end.peer.start(self._chain.peak()))
        while not all(end.peer.phase is Phase.CLOSED for end in self._ends):
            if self._deliver() or self._ask_players() or self._next_hand():
                self._idle = 0
            else:
                self._farm()
        return self._result()

    def _deliver(self) -> bool:
        if not self._mail:
            return False
        while self._mail:
            index, message = self._mail.popleft()
            self._carry_out(index, self._ends[index].peer.handle(Received(message)))
        return True

    def _ask_players(self) -> bool:
        for index, end in enumerate(self._ends):
            if end.offered:
                self._command(index, self._answer_offer(end, end.offered.pop(0)))
                return True
            if end.turns:
                self._command(index, self._take_turn(end, end.turns.pop(0)))
                return True
        return False

    def _answer_offer(self, end: _End, group_id: int) -> Command:
        accepts = self._answer(end.name, self._started - 1)
        self._tell(Answered(end.name, self._started - 1, accepts))
        return AcceptGames(group_id) if accepts else CancelGames(group_id, f"{end.name} declines")

    def _take_turn(self, end: _End, game_id: int) -> Command:
        player = end.peer.play.player(game_id)
        if player is None:
            raise InvariantError(f"{end.name} has no seat in game {game_id}")
        action = self._decide(end.name, self._games[game_id].number, player, end.chance)
        self._tell(Decided(end.name, game_id, action))
        return Act(game_id, action)

    def _next_hand(self) -> bool:
        """Propose the next hand, or ask for the shutdown, when nothing else is going on."""
        playing = all(end.peer.phase is Phase.PLAYING for end in self._ends)
        if self._waiting or self._closing or not playing:
            return False
        reason = self._why_stop()
        proposer = self._started % 2
        if reason:
            self._closing = reason
            self._tell(NoMoreHands(reason))
            self._command(proposer, Close())
            return True
        self._waiting = True
        name = self.setup.game(self._started)
        parameters = registry.get(name).default_parameters(self.setup.unit, self.setup.stack)
        first = self.setup.first(self._started)
        wish = Wish(name, parameters, self.setup.game_timeout, first == proposer)
        self._started += 1
        self._command(proposer, ProposeGames((wish,)))
        return True

    def _why_stop(self) -> str:
        if self._declined:
            return self._declined
        if self._started >= self.setup.hands:
            return "all hands are played"
        balances = self._balances()
        for name, balance in zip(NAMES, balances, strict=True):
            if balance < self.setup.stake:
                return f"{name}'s balance of {balance} mojos no longer covers the stake"
        return ""

    def _farm(self) -> None:
        self._idle += 1
        if self._idle > PATIENCE:
            phases = ", ".join(f"{end.name} in {end.peer.phase.value}" for end in self._ends)
            raise InvariantError(f"nothing happened for {PATIENCE} blocks: {phases}")
        self._chain.farm()
        height = self._chain.peak()
        self._tell(BlockMade(height))
        for index, end in enumerate(self._ends):
            for block in blocks_for(self._chain, end.watched):
                self._carry_out(index, end.peer.handle(block))

    # --- effects ---

    def _command(self, index: int, command: Command) -> None:
        self._carry_out(index, self._ends[index].peer.handle(command))

    def _carry_out(self, index: int, effects: Sequence[Effect]) -> None:
        end = self._ends[index]
        for effect in effects:
            match effect:
                case Send(message):
                    self._tell(Sent(end.name, message))
                    self._mail.append((1 - index, message))
                case Push(what, bundle):
                    self._tell(Pushed(end.name, what, bundle, self._chain.push(bundle)))
                case Store(name, data):
                    end.store[name] = data
                    if not data:
                        del end.store[name]
                case Watch(coin):
                    end.watched.append(coin)
                case Tell(news):
                    self._tell(NewsFor(end.name, news))
                    self._on_news(index, news)

    def _tell(self, told: Told) -> None:
        for listener in self._listeners:
            listener(told)

    # --- news of the peers ---

    def _on_news(self, index: int, news: News) -> None:
        end = self._ends[index]
        match news:
            case ChannelOpen(coin, height) if index == Side.RECEIVER:
                self._tell(ChannelFunded(coin, height, self._balances()))
            case Proposed(group):
                end.offered.append(group.id)
            case YourTurn(game_id) if game_id not in end.turns:
                end.turns.append(game_id)
            case GameStarted():
                self._on_started(index, news)
            case Acted() if self._games[news.game_id].acted is None:
                self._on_acted(index, news)
            case Moved():
                self._on_moved(index, news)
            case SawCards(game_id, player):
                self._on_saw(index, game_id, player)
            case GameSettled():
                self._on_settled(news)
            case Cancelled(_, mine, reason) if mine:
                self._waiting = False
                self._declined = reason
            case BrokenOff():
                raise SessionBroken(end.name, news)
            case OpeningFailed(deadline):
                raise SessionBroken(
                    end.name,
                    BrokenOff(Violation("CH-OPEN-7", f"no funding by height {deadline}"), None),
                )
            case ChannelClosed(_, height) if self._ends[1 - index].peer.phase is Phase.CLOSED:
                self._tell(Closed(self._rewards(), height))
            case _:
                pass

    def _on_started(self, index: int, news: GameStarted) -> None:
        game = news.game
        if game.id in self._games:
            playing = self._games[game.id]
            playing.players[game.seat(Side(index))] = news.player
            number = playing.number
            self._tell(HandStarted(number, playing.game, game.id, NAMES[number % 2], playing.hand))
            return
        sides = (int(game.alice), int(game.alice.other))
        hand = Hand(game.terms, (NAMES[sides[0]], NAMES[sides[1]]), ())
        # The other seat's player follows with its own news, before any step is judged.
        players = [news.player, news.player]
        self._games[game.id] = _Playing(self._started - 1, game.terms.game, hand, sides, players)

    def _on_acted(self, index: int, news: Acted) -> None:
        playing = self._games[news.game_id]
        playing.acted = news
        if news.after == news.before:
            self._step(playing, Seat(playing.sides.index(index)), _pair(playing.players))

    def _on_moved(self, index: int, news: Moved) -> None:
        playing = self._games[news.game_id]
        self._moves += 1
        self._disagreements += news.disagreements
        if playing.acted is None:
            raise InvariantError(f"a move in game {news.game_id} that nobody made")
        seat = Seat(playing.sides.index(index))
        before = _pair(playing.players)
        playing.players[seat] = news.player
        playing.players[seat.other] = playing.acted.player
        self._step(playing, seat.other, before)

    def _step(self, playing: _Playing, seat: Seat, before: tuple[Player, Player]) -> None:
        acted = playing.acted
        if acted is None:
            raise InvariantError("a step without an action")
        playing.acted = None
        step = Step(seat, acted.action, acted.before, acted.after, before, _pair(playing.players))
        playing.hand = replace(playing.hand, steps=(*playing.hand.steps, step))
        self._tell(StepMade(playing.game, playing.hand))

    def _on_saw(self, index: int, game_id: int, player: Player) -> None:
        playing = self._games.get(game_id)
        if playing is not None:
            playing.players[playing.sides.index(index)] = player

    def _on_settled(self, news: GameSettled) -> None:
        if news.by_us:
            return
        # The side that did not settle hears of it last: now both agree.
        playing = self._games.pop(news.game_id)
        settler = playing.hand.steps[-1].seat
        payouts = (news.theirs, news.ours) if settler is Seat.ALICE else (news.ours, news.theirs)
        playing.hand = replace(playing.hand, payouts=payouts)
        self._hands.append((playing.game, playing.hand))
        self._waiting = False
        self._tell(HandEnded(playing.number, playing.game, playing.hand, self._balances()))

    # --- the ends ---

    def _make_ends(self) -> tuple[_End, _End]:
        setup = self.setup
        secrets = [derive(self._seed, "player", name) for name in NAMES]
        self._wallets = [wallet_of(secret, self._chain, setup.balance) for secret in secrets]
        agreement = Agreement(
            (setup.balance, setup.balance), setup.unroll_timeout, setup.confirmations
        )
        ends = []
        for index, (name, secret) in enumerate(zip(NAMES, secrets, strict=True)):
            config = config_of(
                index, secret, self._wallets[index], agreement, self._chain.agg_sig_data()
            )
            config = replace(config, entropy=self._entropy(name, config.entropy))
            chance = Chance(derive(self._seed, "policy", name))
            ends.append(_End(name, Peer(config), chance))
        return ends[0], ends[1]

    def _entropy(self, name: str, own: Callable[[int], bytes]) -> Callable[[int], bytes]:
        script = self.setup.script

        def entropy(game_id: int) -> bytes:
            # Proposers alternate, one game a proposal: the ids of the games are 0, 1, 2, …
            if script is not None and game_id < len(script.hand):
                fixed = script.hand[game_id].entropy(name)
                if fixed is not None:
                    return fixed
            return own(game_id)

        return entropy

    def _balances(self) -> tuple[int, int]:
        book = self._ends[0].peer.play
        return book.state.balances

    # --- the end ---

    def _rewards(self) -> tuple[Coin | None, Coin | None]:
        found: list[Coin | None] = []
        for end in self._ends:
            coins = [seen.coin for seen in self._chain.coins_at(end.peer.config.reward_address)]
            found.append(coins[0] if coins else None)
        return found[0], found[1]

    def _result(self) -> Result:
        rewards = self._rewards()
        table = self._ends[0].peer.state.endpoint
        if table is None:
            raise InvariantError("a session without a channel")
        return Result(
            hands=tuple(self._hands),
            balances=self._balances(),
            channel_coin=table.channel.coin,
            rewards=rewards,
            checks=Checks(self._moves, not self._disagreements, self._conserved(rewards)),
            disagreements=tuple(self._disagreements),
            reason=self._closing,
        )

    def _conserved(self, rewards: tuple[Coin | None, Coin | None]) -> bool:
        """To the mojo, on chain: each reward is the balance, and wallets hold the rest."""
        paid = tuple(coin.amount if coin else 0 for coin in rewards)
        left = [
            sum(seen.coin.amount for seen in self._chain.coins_at(wallet.coin.puzzle_hash))
            for wallet in self._wallets
        ]
        before = sum(wallet.coin.amount for wallet in self._wallets)
        return paid == self._balances() and sum(left) + sum(paid) == before


def _pair(players: list[Player]) -> tuple[Player, Player]:
    return players[0], players[1]


def _node_seed(seed: bytes) -> int:
    return int.from_bytes(derive(seed, "node", length=4), "big")
