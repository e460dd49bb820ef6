"""Games with extra conditions: a slash that pays under a known signature is a slash."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from chia_rs import AugSchemeMPL

from channelsim.channel.findings.finding import DISAGREEMENT, THEFT, UNSLASHABLE
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck
from channelsim.channel.lab.crosscheck.vectors import make
from channelsim.channel.lab.node.game_spends import game_spends
from channelsim.channel.lab.node.node_checks import PASSES, UNSIGNED, check_on_node, predict
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.games import registry, vectors
from channelsim.games.contract import Game
from channelsim.games.referee import referee
from tests.games.word_game import AGG_SIG_UNSAFE, GAPS, KEY, SOURCE, WORDS, sign_gap, word_game
from tests.sampling import one_in

CASES = 160

AGG_SIG_ME = 50

STRANGER = f"0x{bytes(AugSchemeMPL.key_gen(bytes(range(32))).get_g1()).hex()}"


@cache
def game(source: str = SOURCE, code: int = AGG_SIG_UNSAFE) -> Game:
    return word_game(source, code)


def broken(old: str, new: str) -> str:
    assert SOURCE.count(old) == 1
    return SOURCE.replace(old, new)


def target(monkeypatch: pytest.MonkeyPatch, source: str = SOURCE) -> Target:
    """The word game with the program of this source, against its right rules."""
    get = registry.get
    monkeypatch.setattr(registry, "get", lambda name: game() if name == "words" else get(name))
    return Target("words", game(source).programs, referee(), "words")


def test_rules_and_program_agree_and_false_words_are_slashed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tally = crosscheck(target(monkeypatch), CASES, "right", 1).tally
    assert tally.findings == []
    assert tally.tried["illegal moves pay"] > 0
    assert tally.tried["legal moves are safe"] > 0


MISTAKES = {
    "a word is inside the gaps beside it": ("(>s word low)", "(not (>s low word))", THEFT),
    "a gap below a word is around it": ("(>s high word)", "1", THEFT),
    "the slash needs no signature": (
        *("(list 0 0 0 (list CODE SIGNER (gap (f evidence) (f (r evidence)) MOVE)))", "()"),
        THEFT,
    ),
    "no condition": (
        *("(list CODE SIGNER (gap (f evidence) (f (r evidence)) MOVE))", ""),
        UNSLASHABLE,
    ),
    "another message": ('(concat low "-" high)', '(concat low "+" high)', UNSLASHABLE),
    "another key": ("CODE SIGNER (gap", f"CODE {STRANGER} (gap", UNSLASHABLE),
    "another condition": ("(list CODE SIGNER (gap", "(list 50 SIGNER (gap", UNSLASHABLE),
}
"""What stands in the program, what stands there then, and how severe that is."""


@pytest.mark.parametrize("mistake", one_in(5, MISTAKES))
def test_a_mistake_about_conditions_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, severity = MISTAKES[mistake]
    tally = crosscheck(target(monkeypatch, broken(old, new)), CASES, "wrong", 1).tally
    assert severity in {finding.severity for finding in tally.causes()}


def test_conditions_that_nobody_can_check_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    unsure = game(SOURCE, AGG_SIG_ME)
    monkeypatch.setattr(registry, "get", lambda name: unsure)
    tally = crosscheck(
        Target("words", unsure.programs, referee(), "words"), CASES, "unsure", 1
    ).tally
    (finding,) = tally.causes()
    assert finding.severity == DISAGREEMENT
    assert finding.text == (
        "extra conditions on which neither side can rely:"
        " condition 0x32 cannot be checked off chain"
    )


def test_generated_vectors_have_conditions_and_signatures(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list(make(target(monkeypatch), 300, "make"))
    proved = [case for case in made if case.conditions and case.signature]
    assert proved
    assert {case.expect for case in proved} == {"valid"}
    stolen = vectors.check(proved[0], game(broken("(concat low", "(concat high")))
    assert stolen == ["program: the list of conditions differs"]


def test_slashes_under_conditions_on_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    words = target(monkeypatch)
    report = check_on_node(words, 120, "c")
    assert report.differences == []
    assert report.counts["slash", PASSES]


def test_the_model_of_the_node_knows_which_slashes_need_a_signature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proved = next(
        spend
        for spend in game_spends(target(monkeypatch), "node")
        if predict(spend, bytes(32), b"").of_others
    )
    assert predict(replace(proved, signs=True), bytes(32), b"").reasons == ()
    assert predict(replace(proved, signs=True, known=()), bytes(32), b"").reasons == (UNSIGNED,)


# --- without rules ----------------------------------------------------------------------------


def recorded(folder: Path, source: str = SOURCE, word: bytes = b"luck") -> Target:
    """The program with recorded words, gaps beside them, and a string that a gap proves wrong."""

    def case(number: int, move: bytes, expect: str, gap: tuple[bytes, bytes] | None) -> str:
        fields: dict[str, object] = {}
        if gap is not None:
            fields["signature"] = sign_gap(*gap).hex()
        if gap is not None and expect == "valid":
            message = (gap[0] + b"-" + gap[1]).hex()
            fields["conditions"] = [[AGG_SIG_UNSAFE, f"0x{KEY.hex()}", f"0x{message}"]]
        return json.dumps(
            {
                "id": f"say-{number}",
                "tag": "honest",
                "game": "words",
                "validator": "say",
                "amount": 1000,
                "mover_share": 0,
                "max_move_size": 4,
                "move": move.hex(),
                "state": "0x",
                "evidence": [f"0x{one.hex()}" for one in gap] if gap else "0x",
                "expect": expect,
                **fields,
            }
        )

    lines = [case(at, name.encode(), "valid", None) for at, name in enumerate(WORDS)]
    lines += [case(at + 10, WORDS[at].encode(), "raise", GAPS[at + 1]) for at in range(len(WORDS))]
    lines.append(case(20, word, "valid", next(gap for gap in GAPS if gap[0] < word < gap[1])))
    (folder / "honest.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "say.hex").write_text(game(source).programs["say"].serialized.hex())
    path = folder / "words.toml"
    path.write_text(
        'name = "recorded words"\n[programs]\nsay = "say.hex"\n[play]\nhonest = "honest.jsonl"\n'
    )
    return load(str(path))


def test_recorded_words_hold_and_the_recorded_cheat_is_slashed(tmp_path: Path) -> None:
    tally = crosscheck(recorded(tmp_path), CASES, "recorded", 1).tally
    assert tally.findings == []
    assert tally.tried["recorded cases"] == 2 * len(WORDS) + 1


OWN_RULES = f"""
from channelsim.clsp.values import to_list
from channelsim.games.contract import Raise, Slash, Valid

KEY = bytes.fromhex("{KEY.hex()}")

def say(state, move, share, amount, evidence, hashes):
    if len(move) != 4:
        return Slash("SAY-1")
    match evidence:
        case b"":
            return Valid(None)
        case (bytes(low), (bytes(high), _)) if low < move < high:
            return Valid(None, (to_list([b"1", KEY, low + b"-" + high]),), "SAY-2")
    return Raise("SAY-3")
"""


@pytest.mark.parametrize(("old", "found"), [("", ()), ("(>s word low)", (THEFT,))])
def test_rules_in_a_file_may_have_conditions(
    old: str, found: tuple[str, ...], tmp_path: Path
) -> None:
    recorded(tmp_path, broken(old, "1") if old else SOURCE)
    (tmp_path / "rules.py").write_text(OWN_RULES)
    path = tmp_path / "words.toml"
    path.write_text('rules = "rules.py"\n' + path.read_text())
    tally = crosscheck(load(str(path)), CASES, "own", 1).tally
    assert tally.tried["verdicts agree"]
    assert {finding.severity for finding in tally.causes()} >= set(found)
    assert bool(found) == bool(tally.findings)


@pytest.mark.parametrize(
    "mistake", ["a word is inside the gaps beside it", "another key", "no condition"]
)
def test_a_mistake_is_found_without_rules(mistake: str, tmp_path: Path) -> None:
    old, new, _ = MISTAKES[mistake]
    tally = crosscheck(recorded(tmp_path, broken(old, new)), CASES, "recorded", 1).tally
    assert "recorded cases" in {finding.rule for finding in tally.findings}
