"""A peer's half that faces the chain: funding, time, the shutdown's end, and going on chain.

Its other half, which faces the other peer, is `channel.peer.machine`; what is done once the
channel is on chain is `channel.peer.onchain`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from channel.chain.observations import Block, CoinSeen
from channel.crypto.keys import SecretKeys
from channel.errors import InvariantError, Violation
from channel.peer import interface
from channel.peer.chain_news import ChannelClosed, LeftForChain, Undone, UnilateralClose
from channel.peer.deadlines import Awaited, Marks, in_play, wait
from channel.peer.endpoint import Endpoint
from channel.peer.interface import (
    BrokenOff,
    Cancelled,
    ChannelOpen,
    Effect,
    NotProposed,
    OpeningFailed,
    Push,
    Tell,
    Watch,
)
from channel.peer.onchain.dispute import begin, seat
from channel.peer.onchain.dispute_state import Dispute, Status
from channel.peer.onchain.fees import Fees
from channel.peer.onchain.scan import look
from channel.peer.opening.handshake import Opened, Opening, OpeningStep
from channel.peer.opening.introduction import Agreement
from channel.peer.play.play_state import PlayState
from channel.peer.play.receiving import IllegalMoves
from channel.peer.shutdown import CleanShutdown
from channel.peer.slashable import SlashableMove
from channel.protocol.half_signed import publish, unroll_coin
from channel.protocol.messages import Message
from channel.protocol.state import Side
from channel.protocol.wallet import Wallet
from games.contract import Player


@dataclass(frozen=True, slots=True)
class Config:
    """Who a peer is. `secret` (32 bytes) is for this channel only; `peer` names the other.

    `fees` is what we pay on chain (None: nothing).
    """

    name: str
    peer: str
    side: Side
    secret: bytes = field(repr=False)
    reward_address: bytes
    wallet: Wallet = field(repr=False)
    agreement: Agreement
    agg_sig_data: bytes
    entropy: Callable[[int], bytes] = field(repr=False)
    fees: Fees | None = None


class Phase(Enum):
    """Where a peer stands in the life of its channel."""

    OPENING = "the opening"
    FUNDING = "the funding"
    PLAYING = "play"
    CLOSING = "the shutdown that we asked for"
    COMPLETED = "the completed shutdown"
    CLOSED = "the end"
    ON_CHAIN = "the chain"
    FAILED = "a failed opening"


class ChainSide(ABC):
    """What a peer knows, and what it does about the chain."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.phase = Phase.OPENING
        self.endpoint: Endpoint | None = None
        self._secret_keys = SecretKeys.derive(config.secret)
        self._opening = Opening(
            config.side,
            self._secret_keys,
            config.reward_address,
            config.wallet,
            config.agreement,
            config.agg_sig_data,
        )
        self._opened: Opened | None = None
        self._play: PlayState | None = None
        self._peak = 0
        self._held: dict[type[Message], bytes] = {}
        self._last_received = b""
        self._last_batch = b""
        self._ending: CleanShutdown | None = None
        self._closed: ChannelClosed | None = None
        self._dispute: Dispute | None = None
        self._picture = Block(0)
        self._marks: Marks = {}
        self._no_more_proposals = False
        self._was_deep = False
        self.ignored = 0

    @property
    def play(self) -> PlayState:
        """The game of messages as this side sees it, once the channel is open."""
        if self._play is None:
            raise InvariantError("the channel is not open")
        return self._play

    def player(self, game_id: int) -> Player | None:
        """Our seat in a game, by messages or on chain, as far as it is ours to decide."""
        if self._dispute is not None:
            return seat(self._dispute, game_id)
        return self._play.player(game_id) if self._play else None

    @abstractmethod
    def _take(self, blob: bytes) -> list[Effect]:
        """Act on a message of the other side (the peer's other half)."""

    @abstractmethod
    def _request(self) -> list[Effect]:
        """Ask for the potato (the peer's other half)."""

    # --- the chain -----------------------------------------------------------------------------

    def _on_block(self, block: Block) -> list[Effect]:
        self._peak, self._picture = block.peak, block
        if self._dispute is not None:
            return self._after(*look(self._dispute, block))
        if self._opened is None:
            return self._check_time()
        coin = self._opened.channel.coin
        seen = next((seen for seen in block.coins if seen.coin == coin), None)
        if seen is not None and seen.spent is not None:
            return self._on_spent(block, seen.spent, seen.solution)
        if self._closed is not None:
            return self._shut_again()
        if seen is None or self.phase in (Phase.OPENING, Phase.FUNDING):
            return self._await_funding(block, self._opened, seen)
        match self.phase:
            case Phase.FAILED:
                return self._leave("the funding came back after its deadline")
            case Phase.COMPLETED if self._ending and self._ending.bundle:
                return [Push("shutdown", self._ending.bundle)]
            case _:
                return self._check_time()

    def _check_time(self) -> list[Effect]:
        """Wait no longer than we have to; ask again for the potato that we gave away."""
        self._marks, late = wait(self._marks, self._due(), self._peak, self.config.agreement.times)
        if late is not None:
            blocks = late.limit(self.config.agreement.times)
            violation = Violation(late.rule, f"not in {blocks} blocks: {late.what}")
            violation.party, violation.step = self.config.peer, self.phase.value
            return self._break_off(violation)
        if self.phase is Phase.PLAYING and self.play.ask_later:
            return self._request()
        return []

    def _due(self) -> list[Awaited]:
        match self.phase:
            case Phase.OPENING:
                step = self._opening.step
                begun = self.config.side is Side.INITIATOR or step is not OpeningStep.HELLO
                return [Awaited("CH-TIME-1", step.value, 0)] if begun else []
            case Phase.PLAYING:
                return in_play(self.play, self.config.side)
            case Phase.CLOSING:
                what = "the completed shutdown"
                return [Awaited("CH-TIME-1", what, self.play.state.number)]
            case _:
                return []

    def _await_funding(self, block: Block, opened: Opened, seen: CoinSeen | None) -> list[Effect]:
        """Until the channel coin is deep; also again, if a reorganisation takes it away."""
        if seen is None:
            if self.phase is Phase.FAILED:
                return []
            if block.peak >= opened.deadline:
                self.phase = Phase.FAILED
                return [Tell(OpeningFailed(opened.deadline))]
            return [Push("funding", opened.bundle)] if opened.bundle else []
        if block.peak - seen.born < self.config.agreement.confirmations:
            return []
        self.phase, self._was_deep = Phase.PLAYING, True
        effects: list[Effect] = [Tell(ChannelOpen(opened.channel.coin, block.peak))]
        held, self._held = self._held, {}
        for message in held.values():
            effects += self._take(message)
        return effects

    def _on_spent(self, block: Block, spent: int, solution: bytes | None) -> list[Effect]:
        """The channel coin was spent: by the shutdown that we signed, or to an unroll coin."""
        ending = self._ending
        if ending is not None:
            rewards = ending.rewards()
            born = {seen.coin for seen in block.coins}
            if all(coin in born for coin in rewards):
                deep = block.peak - spent >= self.config.agreement.confirmations
                if self._closed is not None or not deep:
                    return []
                self.phase = Phase.CLOSED
                self._closed = ChannelClosed(rewards, spent)
                return [Tell(self._closed)]
            if solution is not None and ending.is_paid_by(solution):
                return []
        return [*self._go_on_chain(), Tell(UnilateralClose(spent)), *self._look_again()]

    def _shut_again(self) -> list[Effect]:
        """A reorganisation, deeper than we had thought possible, took the shutdown away."""
        if self._closed is None or self._ending is None:
            raise InvariantError("no shutdown to repeat")
        undone, self._closed = Undone(self._closed), None
        self.phase = Phase.COMPLETED if self._ending.bundle else Phase.CLOSING
        bundle = self._ending.bundle
        return [*([Push("shutdown", bundle)] if bundle else []), Tell(undone)]

    # --- going on chain ------------------------------------------------------------------------

    def _break_off(self, violation: Violation) -> list[Effect]:
        """Stop playing by messages: publish the newest state that we can complete."""
        if self._opened is None:
            self.phase = Phase.FAILED
            return [Tell(BrokenOff(violation, None))]
        effects: list[Effect] = []
        faults: dict[int, SlashableMove] = {}
        if isinstance(violation, IllegalMoves):
            self._play, faults = violation.play, dict(violation.faults)
            effects += violation.effects
        effects += self._go_on_chain(faults)
        number = self.play.newest.state.number
        news = BrokenOff(violation, number, tuple(faults))
        return [*effects, *self._publish(), Tell(news)]

    def _leave(self, reason: str) -> list[Effect]:
        """Go on chain though the other side did nothing wrong."""
        effects = self._go_on_chain()
        number = self.play.newest.state.number
        return [*effects, *self._publish(), Tell(LeftForChain(reason, number))]

    def _go_on_chain(self, faults: dict[int, SlashableMove] | None = None) -> list[Effect]:
        """From here on the chain alone counts."""
        if self._opened is None:
            raise InvariantError("there is no channel to go on chain with")
        self.phase = Phase.ON_CHAIN
        self._dispute = begin(
            self._endpoint(),
            self.play,
            deadline=self._opened.deadline,
            funding=self._opened.bundle if self._was_deep else None,
            peak=self._peak,
            faults=faults or {},
            ending=self._ending,
            fees=self.config.fees,
        )
        return self._end_proposals("the channel is on chain")

    def _end_proposals(self, reason: str) -> list[Effect]:
        """Open proposals, and those that were still to be sent, come to nothing, once."""
        if self._no_more_proposals:
            return []
        self._no_more_proposals = True
        side, play = self.config.side, self.play
        unsent = [one for one in play.queue if isinstance(one, interface.ProposeGames)]
        return [
            *(Tell(Cancelled(one, one.proposer is side, reason)) for one in play.state.groups),
            *(Tell(NotProposed(one.wishes, reason)) for one in unsent),
        ]

    def _publish(self) -> list[Effect]:
        """Publish at once, if need be along with the funding that is still pending."""
        endpoint, newest = self._endpoint(), self.play.newest
        coin = endpoint.channel.coin
        if self._opened is None or any(seen.coin == coin for seen in self._picture.coins):
            return self._look_again()
        effects: list[Effect] = [Watch(unroll_coin(endpoint.channel, newest.state))]
        if self._opened.bundle is not None:
            bundle = publish(endpoint.channel, self._secret_keys, newest)
            effects.append(Push("unroll", bundle))
        return effects

    def _look_again(self) -> list[Effect]:
        if self._dispute is None:
            raise InvariantError("nothing to look at: the channel is not on chain")
        return self._after(*look(self._dispute, self._picture))

    def _after(self, dispute: Dispute, effects: list[Effect]) -> list[Effect]:
        """Take up the dispute as it is now."""
        self._dispute = dispute
        match dispute.status:
            case Status.OPEN:
                self.phase = Phase.ON_CHAIN
            case Status.UNFUNDED:
                self.phase = Phase.FAILED
            case Status.SHUT | Status.SETTLED:
                self.phase = Phase.CLOSED
        return effects

    def _endpoint(self) -> Endpoint:
        if self.endpoint is None:
            raise InvariantError("the channel is not funded")
        return self.endpoint
