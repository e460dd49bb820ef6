"""The messages between two peers, as bytes: strict MessagePack, one tagged map per message.

Everything is validated here, once: sizes before decoding, then types, lengths and ranges.
Source: spec/channel.md, "Messages".
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from channelsim.channel.chain.coins import Bundle, Coin, Hash, Height, Key, Mojos, Signature
from channelsim.channel.errors import Violation
from channelsim.games.amounts import counted

MAX_MESSAGE = 10 * 1024 * 1024
"""Bytes; a longer message is refused before it is decoded."""

MAX_OPENING_MESSAGE = 1 << 16
"""Bytes of a message of the opening; the largest holds three spends."""

MAX_TEXT = 300
"""Characters of a text in a message."""

MAX_MOVE = (1 << 15) - 1
"""Bytes of a move: what a referee's size limit of two bytes can say."""

MAX_DECK_STEP = 1 << 15
"""Bytes of a step of a deck's preparation under any terms."""

MAX_PARAMETERS = 16
"""Parameters of a game in a proposal."""

MAX_RESUMED_DECKS = 8
"""Decks that a side still has on a new connection, with those that its last batch named."""

MAX_OFFERS = 100
"""Games in a proposal."""

MAX_ACTIONS = 500
"""Actions in a batch: for 100 live games, and 100 open proposals, each kind of action."""

LAST_GAME = LAST_STATE = (1 << 53) - 1
LAST_DECK = (1 << 32) - 1

GameId = Annotated[int, Meta(ge=0, le=LAST_GAME)]
# Words of the other side are shown to people: no control characters, no surprises.
Name = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[!-~]+\Z")]
Text = Annotated[str, Meta(max_length=MAX_TEXT, pattern=r"^[ -~]*\Z")]
Commitment = Annotated[bytes, Meta(max_length=32)]
Blocks = Annotated[int, Meta(gt=0, lt=1 << 31)]
DeckNumber = Annotated[int, Meta(ge=0, le=LAST_DECK)]
StateNumber = Annotated[int, Meta(ge=0, le=LAST_STATE)]


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="say"):
    pass


# --- opening -----------------------------------------------------------------------------------


class Introduction(_Message, frozen=True):
    """The part that messages A and B share: keys, the reward address, and the terms.

    `contributions` are the initiator's, then the receiver's; times are in blocks.
    """

    unroll_key: Key
    referee_key: Key
    reward_address: Hash
    payout_signature: Signature
    unroll_proof: Signature
    contributions: tuple[Mojos, Mojos]
    unroll_timeout: Blocks
    response_time: Blocks
    move_time: Blocks


class Hello(Introduction, frozen=True, tag="hello"):
    """A: the initiator, with the sha256 of its channel key, which it shows in C."""

    channel_key_hash: Hash


class Welcome(Introduction, frozen=True, tag="welcome"):
    """B: the receiver, with its channel key."""

    channel_key: Key
    channel_proof: Signature


class Launch(_Message, frozen=True, tag="launch"):
    """C: the wallet coin that the launcher comes from, and the deadline of the funding; and the
    initiator's channel key."""

    parent: Coin
    deadline: Height
    channel_key: Key
    channel_proof: Signature


class FirstHalves(_Message, frozen=True, tag="first-halves"):
    """D: the receiver's halves for state 0, which only the initiator can complete."""

    channel_half: Signature
    unroll_half: Signature


class Funding(_Message, frozen=True, tag="funding"):
    """E: the initiator's halves for state 1, and its part of the funding bundle."""

    channel_half: Signature
    unroll_half: Signature
    part: Bundle


class Funded(_Message, frozen=True, tag="funded"):
    """F: the completed funding bundle."""

    bundle: Bundle


# --- a new connection --------------------------------------------------------------------------


class Resume(_Message, frozen=True, tag="resume"):
    """The last numbers of a side, which it sends first on each new connection.

    `received` is the newest state that it can complete, `sent` the newest that it sent. The rest
    proves the first: `conditions` is the tree hash of that state's conditions without the time
    lock, and the halves of it are those of the side that gets this message. `decks` are the
    numbers of the decks in preparation or ready, with those that its last batch named, and
    `highest_deck` is the highest number ever used.
    """

    received: StateNumber
    sent: StateNumber
    conditions: Hash
    channel_half: Signature
    unroll_half: Signature
    decks: Annotated[tuple[DeckNumber, ...], Meta(max_length=MAX_RESUMED_DECKS)]
    highest_deck: DeckNumber


# --- the potato --------------------------------------------------------------------------------


class _Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do"):
    pass


class Settle(_Action, frozen=True, tag="settle"):
    """Take the mover share of this game and leave the rest to the other side."""

    game_id: GameId


class Cancel(_Action, frozen=True, tag="cancel"):
    """Withdraw or refuse the group whose first game has this id."""

    group_id: GameId
    reason: Text


class Accept(_Action, frozen=True, tag="accept"):
    """Take up the group whose first game has this id."""

    group_id: GameId


class Move(_Action, frozen=True, tag="move"):
    """A move: its bytes, the opponent's share, the next size limit, and the commitment.

    The commitment is the next infohash, or empty when the move ends the game.
    """

    game_id: GameId
    move: Annotated[bytes, Meta(max_length=MAX_MOVE)]
    share: Mojos
    max_move_size: Annotated[int, Meta(ge=0, le=MAX_MOVE)]
    commitment: Commitment


class NamedDeck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The prepared deck of a game, and the hash of the positions that the game uses."""

    number: DeckNumber
    root: Hash


class Offer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One game of a proposal, with the initial record that follows from it.

    `stakes` are the initiator's, then the receiver's; `proposer_is_alice`: who moves first. `deck`
    is there in a game that is played with one.
    """

    game_id: GameId
    game: Name
    parameters: Annotated[dict[Name, int], Meta(max_length=MAX_PARAMETERS)]
    timeout: Blocks
    proposer_is_alice: bool
    amount: Mojos
    stakes: tuple[Mojos, Mojos]
    commitment: Hash
    max_move_size: Annotated[int, Meta(ge=0, le=MAX_MOVE)]
    mover_share: Mojos
    deck: NamedDeck | None = None


class Propose(_Action, frozen=True, tag="propose"):
    """Offer a group of games, to be accepted all together or not at all."""

    offers: Annotated[tuple[Offer, ...], Meta(min_length=1, max_length=MAX_OFFERS)]


BatchAction: TypeAlias = Settle | Cancel | Accept | Move | Propose


class Request(_Message, frozen=True, tag="request"):
    """Ask for the potato."""


class Batch(_Message, frozen=True, tag="batch"):
    """The potato with what its holder did: the new state's number, actions, and halves."""

    number: Annotated[int, Meta(ge=2, le=LAST_STATE)]
    actions: Annotated[tuple[BatchAction, ...], Meta(max_length=MAX_ACTIONS)]
    channel_half: Signature
    unroll_half: Signature


class Advisory(_Message, frozen=True, tag="advisory"):
    """An early reveal; changes nothing but what the other player can see."""

    game_id: GameId
    data: Annotated[bytes, Meta(max_length=4096)]


class DeckStep(_Message, frozen=True, tag="deck"):
    """A step of the preparation of the deck with this number; like an early reveal, it changes no
    state and needs no potato.

    Step 0, of deck 0 and without bytes, asks the receiver to start a deck.
    """

    deck_no: DeckNumber
    step: Annotated[int, Meta(ge=0, le=5)]
    data: Annotated[bytes, Meta(max_length=MAX_DECK_STEP)]


class DeckAbort(_Message, frozen=True, tag="deck-abort"):
    """Give up a deck that no game has named."""

    deck_no: DeckNumber


class Shutdown(_Message, frozen=True, tag="shutdown"):
    """A half-signature of the channel coin's spend straight to both balances."""

    half: Signature


class ShutdownDone(_Message, frozen=True, tag="shutdown-done"):
    """The completed signature of the shutdown that was asked for."""

    signature: Signature


Message: TypeAlias = (
    Hello
    | Welcome
    | Launch
    | FirstHalves
    | Funding
    | Funded
    | Resume
    | Request
    | Batch
    | Advisory
    | DeckStep
    | DeckAbort
    | Shutdown
    | ShutdownDone
)

ASIDE = Advisory | DeckStep | DeckAbort
"""Messages beside the potato: they change no state, and nobody waits for an answer to them."""

UNSIGNED = Request | Resume | ASIDE
"""Messages that sign nothing."""

_offers: msgspec.msgpack.Decoder[Offer] = msgspec.msgpack.Decoder(Offer, strict=True)
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message, strict=True)


def as_text(text: str) -> str:
    """The text as it may be sent: cut, with question marks for all but plain ASCII.

    >>> as_text("trop tôt\\n")
    'trop t?t?'
    """
    return "".join(c if " " <= c <= "~" else "?" for c in text[:MAX_TEXT])


def encode(message: Message) -> bytes:
    """The bytes of a message."""
    return _encoder.encode(message)


def unsendable(offer: Offer) -> str | None:
    """The reason why the other side could not decode this offer; None if it can."""
    try:
        _offers.decode(_encoder.encode(offer))
    except (msgspec.MsgspecError, OverflowError) as error:
        return str(error)
    return None


def decode(blob: bytes, max_bytes: int = MAX_MESSAGE) -> Message:
    """The message with these bytes. Raises `Violation` for anything else.

    `max_bytes` is the longest message that can be meant at this step (`channel.protocol.limits`).

    >>> decode(encode(Request()))
    Request()
    """
    if len(blob) > max_bytes:
        raise Violation(
            "CH-MSG-1", f"{counted(len(blob), 'byte')}; at most {max_bytes} at this step"
        )
    try:
        return _decoder.decode(blob)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # What it says may quote the other side: one line, and nothing that moves a cursor.
        raise Violation("CH-MSG-2", ascii(f"{error}"[:200])[1:-1]) from None
