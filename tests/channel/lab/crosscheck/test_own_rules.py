"""Rules in pieces: `rules.py` beside a target, for some of its validators."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

from channelsim.channel.campaign.job import content_of, run_shard
from channelsim.channel.campaign.shards import Configuration, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.crosscheck.crosscheck import Crosscheck
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target_inputs import check_inputs, target_inputs
from tests.channel.command import Ran, channelsim
from tests.channel.lab.fuzzing import searched
from tests.channel.lab.toys import toy

Capsys = pytest.CaptureFixture[str]

BID = """
from typing import Annotated
from channelsim.clsp.values import atom_to_int, is_minimal
from channelsim.games.contract import Bytes32, Next, PlainState, Slash, Valid, Integer

RULES = {"BID-1": "A bid is a number in the fewest bytes.", "BID-2": "It is below the amount."}

class Bidding(PlainState, frozen=True):
    image: Bytes32

class Revealing(PlainState, frozen=True):
    image: Bytes32
    number: Annotated[int, Integer(1, 10_000)]

READ = {"bid": Bidding.read}

def bid(state, move, share, amount, evidence, hashes):
    number = atom_to_int(move)
    if not is_minimal(move) or number <= 0 or share:
        return Slash("BID-1")
    if number >= amount:
        return Slash("BID-2")
    return Valid(Next("reveal", Revealing(state.image, number), 16))
"""
"""Rules of one validator of three, which read its state as they like."""

RAW = """
from channelsim.games.contract import Next, Slash, Valid

def commit(state, move, share, amount, evidence, hashes):
    if len(move) != 32 or share:
        return Slash("COMMIT-1")
    return Valid(Next("bid", move, 4))
"""
"""Rules whose states are CLVM values."""


def with_rules(folder: Path, rules: str, mistake: tuple[str, str, str] | None = None) -> Path:
    path = toy(folder)
    (folder / "rules.py").write_text(dedent(rules))
    path.write_text('rules = "rules.py"\n' + path.read_text())
    if mistake is not None:
        name, old, new = mistake
        source = folder / f"{name}.clsp"
        assert source.read_text().count(old) == 1
        source.write_text(source.read_text().replace(old, new))
    return path


def crosscheck(capsys: Capsys, path: Path, *more: object) -> Ran:
    few = ("--cases", 1500, "--seed", "x", "--jobs", 1)
    return channelsim(capsys, "crosscheck", path, *few, *more)


BEYOND = BID.replace("or share:", "or 0 < share <= amount:")
"""These rules allow shares that the referee refuses."""


@pytest.mark.parametrize("rules", [BID, RAW, BID + RAW, BEYOND])
def test_right_programs_obey_rules_of_some_validators(
    rules: str, tmp_path: Path, capsys: Capsys
) -> None:
    ran = crosscheck(capsys, with_rules(tmp_path, rules), "--json")
    assert (ran.code, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert document["findings"] == []
    judged = sum(sum(counts.values()) for counts in document["outcomes"].values())
    assert judged == 1500
    assert 0 < document["tried"]["verdicts agree"] < 1500
    assert document["tried"]["honest moves hold"] + document["tried"]["verdicts agree"] == 1500


def fuzzed(path: Path) -> list[Finding]:
    result = searched(load(str(path)), "x", 60_000)
    return result.findings


TOO_MUCH = ("bid", "(> AMOUNT MOVE)", "1")


def test_a_mistake_is_found_that_honest_play_does_not_show(tmp_path: Path, capsys: Capsys) -> None:
    path = with_rules(tmp_path, BID, TOO_MUCH)
    ran = crosscheck(capsys, path)
    assert ran.code == 1
    assert "a toy against rules.py and its honest play" in ran.out
    text = "the program accepts a move that BID-2 (It is below the amount) forbids"
    assert re.search("unslashable cheat: bid: The mover takes [0-9,]+ mojos that are its", ran.out)
    assert f"opponent's: {text}, so it cannot be slashed" in ran.out
    found = fuzzed(path)
    assert {one.place for one in found} == {"bid"}
    assert any("BID-2" in one.text for one in found)


def test_without_the_rules_it_is_not_found(tmp_path: Path) -> None:
    path = with_rules(tmp_path, RAW, TOO_MUCH)
    assert fuzzed(path) == []


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("def other(): pass", "defines no judge; a function with the name of a validator is one"),
        ("READ = {'bid': len}\n" + RAW, "READ: 'bid': no function here is called so"),
        ("RULES = []\n" + RAW, "RULES is a list, not a dictionary"),
        ("def bid(:", "line 1: not Python"),
        ("import none", "line 1: ModuleNotFoundError"),
        (
            "def bid(*call):\n    return True",
            "bid: returned a bool: not a Valid, a Slash or a Raise",
        ),
        ("def bid(*call):\n    return 1 / 0", "line 2: ZeroDivisionError: division by zero"),
        (
            RAW.replace(", move, 4", ", [move], 4"),
            "commit: the state of its Next is not a CLVM value",
        ),
        (RAW.replace(", move, 4", ", (move, 4), 4"), "commit: the state of its Next is not a CLVM"),
        (RAW.replace('"bid"', '"chess"'), "its next validator 'chess' is none of commit"),
        ("def bid(state):\n    return None", "TypeError"),
    ],
)
def test_a_wrong_file_is_one_line(rules: str, reason: str, tmp_path: Path, capsys: Capsys) -> None:
    ran = crosscheck(capsys, with_rules(tmp_path, rules))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{tmp_path}/rules.py" in ran.err
    assert reason in ran.err


def test_a_file_of_rules_needs_moves_and_has_to_be_there(tmp_path: Path, capsys: Capsys) -> None:
    path = with_rules(tmp_path, RAW)
    text = path.read_text()
    path.write_text(text.partition("[play]")[0])
    ran = crosscheck(capsys, path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "line 1, column 1: rules: rules.py judges moves, but plays none; add `[play]`" in ran.err
    path.write_text(text.replace("rules.py", "none.py"))
    ran = crosscheck(capsys, path)
    assert ran.code == 2
    assert "rules: no file none.py" in ran.err


def test_a_worker_with_other_rules_ends_the_campaign(tmp_path: Path) -> None:
    """They do not travel: an author may save the file meanwhile, or a machine have another one."""
    target = load(str(with_rules(tmp_path, BID)))
    inputs = target_inputs(target)
    check_inputs(target, inputs)
    rules = tmp_path / "rules.py"
    rules.write_text(rules.read_text() + "\n")
    job = Crosscheck(target, Configuration("crosscheck", "1", "t", "s", inputs, {"cases": 64}))
    with pytest.raises(UsageError, match="a worker has another file of rules than the campaign"):
        run_shard(content_of(job), Shard("", 0, 0, 1, 64))
