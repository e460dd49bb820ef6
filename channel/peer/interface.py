"""Events and effects of a peer: two closed unions.

Events are bytes from the other peer, blocks, and commands of the player. A driver carries out the
effects in order, once the event is on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.observations import Block, PendingBundle
from channelsim.channel.errors import Blame
from channelsim.channel.peer.chain_news import ChainNews
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import Group, LiveGame
from channelsim.games.contract import Action, Player, Position
from channelsim.games.deck.work import DeckResult, DeckWork

# --- events ------------------------------------------------------------------------------------


class Received(msgspec.Struct, frozen=True):
    """Bytes of a message from the other peer, not yet decoded."""

    message: bytes


class Connected(msgspec.Struct, frozen=True):
    """A new connection to the other side was made; messages of older ones no longer arrive."""


class ProposeGames(msgspec.Struct, frozen=True):
    """The player proposes a group of games."""

    wishes: tuple[Wish, ...]


class AcceptGames(msgspec.Struct, frozen=True):
    """The player accepts a proposal of the other side."""

    group_id: int


class CancelGames(msgspec.Struct, frozen=True):
    """The player refuses a proposal, or withdraws one."""

    group_id: int
    reason: str


class Act(msgspec.Struct, frozen=True):
    """The player's decision in a game, answering `YourTurn`."""

    game_id: int
    action: Action


class PrepareDeck(msgspec.Struct, frozen=True):
    """The player wants one more deck ahead."""


class Close(msgspec.Struct, frozen=True):
    """The player wants a clean shutdown, as soon as no game is live."""


class GoOnChain(msgspec.Struct, frozen=True):
    """The player wants a unilateral close, whatever the other side says.

    `old_copy`: also from an old copy of the store, whose newest state the other side can replace by
    a newer one.
    """

    reason: str = "the player wants to"
    old_copy: bool = False


class Pinned(msgspec.Struct, frozen=True):
    """A bundle that we pushed is not in the mempool: these pending bundles spend its coins."""

    bundle: Bundle
    pending: tuple[PendingBundle, ...]


class Dropped(msgspec.Struct, frozen=True):
    """The node had a bundle that we pushed, dropped it, and does not take the same bytes again.

    No pending bundle spends its coins; they may be spent already, by a block that comes later.
    `name` is that of the push.
    """

    bundle: Bundle
    name: str = ""


class Refused(msgspec.Struct, frozen=True):
    """The node refuses a bundle that we pushed, with this error of its own."""

    bundle: Bundle
    error: str


class FeeRate(msgspec.Struct, frozen=True):
    """The fee rate that our node asks of a spend has changed, in mojos per cost."""

    mojos_per_cost: int


class FeeLimits(msgspec.Struct, frozen=True):
    """The player's own limits of fees in mojos; None: as by default, see `Fees`."""

    per_spend: int | None
    per_channel: int | None


class DeckComputed(msgspec.Struct, frozen=True):
    """The work of a `ComputeDeck` is done."""

    result: DeckResult


@dataclass(frozen=True, slots=True)
class DecksChanged:
    """Decks came and went without messages: a simulated dealer made them, or a journal has them.

    `highest` is the highest number used, `added` are the records of finished decks
    (`channelsim.channel.protocol.deck_records`), and `removed` the numbers of decks given up.
    """

    highest: int
    added: tuple[bytes, ...] = field(default=(), repr=False)
    removed: tuple[int, ...] = ()


class Fault(msgspec.Struct, frozen=True):
    """This peer failed to handle an event of another kind than a block, for this reason.

    It stands in the journal in the place of that event, which has changed nothing.
    """

    reason: str


Command: TypeAlias = (
    ProposeGames | AcceptGames | CancelGames | Act | PrepareDeck | Close | GoOnChain
)
NodeReport: TypeAlias = Pinned | Dropped | Refused | FeeRate
"""Reports of our node about pushes and fees: they say nothing of the chain or the other side."""
Event: TypeAlias = (
    Received
    | Connected
    | Block
    | NodeReport
    | FeeLimits
    | DeckComputed
    | DecksChanged
    | Fault
    | Command
)

# --- effects -----------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True):
    """Send bytes to the other peer."""

    message: bytes


class Push(msgspec.Struct, frozen=True):
    """Push a bundle to the mempool. Repeating a pending or confirmed bundle is no failure.

    `stake` are the mojos that the spend is about: a fee is at most a share of them. It has to be
    confirmed by the height `before` (None: it has no deadline).
    """

    name: str
    bundle: Bundle
    stake: int = 0
    before: int | None = None


class Erase(msgspec.Struct, frozen=True):
    """Forget the secrets of the deck of this number, in everything that outlives the process.

    No game needs them any more, and nobody may learn them later (PD-16).
    """

    number: int


class Watch(msgspec.Struct, frozen=True):
    """Report this coin with every block from now on, beginning with the current one."""

    coin: Coin


class ComputeDeck(msgspec.Struct, frozen=True):
    """Compute a step of a deck's preparation, and report it with `DeckComputed`.

    Each takes about 0.6 s: a driver does it where it blocks nothing else, with secrets from the
    system's generator. It holds a new deck back until 2 s after the one before it (PD-17).
    """

    work: DeckWork


class Tell(msgspec.Struct, frozen=True):
    """Notify the player."""

    news: News


Effect: TypeAlias = Send | Push | Erase | Watch | ComputeDeck | Tell

# --- news for the player -----------------------------------------------------------------------


class FundingSent(msgspec.Struct, frozen=True):
    """The funding bundle is complete and pushed; it makes this channel coin."""

    coin: Coin
    deadline: int


class ChannelOpen(msgspec.Struct, frozen=True):
    """The channel coin has its confirmation depth: play begins."""

    coin: Coin
    height: int


class OpeningFailed(msgspec.Struct, frozen=True):
    """The funding was not confirmed by its deadline; the wallet coins are free again."""

    deadline: int


class Proposed(msgspec.Struct, frozen=True):
    """The other side proposes these games."""

    group: Group


class Cancelled(msgspec.Struct, frozen=True):
    """A proposal ended without a game."""

    group: Group
    mine: bool
    reason: str


class NotProposed(msgspec.Struct, frozen=True):
    """A proposal of our player was never sent, and will not be."""

    wishes: tuple[Wish, ...]
    reason: str


class NearLimit(msgspec.Struct, frozen=True):
    """The channel is near this limit of ours: it is closed as soon as no game is live."""

    limit: str


class SpendDropped(msgspec.Struct, frozen=True):
    """The node has dropped this spend, takes the same bytes no more, and we have no fee for others.

    The spend can get in if another fee may be paid, or through another node.
    """

    name: str


class FeeTooLow(msgspec.Struct, frozen=True):
    """This spend is not confirmed, and its fee in mojos cannot rise: it is at our maximum."""

    name: str
    fee: int


class GameStarted(msgspec.Struct, frozen=True):
    """A game of an accepted proposal began; `player` is our seat in it."""

    game: LiveGame
    player: Player


class YourTurn(msgspec.Struct, frozen=True):
    """It is our turn in this game: answer with `Act`."""

    game_id: int


class Acted(msgspec.Struct, frozen=True):
    """We made a move or (where `after` is `before`) a settlement; `player` is our seat after it."""

    game_id: int
    action: Action
    before: Position
    after: Position
    player: Player


class Moved(msgspec.Struct, frozen=True):
    """The other side made a legal move; `player` is our seat after it.

    `runs` of its program decided that; `disagreements` are where the Python rules differ from the
    program.
    """

    game_id: int
    after: Position
    player: Player
    runs: int
    disagreements: tuple[str, ...]


class GameSettled(msgspec.Struct, frozen=True):
    """A game ended off chain: what both sides were paid, in mojos, and who settled it."""

    game_id: int
    by_us: bool
    ours: int
    theirs: int


class SawCards(msgspec.Struct, frozen=True):
    """An early reveal of the other side was valid: our seat may see more now."""

    game_id: int
    player: Player


class Ignored(msgspec.Struct, frozen=True):
    """A harmless message was ignored, for this reason."""

    reason: str


class DeckReady(msgspec.Struct, frozen=True):
    """The deck with this number is finished: a proposal may name it."""

    number: int


class DeckBurnt(msgspec.Struct, frozen=True):
    """The deck with this number is given up; nothing was at stake.

    The other side's message of `step` breaks `rule` (both empty if neither side is to blame).
    """

    number: int
    rule: str
    step: int
    reason: str


class DecksUsedUp(msgspec.Struct, frozen=True):
    """The last deck number is used: no deck is begun in this channel any more (PD-10)."""


class OldCopy(msgspec.Struct, frozen=True):
    """This peer runs on an old copy of its store: it signed a state that it does not know.

    `signed` is the number of that state, `known` that of the newest state in the store. It signs
    and publishes nothing any more, and waits until the other side closes the channel.
    """

    signed: int
    known: int


class ShutdownStarted(msgspec.Struct, frozen=True):
    """The clean shutdown began, at these balances (initiator's, receiver's)."""

    by_us: bool
    balances: tuple[int, int]


class BrokenOff(msgspec.Struct, frozen=True):
    """We stop off-chain play: whom we blame, and the state that we publish (None: none yet).

    `slashable` are the games in which we can slash an illegal move on chain.
    """

    blame: Blame
    published: int | None
    slashable: tuple[int, ...] = ()


class OwnFault(msgspec.Struct, frozen=True):
    """We stop off-chain play, because we failed to handle an event: nobody else is to blame.

    `published` is the state that we publish (None: nothing that funds the channel is signed).
    """

    reason: str
    published: int | None


News: TypeAlias = (
    FundingSent
    | ChannelOpen
    | OpeningFailed
    | Proposed
    | Cancelled
    | NotProposed
    | NearLimit
    | SpendDropped
    | FeeTooLow
    | GameStarted
    | YourTurn
    | Acted
    | Moved
    | GameSettled
    | SawCards
    | Ignored
    | DeckReady
    | DeckBurnt
    | DecksUsedUp
    | OldCopy
    | ShutdownStarted
    | BrokenOff
    | OwnFault
    | ChainNews
)
