"""`conform`: every rule is broken by a case, and every dropped test of it is noticed."""

from __future__ import annotations

import json
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from channelsim.channel.campaign.campaign import here
from channelsim.channel.documents.conform import Status
from channelsim.channel.kit import enforced as check
from channelsim.channel.kit.conformance import Effort, Subject
from channelsim.channel.kit.enforced import ENFORCED, NEEDS_RULES, enforced
from channelsim.channel.kit.new_game import write_package
from channelsim.channel.lab.mutants.enforcement import enforcement
from channelsim.channel.lab.mutants.kinds import DROPPED_CHECK, mutants
from channelsim.channel.lab.targets.loading import load
from tests.channel.command import Ran, channelsim
from tests.channel.lab.toys import toy
from tests.installed import install, run

WORD = bytes.fromhex("12345678")
"""Secrets that begin so are forbidden: no search finds one by chance."""

RULE = "REVEAL-3"
TEST = f"(not (= (sha256 (substr MOVE 0 4)) 0x{sha256(WORD).hexdigest()}))"
QUICK = ("--cases", 200, "--seconds", 0.2, "--coverage", 0, "--disputes", 0, "--jobs", 1)

RULES = f'''
from hashlib import sha256

from channelsim.clsp.values import atom_to_int
from channelsim.clsp.values import from_list
from channelsim.games.contract import Slash, Valid

RULES = {{"REVEAL-1": "A secret is 16 bytes.", "REVEAL-2": "It hashes to the image."}}
RULES["{RULE}"] = "It does not begin with the word."


def reveal(state, move, share, amount, evidence, hashes):
    image, number = from_list(state)
    if len(move) != 16:
        return Slash("REVEAL-1")
    if sha256(move).digest() != image:
        return Slash("REVEAL-2")
    if move.startswith({WORD!r}):
        return Slash("{RULE}")
    return Valid(None) if share == atom_to_int(number) else Slash("REVEAL-2")
'''


def game(folder: Path, name: str) -> Path:
    """Install the template with one more rule, which its program enforces; its package."""
    write_package(name, folder / f"{name}-package")
    package = folder / name
    (folder / f"{name}-package" / "src" / name).rename(package)
    own = f"{name.upper()}-{RULE}"
    python, program = package / "rules.py", package / "reveal.clsp"
    text, old = python.read_text(), '    return Valid(Next("end"'
    assert text.count(old) == 1
    text = text.replace(
        old, f'    if move.startswith({WORD!r}):\n        return Slash("{own}")\n{old}'
    )
    python.write_text(text.replace("RULES = {", f'RULES = {{\n    "{own}": "Not the word.",'))
    text, old = program.read_text(), "    (list END_HASH"
    assert text.count(old) == 1
    program.write_text(text.replace(old, f"    {TEST}  ; {own}\n{old}"))
    install(folder, name, {"games": [f"{name} = {name}:GAME"]})
    return package


def with_its_test(path: Path) -> Path:
    """Let the program of a toy enforce the rule."""
    source = path.with_name("reveal.clsp")
    text, old = source.read_text(), "(if (= MOVER_SHARE number)"
    assert text.count(old) == 1
    text = text.replace(old, f"(if (if (= MOVER_SHARE number)\n {TEST}  ; {RULE}\n ())")
    source.write_text(text.replace("(substr MOVE 0 16)", "MOVE"))
    return path


def breaking(name: str, second: object) -> dict[str, Any]:
    """A case that breaks the rule, in a state with this second item."""
    secret = WORD.ljust(16, b"\x07")
    return {
        "id": "the word",
        "tag": "state",
        "game": name,
        "validator": "reveal",
        "amount": 1000,
        "mover_share": 5,
        "max_move_size": 16,
        "evidence": 0,
        "move": secret.hex(),
        "expect": "slash",
        "state": [f"0x{sha256(secret).hexdigest()}", second],
    }


def argue(package: Path, name: str) -> None:
    """Argue that no case can break the rule, and that dropping its test makes no difference."""
    target = package / "target.toml"
    programs = "".join(f'{name} = "{name}.clsp"\n' for name in ("reveal", "end"))
    target.write_text(f'name = "{name}"\n[programs]\n{programs}')
    program = load(str(target)).programs["reveal"]
    (change,) = (
        mutant.change
        for mutant in mutants("reveal", program, program.symbols)
        if mutant.kind == DROPPED_CHECK and "0x" in mutant.old and mutant.new == "()"
    )
    reasons = {"rule": f"{name.upper()}-{RULE}", "main": change}
    (package / "mutants.toml").write_text(
        "".join(
            f'[[equivalent]]\nvalidator = "reveal"\nfunction = "{function}"\n'
            f'reason = "nobody knows the word"\n'
            f"changes = [{json.dumps(text, ensure_ascii=False)}]\n"
            for function, text in reasons.items()
        )
    )


def row_of(ran: Ran) -> dict[str, Any]:
    """The row in a document."""
    assert ran.err == ""
    (row,) = (row for row in json.loads(ran.out)["checks"] if row["check"] == ENFORCED)
    return dict(row)


def own_rules(folder: Path) -> Path:
    """A target with rules for one of its validators, one of which its program does not enforce."""
    path = toy(folder)
    (folder / "rules.py").write_text(RULES)
    path.write_text(path.read_text().replace("[programs]", 'rules = "rules.py"\n[programs]'))
    return path


def test_a_rule_that_no_case_breaks_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = channelsim(capsys, "conform", own_rules(tmp_path), *QUICK, "--json")
    row = row_of(ran)
    assert (ran.code, row["result"]) == (1, "failed")
    assert row["tried"] == (
        "2 of 3 rules broken by a case; 6 dropped tests, 6 noticed; not those of commit, bid, of"
        " which there are no rules"
    )
    (failure,) = row["failures"]
    assert failure["place"] == "reveal"
    expected = f"no case breaks {RULE} (It does not begin with the word): nothing shows that"
    assert failure["text"].startswith(expected)


@pytest.mark.long
def test_a_rule_that_no_judge_is_seen_to_name_is_not_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = own_rules(tmp_path)
    rules = path.with_name("rules.py")
    text = rules.read_text()
    without = text.replace(f'Slash("{RULE}")', 'Slash("REVEAL-1")')
    rules.write_text(without)
    row = row_of(channelsim(capsys, "conform", path, *QUICK, "--json"))
    assert row["result"] == "not checked"
    assert row["why"].endswith(f"; not checked: {RULE}, which no judge is seen to name")
    composed = text.replace(f'Slash("{RULE}")', 'Slash(f"{PREFIX}-3")')
    rules.write_text(composed.replace("RULES = {", 'PREFIX = "REVEAL"\nRULES = {'))
    row = row_of(channelsim(capsys, "conform", path, *QUICK, "--json"))
    assert row["result"] == "failed"  # it is seen, and nothing breaks it
    assert RULE in row["failures"][0]["text"]


def test_a_test_that_nothing_misses_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "PROVING", 1.0)
    path = own_rules(tmp_path)
    row = row_of(channelsim(capsys, "conform", with_its_test(path), *QUICK, "--json"))
    unbroken, *unnoticed = row["failures"]
    assert RULE in unbroken["text"]
    source = path.with_name("reveal.clsp").read_text()
    line = source[: source.index(TEST)].count("\n") + 1
    for failure, said in zip(unnoticed, ("false", "true"), strict=True):
        expected = f"nothing notices if this test is always {said}, by {RULE} (It does not begin"
        assert failure["text"].startswith(expected)
        assert failure["source_line"] == f"{path.with_name('reveal.clsp')}:{line}"
    with path.with_name("honest.jsonl").open("a") as honest:
        honest.write(json.dumps(breaking("toy", 5)) + "\n")
    row = row_of(channelsim(capsys, "conform", path, *QUICK, "--json"))
    assert row["result"] == "passed"


@pytest.mark.long
def test_a_test_that_a_proof_says_is_needless_does_not_fail(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = own_rules(tmp_path)
    source = path.with_name("reveal.clsp")
    text, old = source.read_text(), "(if (= MOVER_SHARE number)"
    assert text.count(old) == 1
    needless = "(if (= MOVER_SHARE number) (> 17 (strlen MOVE)) ())"
    source.write_text(text.replace(old, f"(if {needless}"))
    row = row_of(channelsim(capsys, "conform", path, *QUICK, "--json"))
    (failure,) = row["failures"]
    assert failure["text"].startswith(f"no case breaks {RULE}")
    assert "1 needless, by a proof" in row["tried"]


@pytest.mark.long
def test_a_stored_case_or_a_reason_makes_up_for_it(tmp_path: Path) -> None:
    corpus = game(tmp_path, "covered") / "corpus"
    corpus.mkdir()
    case = breaking("covered", f"0x{bytes(32).hex()}")
    (corpus / "reveal.jsonl").write_text(json.dumps(case) + "\n")
    argue(game(tmp_path, "argued"), "argued")
    commands = [("conform", name, *QUICK, "--json") for name in ("covered", "argued")]
    covered, argued = map(row_of, run((tmp_path,), commands))
    assert (covered["result"], argued["result"]) == ("passed", "passed"), argued
    assert covered["tried"] == "8 of 8 rules broken by a case; 18 dropped tests, 18 noticed"
    assert argued["tried"].endswith("18 dropped tests, 17 noticed; 1 argued")


def test_without_rules_it_is_not_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    row = row_of(channelsim(capsys, "conform", toy(tmp_path), *QUICK, "--json"))
    assert (row["result"], row["why"]) == ("not checked", NEEDS_RULES)


def test_what_there_is_no_work_for_is_no_success(tmp_path: Path) -> None:
    target = load(str(own_rules(tmp_path)))
    few = enforcement(target, [], "s", 0.0, lambda work, folder: nullcontext(here(work)))
    assert (few.tried, few.left) == (0, {"reveal": 6})
    subject = Subject(target, Effort(cases=200, seconds=0.2))
    vars(subject).update(_enforce=few, broken_rules={"REVEAL-1", "REVEAL-2", RULE})
    result = enforced(subject)
    assert result.result is Status.NOT_CHECKED
    assert "not tried: 6 of reveal (more --seconds try more)" in result.unchecked
