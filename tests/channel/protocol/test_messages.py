"""Bytes and messages: everything that is not exactly a message is refused before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.errors import Violation
from channelsim.channel.protocol import messages
from channelsim.channel.protocol.messages import (
    MAX_MESSAGE,
    Accept,
    Advisory,
    Batch,
    Cancel,
    DeckAbort,
    DeckStep,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Message,
    Move,
    Offer,
    Propose,
    Request,
    Resume,
    Settle,
    Shutdown,
    ShutdownDone,
    Welcome,
    as_text,
    decode,
    encode,
)

H, K, S = bytes(32), bytes(48), bytes(96)
COIN = Coin(H, H, 7)
BUNDLE = Bundle((Spend(COIN, b"\x01", b"\x80"),), S)
OFFER = Offer(3, "spacepoker", {"amount": 2000, "bet_unit": 100}, 15, True, 2000, (1, 2), H, 32, 0)
EVERY: tuple[Message, ...] = (
    Hello(K, K, H, S, S, (1, 2), 15, 10, 40, H),
    Launch(COIN, 30, K, S),
    FirstHalves(S, S),
    Funding(S, S, BUNDLE),
    Funded(BUNDLE),
    Request(),
    Batch(
        7,
        (Settle(1), Cancel(2, "no"), Accept(3), Move(4, b"m", 5, 6, H), Propose((OFFER,))),
        S,
        S,
    ),
    Advisory(3, b"data"),
    DeckStep(2, 1, b"step"),
    DeckAbort(2),
    Shutdown(S),
    ShutdownDone(S),
    Welcome(K, K, H, S, S, (1, 2), 15, 10, 40, K, S),
    Resume(6, 7, H, S, S, (3, 4), 4),
)


def _names(message: Message) -> str:
    return type(message).__name__


def refused(blob: bytes, rule: str = "CH-MSG-2") -> None:
    with pytest.raises(Violation) as caught:
        decode(blob)
    assert caught.value.rule == rule


def read(blob: bytes) -> Message | Violation:
    """The message, or the violation in one plain line that it is refused with."""
    try:
        return decode(blob)
    except Violation as violation:
        return said(violation)


def said(violation: Violation) -> Violation:
    assert violation.rule == "CH-MSG-2"
    assert str(violation).isprintable()
    return violation


def as_data(message: Message) -> dict[str, Any]:
    data = msgspec.msgpack.decode(encode(message))
    assert isinstance(data, dict)
    return data


def altered(message: Message, *path: str | int, to: object) -> bytes:
    """The message as bytes, one value deep inside it being another."""
    data = as_data(message)
    at: Any = data
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return msgspec.msgpack.encode(data)


def maps(data: object) -> Iterator[dict[str, object]]:
    """Every map in a message whose keys the protocol names, the message itself first."""
    if isinstance(data, dict):
        yield data
        # The keys of a game's parameters are the game's.
        data = [value for name, value in data.items() if name != "parameters"]
    for inner in data if isinstance(data, list) else ():
        yield from maps(inner)


def test_every_kind_of_message_is_here() -> None:
    assert {type(message) for message in EVERY} == set(messages.Message.__args__)


@pytest.mark.parametrize("message", EVERY, ids=_names)
def test_a_message_is_its_bytes(message: Message) -> None:
    assert decode(encode(message)) == message
    assert encode(decode(encode(message))) == encode(message)


@pytest.mark.parametrize("message", EVERY, ids=_names)
def test_a_message_is_refused_when_it_is_cut_short(message: Message) -> None:
    blob = encode(message)
    for size in range(len(blob)):
        refused(blob[:size])


@pytest.mark.parametrize("message", EVERY, ids=_names)
def test_a_message_is_refused_with_anything_behind_it(message: Message) -> None:
    refused(encode(message) + b"\x00")
    refused(encode(message) * 2)


@pytest.mark.parametrize("message", EVERY, ids=_names)
def test_a_message_is_refused_with_a_field_more_or_less(message: Message) -> None:
    data = as_data(message)
    for one in maps(data):
        one["extra"] = 1
        refused(msgspec.msgpack.encode(data))
        del one["extra"]
        for name, value in list(one.items()):
            del one[name]
            refused(msgspec.msgpack.encode(data))
            one[name] = value
    refused(msgspec.msgpack.encode({**data, "say": "hallo"}))
    refused(msgspec.msgpack.encode(list(data.values())))


@pytest.mark.parametrize("message", EVERY, ids=_names)
@pytest.mark.parametrize("wrong", [None, "text", -1, 1.5, [], {}, True, b"", 1 << 63])
def test_a_message_is_refused_with_a_field_of_another_type(message: Message, wrong: object) -> None:
    for name, value in as_data(message).items():
        if type(value) is type(wrong) and name != "say":
            continue
        refused(altered(message, name, to=wrong))


@pytest.mark.parametrize(
    ("message", "path", "value"),
    [
        (EVERY[10], ("channel_key",), bytes(47)),
        (EVERY[10], ("channel_key",), bytes(49)),
        (EVERY[0], ("channel_key_hash",), bytes(31)),
        (EVERY[0], ("reward_address",), bytes(33)),
        (EVERY[0], ("payout_signature",), bytes(95)),
        (EVERY[0], ("contributions",), [1]),
        (EVERY[0], ("contributions",), [1, 2, 3]),
        (EVERY[0], ("contributions", 0), -1),
        (EVERY[0], ("contributions", 1), 1 << 63),
        (EVERY[0], ("unroll_timeout",), 0),
        (EVERY[0], ("unroll_timeout",), 1 << 31),
        (EVERY[0], ("response_time",), 0),
        (EVERY[0], ("move_time",), 1 << 31),
        (EVERY[1], ("deadline",), -1),
        (EVERY[1], ("deadline",), 1 << 32),
        (EVERY[1], ("parent", "amount"), -1),
        (EVERY[1], ("parent", "parent"), bytes(31)),
        (EVERY[3], ("part", "signature"), bytes(97)),
        (EVERY[3], ("part", "spends", 0, "puzzle"), "text"),
        (EVERY[6], ("number",), 1),
        (EVERY[6], ("number",), -7),
        (EVERY[6], ("number",), 1 << 53),
        (EVERY[6], ("channel_half",), bytes(95)),
        (EVERY[6], ("unroll_half",), bytes(97)),
        (EVERY[6], ("actions",), [{"do": "settle", "game_id": 1}] * 1001),
        (EVERY[6], ("actions", 0), {"do": "resign", "game_id": 1}),
        (EVERY[6], ("actions", 0), {"do": "settle", "game_id": 1, "share": 3}),
        (EVERY[6], ("actions", 0, "game_id"), -1),
        (EVERY[6], ("actions", 0, "game_id"), 1 << 53),
        (EVERY[6], ("actions", 1, "reason"), "x" * 301),
        (EVERY[6], ("actions", 3, "share"), -1),
        (EVERY[6], ("actions", 3, "share"), 1 << 63),
        (EVERY[6], ("actions", 3, "max_move_size"), -1),
        (EVERY[6], ("actions", 3, "max_move_size"), 1 << 15),
        (EVERY[6], ("actions", 3, "commitment"), bytes(33)),
        (EVERY[6], ("actions", 4, "offers"), []),
        (EVERY[6], ("actions", 4, "offers", 0, "game"), ""),
        (EVERY[6], ("actions", 4, "offers", 0, "game"), "g" * 65),
        (EVERY[6], ("actions", 4, "offers", 0, "timeout"), 0),
        (EVERY[6], ("actions", 4, "offers", 0, "timeout"), -15),
        (EVERY[6], ("actions", 4, "offers", 0, "stakes", 0), -1),
        (EVERY[6], ("actions", 4, "offers", 0, "mover_share"), -1),
        (EVERY[6], ("actions", 4, "offers", 0, "commitment"), b""),
        (EVERY[6], ("actions", 4, "offers", 0, "parameters"), {"amount": "2000"}),
        (EVERY[6], ("actions", 4, "offers", 0, "parameters"), {"amount": True}),
        (EVERY[6], ("actions", 4, "offers", 0, "parameters"), {1: 1}),
        (EVERY[7], ("data",), bytes(4097)),
        (EVERY[7], ("game_id",), -2),
        (EVERY[8], ("half",), b""),
        (EVERY[9], ("signature",), bytes(48)),
    ],
)
def test_fields_out_of_bounds_are_refused(
    message: Message, path: tuple[str | int, ...], value: object
) -> None:
    refused(altered(message, *path, to=value))


def test_garbage_is_refused() -> None:
    for blob in (b"", b"\xc1", b"\x80", b"\x90", b"\xc0", b"{}", b"hello", b"\xff" * 100):
        refused(blob)
    refused(b"\xdd\xff\xff\xff\xff")  # an array of four thousand million items
    refused(b"\xdf\xff\xff\xff\xff")
    refused(b"\xc6\xff\xff\xff\xff")
    refused(b"\x91" * 100_000)  # deeper than anything could read
    refused(b"\x81\xa3say\xa7req\xffest")  # not UTF-8
    refused(msgspec.json.encode(Request()))


def test_the_reason_never_carries_what_the_peer_wrote_as_it_is() -> None:
    for text in ("two\nlines", "\x1b[2Jcleared", "\u202eback"):
        said_of = read(msgspec.msgpack.encode({"say": text}))
        assert isinstance(said_of, Violation)
        assert str(said_of).isascii()


def test_too_long_a_message_is_not_even_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Untouchable:
        def decode(self, blob: bytes) -> Message:
            raise AssertionError("it was decoded")

    longest = encode(Advisory(1, b"")) + bytes(MAX_MESSAGE)
    with monkeypatch.context() as patch:
        patch.setattr(messages, "_decoder", Untouchable())
        refused(longest, "CH-MSG-1")
        refused(longest[: MAX_MESSAGE + 1], "CH-MSG-1")
        with pytest.raises(AssertionError):
            decode(longest[:MAX_MESSAGE])
    refused(longest[:MAX_MESSAGE], "CH-MSG-2")


def test_a_message_may_be_nearly_as_long_as_allowed() -> None:
    puzzle = bytes(MAX_MESSAGE - 1000)
    message = Funded(Bundle((Spend(COIN, puzzle, b"\x80"),), S))
    assert decode(encode(message)) == message


@pytest.mark.parametrize("words", ["stop\n", "\nstop", "st\x1bop", "trop t\u00f4t", "x" * 301])
def test_a_text_is_one_plain_line_and_any_words_are_sent_as_one(words: str) -> None:
    refused(encode(Batch(7, (Cancel(4, words),), S, S)), "CH-MSG-2")
    sent = Batch(7, (Cancel(4, as_text(words)),), S, S)
    assert decode(encode(sent)) == sent


@pytest.mark.parametrize("name", ["poker\n", "po ker", "", "\u00e9"])
def test_a_name_is_plain_and_has_no_end_of_line(name: str) -> None:
    offer = replace(OFFER, game=name)
    refused(encode(Batch(7, (Propose((offer,)),), S, S)), "CH-MSG-2")


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_message_or_a_violation(blob: bytes) -> None:
    assert isinstance(read(blob), messages.Message | Violation)


@given(st.sampled_from(EVERY), st.data())
@settings(max_examples=500, deadline=None)
def test_altered_bytes_are_a_message_or_a_violation(message: Message, data: st.DataObject) -> None:
    blob = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(read(bytes(blob)), messages.Message | Violation)
