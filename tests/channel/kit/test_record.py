"""`channelsim record`: a driver's hands on the programs of a target without rules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from channelsim.channel.errors import UsageError
from channelsim.channel.kit.driver import Hand, Move, NotPlain, Start, to_value
from channelsim.channel.kit.recording import LONGEST, Recording, record
from channelsim.channel.lab.targets.loading import load, read
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.programs import Program
from channelsim.clsp.values import serialize, to_list
from channelsim.games.chance import Chance
from channelsim.games.referee import referee
from channelsim.games.vectors import check_program
from tests.channel.command import Ran, channelsim
from tests.channel.lab.toys import toy
from tests.games.word_game import GAPS, sign_gap, word_game
from tests.paths import ROOT


def target(folder: Path, driver: str) -> Path:
    """An ultimatum game, whose driver is this text."""
    curried = "(A1 A2 A3 AMOUNT A5 A6 MOVE A8 A9 SHARE A11)"
    head = f"(mod (program_hash {curried} state program evidence . rest)"
    (folder / "offer.clsp").write_text(
        f'{head} (include *standard-cl-23*) (include "hashes/answer.clinc")'
        " (if (all (> MOVE 0) (> AMOUNT MOVE) (= SHARE 0)) (list ANSWER_HASH (list MOVE) 1) ()))"
    )
    (folder / "answer.clsp").write_text(
        f"{head} (include *standard-cl-23*)"
        " (if (= MOVE 1) (if (= SHARE (- AMOUNT (f state))) (list 0 0 0) ())"
        ' (if (= MOVE ()) (if (= SHARE (/ AMOUNT 2)) (list 0) ()) (x "neither"))))'
    )
    (folder / "driver.py").write_text(dedent(driver))
    path = folder / "target.toml"
    path.write_text(
        'name = "ultimatum"\n[programs]\noffer = "offer.clsp"\nanswer = "answer.clsp"\n'
        '[play]\nhonest = "honest.jsonl"\ndriver = "driver.py"\n'
    )
    return path


BEGIN = """
    from functools import reduce
    from channelsim.channel.kit.driver import Move, Start

    def hand(chance):
        offer = chance.between(1, 999)
        yield Start("offer", amount=1000, max_move_size=2)
"""
GOOD = f"""{BEGIN}
        print("what a driver prints")
        state = yield Move(0, expect="slash")
        assert state == b""
        (offered, _) = yield Move(offer)
        assert int.from_bytes(offered, "big") == offer
        yield Move(2, expect="raise")
        if chance.chance(50):
            end = yield Move(1, share=1000 - offer)
        else:
            end = yield Move(b"", share=500, evidence=[1, b"x"])
        assert end is None
"""


def recorded(capsys: pytest.CaptureFixture[str], path: Path, *options: object) -> Ran:
    return channelsim(capsys, "record", path, *options)


def test_the_programs_give_the_states_and_judge_every_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = target(tmp_path, GOOD)
    ran = recorded(capsys, path, "--hands", 20)
    assert (ran.code, set(ran.err.splitlines())) == (0, {"what a driver prints"}), ran.out
    assert "both players are paid" in ran.out
    assert "answer ended no hand in which the opponent takes all" in ran.out
    assert "never reached" in ran.out
    made = load(str(path))
    assert {case.validator for case in made.honest} == {"offer", "answer"}
    assert {case.expect for case in made.honest} == {"valid", "slash", "raise"}
    assert all(check_program(case, made.name, made.programs) == [] for case in made.honest)
    first = (tmp_path / "honest.jsonl").read_bytes()
    assert len(first.splitlines()) > 60
    document = json.loads(recorded(capsys, path, "--hands", 20, "--json").out)
    assert (document["hands"], document["wrong"]) == (20, None)
    assert document["endings"] == [
        {"validator": "answer", "ending": "both players are paid", "hands": 20}
    ]
    assert {one["code"] for one in document["validators"]["answer"]["unreached"]}
    assert (tmp_path / "honest.jsonl").read_bytes() == first
    assert recorded(capsys, path, "--seed", "other", "-o", tmp_path / "b.jsonl").code == 0
    assert (tmp_path / "b.jsonl").read_bytes() != first


@pytest.mark.parametrize(
    ("move", "place", "difference"),
    [
        ("Move(1000)", "hand 1, move 1 (offer)", "the program says slash, the driver valid"),
        ("Move(5, share=1)", "hand 1, move 1 (offer)", "the program says slash, the driver valid"),
        ("Move(5, expect='slash')", "hand 1, move 1 (offer)", "says valid, the driver slash"),
        (
            "Move(offer); yield Move(2, share=1)",
            "hand 1, move 2 (answer)",
            "the program says raise, the driver valid",
        ),
    ],
)
def test_the_first_wrong_line_is_named_and_nothing_is_written(
    move: str, place: str, difference: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = target(tmp_path, f"{BEGIN}        yield {move}\n")
    (tmp_path / "honest.jsonl").write_text("as it was")
    ran = recorded(capsys, path)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith(place)
    assert difference in ran.out
    case = json.loads(ran.out.splitlines()[1])
    assert case["game"] == "ultimatum"
    assert (tmp_path / "honest.jsonl").read_text() == "as it was"
    document = json.loads(recorded(capsys, path, "--json").out)
    assert document["wrong"]["place"] == place


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "defines no function `hand(chance)` that yields a hand"),
        ("x = (", "driver.py: line 1: not Python: '(' was never closed"),
        ("\n1 / 0", "driver.py: line 2: ZeroDivisionError: division by zero"),
        ("raise SystemExit('out')", "driver.py: line 1: SystemExit: out"),
        ("def hand(chance):\n    return\n    yield", "hand 1: yields nothing; first comes its St"),
        ("def hand(chance):\n    yield 5", "hand 1, its Start: a int, not a Start"),
        (f"{BEGIN}        raise SystemExit(0)", "line 8: SystemExit: 0 (hand 1, move 1)"),
        ("def hand():\n    yield 5", "TypeError: hand() takes 0 positional arguments but 1 was"),
        (f"{BEGIN}        yield 5", "hand 1, move 1: a int, not a Move"),
        (f"{BEGIN}        1 / 0", "line 8: ZeroDivisionError: division by zero (hand 1, move 1)"),
        (f"{BEGIN}        yield Move('a')", "move: a str, not bytes or a number"),
        (f"{BEGIN}        yield Move(1 << 16)", "move: 3 bytes, at most 2 are allowed"),
        (
            f"{BEGIN}        yield Move(1, share=1001)",
            "share: 1001 is not a number from 0 to 1,000",
        ),
        (f"{BEGIN}        yield Move(1, share=-1)", "share: -1 is not a number from 0 to 1,000"),
        (f"{BEGIN}        yield Move(1, evidence='a')", "evidence: a str is not a number, bytes"),
        (f"{BEGIN}        yield Move(1, signature=b'a')", "signature: not 96 bytes"),
        (f"{BEGIN}        yield Move(1, expect='ok')", "expect: 'ok' is not valid, slash or raise"),
        (GOOD + "        yield Move(1)", "move 5: the hand is over, and the driver moves on"),
        (BEGIN.replace("'offer'", "''").replace('"offer"', '"ofer"'), "did you mean `offer`?"),
        (BEGIN.replace("=1000", "=0"), "amount: 0 is not a number from 1 to"),
        (BEGIN.replace("=2", "=70000"), "max_move_size: 70000 is not a number from 0 to 65,535"),
        (
            BEGIN.replace("=2", "=2, state=reduce(lambda deep, _: [deep], range(2000), 0)"),
            "state: lists nested too deep",
        ),
        (
            f"{BEGIN}        while True: yield Move(0, expect='slash')",
            f"more than {LONGEST} moves in one hand",
        ),
    ],
)
def test_a_wrong_driver_is_one_line(
    text: str, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = recorded(capsys, target(tmp_path, text))
    assert (ran.code, ran.out) == (2, "")
    (line,) = (line for line in ran.err.splitlines() if line.startswith("channelsim: "))
    assert said in line
    assert not (tmp_path / "honest.jsonl").exists()


@pytest.mark.parametrize(
    "body",
    [
        "yield Start('offer', 9, 1); yield from moves",
        "return iter([Start('offer', 9, 1), *moves])",
    ],
)
def test_a_hand_may_be_any_iterator(
    body: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    driver = f"""
        from channelsim.channel.kit.driver import Move, Start

        def hand(chance):
            moves = [Move(0, expect="slash"), Move(4), Move(1, share=5)]
            {body}
    """
    assert recorded(capsys, target(tmp_path, driver)).code == 0


def test_the_driver_in_the_docs_works(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    blocks = re.findall(r"```python\n(.*?)```", pages, re.DOTALL)
    (driver,) = (block for block in blocks if "def hand(chance)" in block)
    assert recorded(capsys, target(tmp_path, driver)).code == 0


def test_a_driver_that_never_ends_is_given_up(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = target(tmp_path, f"{BEGIN}        while True: pass\n")
    ran = recorded(capsys, path, "--seconds", 0.2)
    assert ran.code == 2
    assert "not done after --seconds 0.2" in ran.err


def test_a_validator_that_no_hand_reaches_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = recorded(capsys, target(tmp_path, f"{BEGIN}        yield Move(offer)\n"))
    assert ran.code == 1
    assert "ultimatum: never tried: answer" in ran.err
    assert "50 hands stopped before the end" in ran.out


def test_an_installed_game_and_a_target_without_a_driver_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "an installed game plays its own hands" in recorded(capsys, Path("spacepoker")).err
    ran = recorded(capsys, toy(tmp_path))
    assert ran.code == 2
    assert "names no driver" in ran.err


ANSWER = Program(b"\x80")
CONDITION = to_list([b"1", b"key", b"message"])


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ([ANSWER.hash, [b"\x05"], b"\x01"], ""),
        ([ANSWER.hash, [b"\x05"], b""], ""),
        ([ANSWER.hash, [b"\x05"], b"\x01", CONDITION], "the program asks for extra conditions"),
        ([b"", b"", b""], ""),
        ([b""], ""),
        ([bytes(32), [b"\x05"], b"\x01"], "the program leads to none of the target's programs"),
        ((ANSWER.hash, b"\x05"), "the program returns no list"),
        ([ANSWER.hash, b"", b"\xff"], "the program's size limit is not a number from 0 to 65,535"),
        (
            [ANSWER.hash, b"", b"\x00\x01"],
            "the program's size limit is not a number from 0 to 65,535",
        ),
        ([ANSWER.hash, b"", b"\x01\x00\x00"], "the program's size limit is not a number from 0 to"),
        (
            [ANSWER.hash, b"", [b"\x01"]],
            "the program's size limit is not a number from 0 to 65,535",
        ),
        ([ANSWER.hash, (b"a", b"b"), b"\x01"], ""),
        ([ANSWER.hash, b"", b"", (b"a", b"b")], "the program asks for extra conditions"),
        ([ANSWER.hash, b"", b"", *[CONDITION] * 17], "asks for conditions that no case can hold"),
    ],
)
def test_a_result_that_is_no_record_is_a_wrong_line(result: object, said: str) -> None:
    program = Program(serialize((b"\x01", to_value(result, {}))))
    made = Target("a target", {"offer": program, "answer": ANSWER}, referee())

    def hand(chance: Chance) -> Hand:
        yield Start("offer", 1000, 2)
        yield Move(5, evidence=1)

    found = record(made, hand, Path("driver.py"), 1, "x")
    assert (found.wrong is None) is (not said)
    assert found.wrong is None or said in found.wrong.difference
    assert all(check_program(case, made.name, made.programs) == [] for case in found.cases)


def test_a_move_that_is_slashed_without_evidence_is_not_honest() -> None:
    """The program is `(if evidence (list 0) ())`."""
    sides = ((b"\x01", (b"\x01", result)) for result in ((b"", b""), b""))
    program = Program(serialize(to_list([b"\x02", to_list([b"\x03", b"\x2f", *sides]), b"\x01"])))
    made = Target("a target", {"offer": program}, referee())

    def hand(chance: Chance) -> Hand:
        yield Start("offer", 1000, 2)
        yield Move(5, evidence=1)

    wrong = record(made, hand, Path("driver.py"), 1, "x").wrong
    assert wrong is not None
    assert wrong.difference == "the program slashes it with the evidence ()"


def test_a_slash_under_extra_conditions_is_recorded_with_its_signature(tmp_path: Path) -> None:
    """`luck` is between two words of the list, and the signer signed that nothing is there."""
    programs = word_game().programs
    made = Target("words", programs, referee())
    gap = next(gap for gap in GAPS if gap[0] < b"luck" < gap[1])

    def recording(**changes: Any) -> Recording:
        held = {"evidence": list(gap), "signature": sign_gap(*gap), "expect": "slash", **changes}

        def hand(chance: Chance) -> Hand:
            yield Start("say", 1000, 4)
            yield Move(b"luck", **held)
            yield Move(b"game")

        return record(made, hand, tmp_path / "driver.py", 1, "x")

    found = recording()
    assert found.wrong is None
    cheat, honest = found.cases
    assert (cheat.expect, cheat.tag, honest.expect) == ("valid", "illegal", "valid")
    assert cheat.conditions
    assert [check_program(case, "words", programs) for case in found.cases] == [[], []]
    for changes, difference in (
        ({"signature": sign_gap(*GAPS[0])}, "the program says valid, the driver slash"),
        ({"signature": b"", "expect": "valid"}, "extra conditions"),
    ):
        wrong = recording(**changes).wrong
        assert wrong is not None
        assert difference in wrong.difference
    with pytest.raises(UsageError, match="signature: not 96 bytes"):
        recording(signature=b"short")


@pytest.mark.parametrize(
    "data", [True, "a", 1.5, None, {"program": "x"}, {"a": 1}, (1, 2, 3), [{}]]
)
def test_what_is_no_plain_data_is_refused(data: object) -> None:
    with pytest.raises(NotPlain):
        to_value(data, {})


def test_plain_data_is_converted() -> None:
    assert to_value([1, (2, 3), {"program": "x"}], {"x": b"hash"}) == (
        b"\x01",
        ((b"\x02", b"\x03"), (b"hash", b"")),
    )
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(NotPlain):
        to_value(deep, {})


def test_a_target_loads_without_its_honest_play_only_for_a_recording(tmp_path: Path) -> None:
    path = target(tmp_path, GOOD)
    assert read(path, honest_play=False).honest == ()
    with pytest.raises(UsageError, match=r"honest\.jsonl: cannot be read"):
        read(path)
