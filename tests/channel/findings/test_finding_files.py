"""Files of findings: the same name for the same mistake, and old ones are refused in one line."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import Broken
from channelsim.channel.attack.disputes import script_finding
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import MOVER, OPPONENT, SEVERITIES, Finding, Loss, summary
from channelsim.channel.findings.finding_files import FindingFiles, file_name, load, stored_findings
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.sweep_campaign import findings
from tests.channel.command import channelsim
from tests.channel.written_findings import finding, written


def test_a_finding_is_read_as_it_was_written(tmp_path: Path) -> None:
    whole = finding(
        loss=Loss(MOVER, OPPONENT, 7),
        vector={"id": "x", "move": "00"},
        brun={"program": "80", "environment": "80"},
        reach="nobody knows",
        times=3,
    )
    (path,) = FindingFiles(tmp_path / "new").write([whole])
    assert load(path) == whole
    assert stored_findings(path.parent) == [(path, whole)]


def test_only_a_change_writes_a_file_again(tmp_path: Path) -> None:
    files = FindingFiles(tmp_path)
    (path,) = files.write([finding()])
    for again, size in ((finding(times=9), 0), (finding(loss=Loss(MOVER, OPPONENT, 1)), 1)):
        path.write_bytes(b"")
        assert files.write([again]) == [path]
        assert min(1, path.stat().st_size) == size
    assert files.write_last([finding(times=9)]) == [path]
    assert load(path).times == 9


def test_what_is_no_longer_found_is_removed_and_other_files_stay(tmp_path: Path) -> None:
    files, other = FindingFiles(tmp_path), tmp_path / "notes.json"
    other.write_text("mine")
    gone, stays = files.write([finding("a"), finding("b")])
    assert files.write_last([finding("b")]) == [stays]
    assert (gone.exists(), stays.exists(), other.read_text()) == (False, True, "mine")
    assert FindingFiles(None).write([finding()]) == []


def test_one_mistake_is_one_file() -> None:
    assert file_name(finding("a", times=2)) == file_name(finding("a"))
    different = (finding("a"), finding("b"), finding("a", "griefing"), finding("a", place="d"))
    assert len(set(map(file_name, different))) == len(different)
    assert len({file_name(finding(text, mistake="m")) for text in "ab"}) == 1


@pytest.mark.parametrize(
    "old", ["channelsim finding 1", "channelsim crosscheck finding 1", "channelsim finding 9"]
)
def test_a_file_of_another_version_is_one_line(
    old: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.json"
    path.write_text(f'{{"format": "{old}", "law": "x"}}')
    for command in (("replay", path), ("trace", path), ("report", path, "-o", "-")):
        ran = channelsim(capsys, *command)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"a finding of another version: its format is {old!r}" in ran.err
    path.write_text(written().replace('"format"', '"formats"'))
    with pytest.raises(UsageError, match="no finding"):
        load(path)


def test_the_worst_severity_is_named() -> None:
    every = [finding(severity=severity) for severity in reversed(SEVERITIES)]
    assert summary(every) == f"{len(SEVERITIES)} findings (worst: theft)"
    assert summary(every[:1]) == f"1 finding (worst: {SEVERITIES[-1]})"
    unknown = msgspec.structs.replace(every[0], severity="of a plug-in")
    assert summary([unknown, *every]).endswith("(worst: theft)")


def test_a_dispute_that_fails_often_is_one_finding() -> None:
    def late(seed: str, how: str = "late", promise: str = "duty") -> Finding:
        broken = BrokenPromise(promise, how)
        return script_finding(Broken(Attack(("calpoker",), seed), "promise", ""), broken, "dead")

    often = [late("a"), late("b", "later"), late("c")]
    once = [late("e", "it lost 7 mojos", "money"), late("d", "ValueError: x", "exception")]
    found = findings([*often, *once])
    assert [(one.rule, one.times) for one in found] == [("duty", 3), ("money", 1), ("exception", 1)]
    assert found[0].scenario is not None
    assert found[0].scenario["seed"] == "a"
    assert summary(found) == "3 findings (worst: theft)"
