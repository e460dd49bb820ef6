"""Proofs as a campaign: equal for any number of workers, resumed after an interrupt, reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
import z3

from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import here
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.prove import campaign as campaigns
from channelsim.channel.prove import proof_file
from channelsim.channel.prove.campaign import proof_campaign
from channelsim.channel.prove.proof import compare
from tests.channel.command import Ran, channelsim
from tests.channel.prove.programs import assemble

Capsys = pytest.CaptureFixture[str]

SAME = "(if (= (strlen MOVE) 1) (c MOVE ()) ())"
OTHER = "(if (not (= (strlen MOVE) 1)) () (c MOVE ()))"
WRONG = "(if (= (strlen MOVE) 1) (c (if (= MOVE 0x2a) 7 MOVE) ()) ())"


def target(folder: Path, name: str, **programs: str) -> Path:
    """A target without rules, whose states and evidence are of any shape."""
    lines = [f"name = {json.dumps(name)}", "[programs]"]
    for validator, text in programs.items():
        file = folder / f"{name}-{validator}.hex"
        file.write_text(assemble(text).serialized.hex())
        lines.append(f"{validator} = {json.dumps(str(file))}")
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two targets of two validators, of which one is equal."""
    first = target(tmp_path, "first", open=SAME, pay=SAME)
    return first, target(tmp_path, "second", open=OTHER, pay=WRONG)


def proved(capsys: Capsys, pair: tuple[Path, Path], *options: object) -> Ran:
    first, second = pair
    bounds = ("--move-bytes", 2, "--evidence-pairs", 1)
    return channelsim(capsys, "prove", first, "--against", second, *bounds, "--quiet", *options)


def document(ran: Ran) -> ProveDocument:
    return msgspec.json.decode(ran.out, type=ProveDocument)


def test_without_a_validator_all_are_proved(capsys: Capsys, pair: tuple[Path, Path]) -> None:
    ran = proved(capsys, pair, "--jobs", 1)
    assert ran.code == 1
    assert "equal: open of first and of second on every input" in ran.out
    assert "different: pay of first and of second" in ran.out
    assert ran.out.splitlines()[-1].startswith("2 claims: 1 equal, 1 different; 1 finding")


def test_the_number_of_workers_does_not_matter(
    capsys: Capsys, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    one = document(proved(capsys, pair, "--jobs", 1, "--json"))
    two = document(proved(capsys, pair, "--jobs", 2, "--json", "--out", tmp_path / "out"))
    assert one.digest is not None
    assert (one.digest, one.proofs) == (two.digest, two.proofs)
    plain = [
        [msgspec.structs.replace(finding, replay="") for finding in each.findings]
        for each in (one, two)
    ]
    assert plain[0] == plain[1]
    stored = proof_file.read(tmp_path / "out" / proof_file.NAME)
    assert stored.proofs == one.proofs


def test_an_interrupt_says_what_is_known_and_how_to_go_on(
    capsys: Capsys, pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    whole = document(proved(capsys, pair, "--jobs", 1, "--json"))
    run: Any = engine.run

    def interrupted(*arguments: Any) -> Any:
        """Run the campaign until three parts are done."""
        *before, _, results, seeds = arguments

        def stop(status: CampaignStatus) -> None:
            if status.shards >= 3:
                raise KeyboardInterrupt

        return run(*before, stop, results, seeds)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "run", interrupted)
        stopped = proved(capsys, pair, "--jobs", 1, "--out", out)
    assert stopped.code == 130
    assert "interrupted: not every size of the move was examined" in stopped.out
    assert f"--out {out} --resume` does the rest" in stopped.err
    assert not (out / proof_file.NAME).exists()
    ended = document(proved(capsys, pair, "--jobs", 1, "--json", "--out", out, "--resume"))
    assert (ended.interrupted, ended.digest) == (False, whole.digest)
    other = proved(capsys, pair, "--jobs", 1, "--out", out, "--resume", "--seconds", 9)
    assert other.code == 2
    assert "seconds 9.0 instead of 120.0" in other.err


def test_reports_have_a_case_for_each_claim(
    capsys: Capsys, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    junit, sarif = tmp_path / "junit.xml", tmp_path / "log.sarif"
    proved(capsys, pair, "--jobs", 1, "--junit", junit, "--sarif", sarif)
    cases = {
        case.get("name"): [failure.get("type") for failure in case]
        for case in ElementTree.parse(junit).iter("testcase")
    }
    assert cases == {"equal: open": [], "equal: pay": ["disagreement"]}
    (run,) = json.loads(sarif.read_text())["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "equal: pay"


def test_undecided_claims_fail_in_reports(capsys: Capsys, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    keys = target(tmp_path, "keys", pay="(if (= (strlen MOVE) 1) (pubkey_for_exp MOVE) ())")
    ran = proved(capsys, (keys, keys), "--jobs", 1, "--junit", junit)
    cases = {case.get("name"): len(case) for case in ElementTree.parse(junit).iter("testcase")}
    assert ran.code == 1
    assert cases == {"equal: pay": 1, "everything was tried": 1}
    assert "undecided: pay of keys" in ran.out.splitlines()[-1]


def test_parts_of_a_broken_claim_are_left_out(pair: tuple[Path, Path]) -> None:
    """Where a move of play breaks it, other sizes are not examined."""
    first, second = (load(str(path), partial=True) for path in pair)
    question = replace(compare(first, second, "pay", longest=2, pairs=1), played=(1,))
    campaign = proof_campaign([question], seconds=20)
    report = campaign.run(here(campaign))
    assert list(report.results[0].sizes) == [1]
    assert len(report.findings) == 1


def test_a_worker_has_the_solver_and_the_code_of_the_command(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (load(str(path), partial=True) for path in pair)
    campaign = proof_campaign([compare(first, second, "pay", longest=1)], seconds=1)
    campaign.worker()
    with monkeypatch.context() as changed:
        changed.setattr(z3, "get_version_string", lambda: "0.0")
        with pytest.raises(UsageError, match=r"a worker has z3 0\.0"):
            campaign.worker()
    monkeypatch.setattr(campaigns, "own_sources", lambda: "0")
    with pytest.raises(UsageError, match="a worker has other code"):
        campaign.worker()


def test_parts_by_other_code_are_not_taken_over(
    capsys: Capsys, pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ("--jobs", 1, "--out", tmp_path / "out")
    proved(capsys, pair, *out)
    monkeypatch.setattr(campaigns, "own_sources", lambda: "0")
    refused = proved(capsys, pair, *out, "--resume")
    assert refused.code == 2
    assert "--resume: not the campaign in" in refused.err
