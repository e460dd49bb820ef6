"""Cases in the notation of conformance vectors."""

from __future__ import annotations

from dataclasses import replace

from channelsim.channel.lab.cases.describe import described_value, vector
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import plain_hands
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, serialize
from channelsim.games import registry, vectors


def test_the_hash_of_a_program_in_a_move_is_written_as_the_bytes_that_it_is() -> None:
    """Alice commits to the hash of a program that is another one in the installed game."""
    target = of_game(registry.get("calpoker"))
    other = Program(serialize(b"\x07"))
    target = replace(target, programs={**target.programs, "b": other})
    site = site_of(target, next(plain_hands(target, b"")))
    call = other.hash, 0, NIL
    case = vector(target, site, call, site.rules_say(target, *call), "copied", 0)
    assert case.next is not None
    assert (case.move, case.next.state) == (other.hash.hex(), f"0x{other.hash.hex()}")
    assert vectors.check(case) == []


def test_the_hash_of_a_program_elsewhere_is_written_by_its_name() -> None:
    target = of_game(registry.get("calpoker"))
    value = (target.hashes["b"], (b"\x05", NIL))
    assert described_value(value, target) == [{"program": "b"}, 5]
    assert described_value(value, target, b"a move") == [{"program": "b"}, 5]
