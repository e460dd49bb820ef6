"""Adversaries of the opening: funding that never comes, other keys, other launchers."""

from __future__ import annotations

from dataclasses import replace as with_deadline

from msgspec.structs import replace

from channelsim.channel.adversaries.base import (
    Adversary,
    MessageChanger,
    Plan,
    adversary,
    changes_message,
)
from channelsim.channel.chain.coins import (
    Bundle,
    condition,
    launcher_puzzle,
    signed_spend,
)
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.peer.agreement import least_funding_blocks
from channelsim.channel.peer.interface import Effect, Event, ProposeGames, Push, Send
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.messages import Funded, Funding, Launch, Message, Request, encode
from channelsim.channel.protocol.proposals import ANSWER_MARGIN, Wish
from channelsim.clsp.values import to_list
from channelsim.games import registry
from channelsim.games.referee import CREATE_COIN


@changes_message("key-switcher", "shows another channel key than it sent the hash of", step=0)
def _key_switcher(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    # Knowing the other key, it could choose the sum of both, and a hidden puzzle for it.
    if not isinstance(message, Launch):
        return None
    keys = SecretKeys.derive(derive(changer.peer.config.secret, "switched"))
    switched = replace(
        message, channel_key=bytes(keys.channel.get_g1()), channel_proof=keys.channel_proof()
    )
    return [encode(switched)]


@changes_message(
    "false-launcher",
    "launches from a missing coin, to another channel, or without a launcher",
    step=0,
)
def _false_launcher(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    match message:
        case Launch() if changer.plan.chance.below(2):
            parent = replace(message.parent, parent=changer.plan.chance.bytes(32))
            return [encode(replace(message, parent=parent))]
        case Funding():
            return [encode(replace(message, part=_relaunched(changer, message.part)))]
        case Funded():
            return [encode(Funded(_relaunched(changer, message.bundle)))]
        case _:
            return None


def _relaunched(cheat: Adversary, bundle: Bundle) -> Bundle:
    """The bundle with another solution, or another puzzle, for the launcher.

    It has none if another layer of a hostile side has replaced it.
    """
    puzzle = launcher_puzzle().serialized
    launcher = next((spend for spend in bundle.spends if spend.puzzle == puzzle), None)
    if launcher is None:
        return bundle
    if cheat.plan.chance.below(2):
        wrong = replace(launcher, solution=launcher.solution[:-1] + b"\x01")
    else:
        wrong = replace(launcher, puzzle=b"\x01")
    spends = tuple(wrong if spend is launcher else spend for spend in bundle.spends)
    return replace(bundle, spends=spends)


@adversary("double-spender", "spends its part of the funding elsewhere before the channel is open")
class _DoubleSpender(Adversary):
    default_step = 0

    def act(self) -> list[Effect]:
        if self.phase not in (Phase.OPENING, Phase.FUNDING):
            return []
        self.done = True
        return [_double_spend(self)]


@adversary(
    "funding-rewinder", "replaces the blocks of the funding, and spends its part of it elsewhere"
)
class _FundingRewinder(Adversary):
    default_step = 0

    def block(self, block: Block) -> list[Effect]:
        return [_double_spend(self)] if self.done else []

    def last(self) -> list[Effect]:
        """Rewind at a random moment, at the latest when the funding is about to be too deep."""
        coin = self.channel_coin()
        if self.done or not self.due or coin is None or not self.rewind_to(coin.born):
            return []
        self.done = True
        return [_double_spend(self)]


@adversary("late-funder", "brings the funding in by a reorganisation, once its deadline is over")
class _LateFunder(Adversary):
    """Publishes nothing else, so that the money stays in the channel coin unless it is unrolled.

    As the receiver it withholds the funding, and replaces the block at the deadline by one that has
    it. As the initiator it names a near deadline, and sends its part so late that the funding
    is in the block at the deadline, unless it spends its coin elsewhere at once. It replaces what
    is there by blocks with the funding.
    """

    default_step = 0
    _part = b""

    def send(self, message: Message, blob: bytes) -> list[bytes]:
        match message:
            case Funded():
                return []
            case Launch():
                least = least_funding_blocks(self.peer.config.agreement.spacing)
                # The other side waits no longer for its part than for any answer.
                blocks = least + ANSWER_MARGIN
                deadline = self.peer.state.block.peak + blocks
                opening = with_deadline(self.peer.state.opening, deadline=deadline)
                self.peer.state = replace(self.peer.state, opening=opening)
                return [encode(replace(message, deadline=deadline))]
            case Funding():
                self._part = blob
                return []
            case _:
                return [blob]

    def push(self, push: Push) -> list[Effect]:
        return []

    def block(self, block: Block) -> list[Effect]:
        """Send its part shortly before the deadline."""
        if not self._part or block.peak < self.peer.state.opening.deadline - 2:
            return []
        part, self._part = self._part, b""
        effects: list[Effect] = [Send(part)]
        return [*effects, _double_spend(self)] if self.plan.chance.chance(50) else effects

    def last(self) -> list[Effect]:
        """Take the funding out of the block at the deadline, or put it there."""
        opened = self.peer.state.opening.opened
        if self.done or opened is None or opened.bundle is None:
            return []
        chain = self.plan.chain
        peak, coin = chain.peak(), chain.coin(opened.channel.coin.id)
        if peak < opened.deadline:
            return []
        if coin is not None:
            self.rewind(peak - coin.born + 1)
            return []
        wallet = chain.coin(self.peer.config.wallet.coin.id)
        elsewhere = wallet.spent if wallet is not None else None
        first = min(opened.deadline, elsewhere or opened.deadline)
        self.done = self.rewind(peak - first + 1, opened.bundle)
        return []


def _double_spend(cheat: Adversary) -> Push:
    """Spend the wallet's coin back to the wallet, with a fee of 1 mojo."""
    wallet, data = cheat.peer.config.wallet, cheat.peer.config.agg_sig_data
    back = condition(CREATE_COIN, wallet.coin.puzzle_hash, wallet.coin.amount - 1)
    bundle = signed_spend(wallet.key, wallet.coin, to_list((back,)), data)
    return Push("double spend", bundle)


def any_wish(peer: Peer, plan: Plan, unit: int, stack: int) -> Wish:
    """A game that the adversary begins, any one that comes with the package and needs no deck."""
    games = [registry.get(name) for name in registry.built_in()]
    game = plan.chance.pick([game for game in games if not game.deck_positions])
    timeout = 15 * peer.config.agreement.spacing
    return Wish(game.name, game.default_parameters(unit, stack), timeout, i_am_alice=True)


@adversary("early", "talks before the channel coin is deep, and goes on after a break-off")
class _Early(Adversary):
    """Its peer counts `confirmations` blocks too many until it plays."""

    default_step = 0

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._wish = any_wish(peer, plan, 10, 10)

    def handle(self, event: Event) -> list[Effect]:
        if isinstance(event, Block) and self.phase is Phase.FUNDING:
            early = self.peer.config.agreement.confirmations
            event = Block(event.peak + early, event.coins)
        return super().handle(event)

    def act(self) -> list[Effect]:
        """Propose a game at once."""
        if self.done or self.phase is not Phase.PLAYING:
            return []
        effects = self.command(ProposeGames((self._wish,)))
        self.done = effects is not None
        return effects or []

    def block(self, block: Block) -> list[Effect]:
        """Go on sending messages after the other side has broken off."""
        if not self.due or self.dispute is None:
            return []
        self.done = True
        return [Send(encode(Request())), Send(self.batch(self.state, ()))]
