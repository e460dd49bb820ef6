"""Inputs that tell programs apart are shown in their plainest form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.prove import shrinking
from channelsim.channel.prove.arguments import (
    AMOUNT,
    EVIDENCE,
    MOVE,
    SHARE,
    STATE,
    coin_field,
    part,
)
from channelsim.channel.prove.concrete_runs import differ, outcomes
from channelsim.channel.prove.proof import Question, compare
from channelsim.channel.prove.shrinking import shrunk
from channelsim.clsp.programs import Program
from channelsim.clsp.run import cut_offs
from channelsim.clsp.values import NIL, Value, atom_to_int, to_list
from channelsim.games import registry
from tests.channel.prove.programs import assemble


def question(left: str, right: str) -> Question:
    target = of_game(registry.get("spacepoker"))
    first, second = (
        replace(target, name=name, programs={**target.programs, "commitA": assemble(text)})
        for name, text in (("left", left), ("right", right))
    )
    return compare(first, second, "commitA", 32)


def arguments(state: bytes) -> Value:
    coin = to_list(
        [
            *(b"\xaa" * 48, b"\xbb" * 48, b"\x77", b"\x7f" * 8, b"\x05" * 32, b"\x7f" * 5),
            *(b"\x05\x80\x07", b"\x20", b"\x09" * 32, b"\x11" * 8, b"\x08" * 32),
        ]
    )
    return to_list([b"\x01" * 32, coin, state, NIL, (b"a", (b"b", b"c")), b"\x03" * 32])


def test_numbers_moves_and_evidence_become_plain() -> None:
    asked = question("(if (> SHARE 5) (> 0 (substr MOVE 1 2)) ())", "()")
    shown = shrunk(asked, arguments(b"\x64"))
    assert differ(*outcomes(asked.programs, shown))
    assert atom_to_int(part(shown, coin_field(SHARE))) == 10
    assert part(shown, coin_field(MOVE)) == b"\x00\x80\x00"
    assert part(shown, EVIDENCE) == NIL
    assert part(shown, coin_field(0)) == bytes(48)
    # The share stays within the amount, and the state stays one that its reader takes: from 1.
    assert atom_to_int(part(shown, coin_field(AMOUNT))) == 10
    assert part(shown, STATE) == b"\x01"


def test_what_the_difference_needs_stays() -> None:
    asked = question("(if (= STATE 100) (l EVIDENCE) ())", "()")
    shown = shrunk(asked, arguments(b"\x64"))
    assert part(shown, STATE) == b"\x64"
    assert isinstance(part(shown, EVIDENCE), tuple)


@pytest.mark.usefixtures("early_cut_offs")
def test_runs_without_end_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes seconds: an input on which a program never ends is shrunk by a few of them."""
    monkeypatch.setattr(shrinking, "ENDLESS", 2)
    asked = question("(if (= STATE 100) 1 ())", "()")
    (left, right), given = asked.targets, arguments(b"\x64")
    # (a 1 1) in an environment that is this code, where the state is 100.
    code = bytes.fromhex("ff02ff01ff0180")
    endless = Program(bytes.fromhex("ff02ffff01") + code + bytes.fromhex("ffff01") + code + b"\x80")
    claim = replace(asked.claim, programs=(endless, right.programs["commitA"]))  # type: ignore[type-var]
    before = cut_offs()
    assert differ(*outcomes([endless, right.programs["commitA"]], given))
    assert cut_offs() == before + 1
    shrunk(replace(asked, claim=claim, targets=(left, right)), given)
    assert before + 1 < cut_offs() <= before + 1 + 2
