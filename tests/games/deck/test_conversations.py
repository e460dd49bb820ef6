"""Stored conversations: the same bytes from the same secrets, and the same checks refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from channelsim.games.deck import initiator, receiver
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import G1
from channelsim.games.deck.secrets import DeckSecrets
from channelsim.games.deck.terms import decode_terms
from tests.paths import DATA

LINES = [
    json.loads(line)
    for line in (DATA / "deck" / "conversations.jsonl").read_text("utf-8").splitlines()
]
WHOLE = {line["id"]: line for line in LINES if line["kind"] == "deck"}
ALTERED = [line for line in LINES if line["kind"] == "deck-message"]
QUICK = {"deck-shared1-0"}


def marked(of: str, *values: object) -> Any:
    return pytest.param(*values, marks=() if of in QUICK else pytest.mark.long)


def secrets(data: Mapping[str, Any]) -> DeckSecrets:
    return DeckSecrets(
        nonce=bytes.fromhex(data["nonce"]),
        bits=bytes.fromhex(data["bits"]),
        salt=bytes.fromhex(data["salt"]),
        mask=int(data["mask"], 16),
        permutation=tuple(data["permutation"]),
        locks=tuple(int(lock, 16) for lock in data["locks"]),
        round_seeds=tuple(map(bytes.fromhex, data["round_seeds"])),
        lock_nonces=tuple(int(nonce, 16) for nonce in data["lock_nonces"]),
    )


@cache
def played(
    name: str,
) -> tuple[list[bytes], list[FinishedDeck], dict[int, Callable[[bytes], object]]]:
    """The messages of a conversation, its decks, and the receiver of each step."""
    group, line = G1(), WHOLE[name]
    terms = decode_terms(bytes.fromhex(line["terms"]))
    ours, theirs = secrets(line["a"]), secrets(line["b"])
    started, one = receiver.start(group, terms, theirs)
    shuffled, two = initiator.answer(group, terms, ours, one)
    both, three = started.receive(two)
    locked, four = shuffled.receive(three)
    at_receiver, five = both.receive(four)
    at_initiator = locked.receive(five)
    receivers: dict[int, Callable[[bytes], object]] = {
        1: lambda message: initiator.answer(group, terms, ours, message),
        2: started.receive,
        3: shuffled.receive,
        4: both.receive,
        5: locked.receive,
    }
    return [one, two, three, four, five], [at_initiator, at_receiver], receivers


@pytest.mark.parametrize("name", [marked(name, name) for name in WHOLE])
def test_the_same_secrets_make_the_same_bytes(name: str) -> None:
    line = WHOLE[name]
    messages, decks, _ = played(name)
    assert [message.hex() for message in messages] == line["messages"]
    positions = decks[0].terms.positions
    for deck in decks:
        assert deck.deck.hex() == line["deck_id"]
        assert deck.root(positions).hex() == line["root"]
        assert [point.hex() for point in deck.points] == line["D"]
        assert [key.hex() for key in deck.initiator_keys] == line["K"]
        assert [key.hex() for key in deck.receiver_keys] == line["L"]
    for deck, other in (decks, decks[::-1]):
        cards = [deck.card(at, other.opening(at)) for at in range(positions)]
        assert cards == line["cards"]


@pytest.mark.parametrize("line", [marked(line["of"], line) for line in ALTERED])
def test_an_altered_message_is_refused_by_the_same_check(line: Mapping[str, Any]) -> None:
    receivers = played(line["of"])[2]
    message = bytes.fromhex(line["message"])
    if line["expect"] == "accepted":
        receivers[line["step"]](message)
        return
    with pytest.raises(DeckFault) as raised:
        receivers[line["step"]](message)
    assert raised.value.rule == line["expect"]
