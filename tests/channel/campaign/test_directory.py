"""A campaign goes on from its directory, whatever ended it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from hashlib import sha256
from itertools import accumulate
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.engine import CampaignRun, CampaignStatus, run
from channelsim.channel.campaign.executors import Processes, ThisProcess
from channelsim.channel.campaign.shards import Configuration, in_order
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck
from channelsim.channel.lab.targets.loading import load
from tests.channel.campaign.summing import CONFIGURATION, PLAN, Squares, expected
from tests.channel.command import channelsim
from tests.paths import ROOT

Capsys = pytest.CaptureFixture[str]


class Enough(Exception):
    pass


def campaign(path: Path, *, resume: bool, shards: int = PLAN.size) -> CampaignRun[list[int]]:
    """Run the campaign in a directory, until so many shards are done."""

    def check(status: CampaignStatus) -> None:
        if status.shards == shards < PLAN.size:
            raise Enough

    with directory.opened(path, CONFIGURATION, PLAN, "numbers", resume=resume) as opened:
        return run(Squares(), PLAN, ThisProcess(), opened, on_status=check)


def begun(path: Path, shards: int) -> Path:
    """The directory of a campaign that ended early."""
    with pytest.raises(Enough):
        campaign(path, resume=False, shards=shards)
    return path


def complaints(path: Path) -> list[str]:
    with directory.opened(path, CONFIGURATION, PLAN, "numbers", resume=True) as opened:
        done = run(Squares(), PLAN, ThisProcess(), opened)
        assert [n for part in in_order(done.results) for n in part] == expected()
        return opened.complaints


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = begun(tmp_path / "c", 3)
    assert [line.shard.number for line in directory.read_shards(path)] == [0, 1, 2]
    done = campaign(path, resume=True)
    assert [n for part in in_order(done.results) for n in part] == expected()
    lines = list(directory.read_shards(path))
    assert [line.shard for line in lines] == PLAN.shards()
    noted = list(directory.read_progress(path))
    assert [one.shards for one in noted] == list(range(1, PLAN.size + 1))
    assert noted[-1].work == PLAN.total
    assert noted[-1].begun == noted[2].work
    assert directory.read_campaign(path).configuration == CONFIGURATION


def test_noted_work_is_that_of_shards_that_are_done(tmp_path: Path) -> None:
    with directory.opened(tmp_path, CONFIGURATION, PLAN, "numbers", resume=False) as opened:
        run(Squares(seconds=0.01), PLAN, Processes(2), opened)
    done = [line.shard.budget for line in directory.read_shards(tmp_path)]
    assert [one.work for one in directory.read_progress(tmp_path)] == list(accumulate(done))


def test_a_torn_or_damaged_line_is_done_again_and_named(tmp_path: Path) -> None:
    path = begun(tmp_path / "c", 5) / directory.SHARDS
    path.write_bytes(path.read_bytes()[:-9])
    (torn,) = complaints(tmp_path / "c")
    assert "the last line is incomplete" in torn
    lines = path.read_bytes().splitlines()
    lines[2] = lines[2].replace(b"[144,", b"[145,")
    lines[4] = lines[4].replace(PLAN.configuration.encode(), b"0" * 64)
    lines[1] = lines[1].replace(b'"count":3', b'"count":999999999999')
    path.write_bytes(b"\n".join(lines) + b"\n")
    huge, one, other = complaints(tmp_path / "c")
    assert "line 2 is damaged" in huge
    assert "of another campaign" in huge
    assert "line 3 is damaged" in one
    assert "its result was changed" in one
    assert "line 5 is damaged" in other
    assert "of another campaign" in other


def test_two_results_of_a_shard_are_refused(tmp_path: Path) -> None:
    path = begun(tmp_path / "c", 2) / directory.SHARDS
    first = next(directory.read_shards(tmp_path / "c"))
    other = b"[1,2]"
    line = msgspec.structs.replace(
        first, digest=sha256(other).hexdigest(), result=msgspec.Raw(other)
    )
    path.write_bytes(path.read_bytes() + msgspec.json.encode(line) + b"\n")
    with pytest.raises(UsageError, match="line 4 has another result of a shard"):
        campaign(tmp_path / "c", resume=True)


def test_many_damaged_lines_are_counted(tmp_path: Path) -> None:
    path = begun(tmp_path / "c", 1) / directory.SHARDS
    path.write_bytes(path.read_bytes() + b"x\n" * 30)
    *named, rest = complaints(tmp_path / "c")
    assert len(named) == 20
    assert "10 more lines damaged" in rest


def test_damaged_progress_is_put_aside(tmp_path: Path) -> None:
    """It decides nothing: a campaign goes on without it."""
    path = begun(tmp_path / "c", 1) / directory.PROGRESS
    path.write_bytes(bytes(200))
    (complaint,) = complaints(tmp_path / "c")
    assert complaint == f"{path}: damaged; put aside, and begun anew"
    assert path.with_name(f"{path.name}.damaged").read_bytes() == bytes(200)
    assert path.read_bytes().startswith(directory.PROGRESS_HEADER)


def test_a_file_of_something_else_stays_as_it_is(tmp_path: Path) -> None:
    """Nothing is added to it, and no incomplete line of it is removed."""
    name = directory.SHARDS
    begun(tmp_path / "c", 1)
    file, letter = tmp_path / "c" / name, tmp_path / "letter"
    letter.write_text("Dear Bob,\nno line end")
    file.unlink()
    file.symlink_to(letter)
    with pytest.raises(UsageError, match=f"{name}: its first line is not"):
        campaign(tmp_path / "c", resume=True)
    assert letter.read_text() == "Dear Bob,\nno line end"
    with pytest.raises(UsageError, match="its first line is not"):
        list(directory.read_shards(tmp_path / "c"))
    (tmp_path / "c" / directory.PROGRESS).write_text("Dear Ann,\n")
    with pytest.raises(UsageError, match="its first line is not"):
        list(directory.read_progress(tmp_path / "c"))


def test_figures_that_no_campaign_has_are_left_out(tmp_path: Path) -> None:
    path = begun(tmp_path / "c", 1) / directory.PROGRESS
    good = path.read_bytes().splitlines()[-1]
    bad = [re.sub(rb'"work":\d+', b'"work":%d' % figure, good) for figure in (-1, 1 << 63, 10**400)]
    path.write_bytes(path.read_bytes() + b"\n".join([*bad, good]) + b"\n")
    assert len(list(directory.read_progress(tmp_path / "c"))) == 2


def test_a_directory_is_used_once_and_for_one_campaign(tmp_path: Path) -> None:
    path = tmp_path / "c"
    with pytest.raises(UsageError, match="holds no campaign"):
        campaign(path, resume=True)
    begun(path, 1)
    with pytest.raises(UsageError, match="it already holds a campaign; resume it with --resume"):
        campaign(path, resume=False)
    other = msgspec.structs.replace(CONFIGURATION, seed="x", inputs={"program p": "11"})
    with (
        pytest.raises(UsageError, match="seed 'x' instead of 'seed'; and 1 more difference"),
        directory.opened(path, other, PLAN, "numbers", resume=True),
    ):
        pass
    with (
        directory.opened(path, CONFIGURATION, PLAN, "numbers", resume=True),
        pytest.raises(UsageError, match="another process uses it"),
    ):
        campaign(path, resume=True)
    (path / directory.CAMPAIGN).write_text('{"format": "another"}')
    with pytest.raises(UsageError, match="not the configuration of a campaign"):
        campaign(path, resume=True)


def test_a_campaign_fills_no_folder_of_something_else(tmp_path: Path) -> None:
    letter, path = tmp_path / "c" / "letter.txt", tmp_path / "c"
    path.mkdir()
    (path / ".hidden").write_text("")
    letter.write_text("Dear Bob")
    with pytest.raises(UsageError, match=r"--out .*: it holds no campaign, but 'letter\.txt'"):
        campaign(path, resume=False)
    assert sorted(path.iterdir()) == [path / ".hidden", letter]
    letter.unlink()
    assert campaign(path, resume=False).results


def test_configurations_differ_by_what_only_one_has() -> None:
    one = Configuration("fuzz", "1", "t", "s", {}, {"work": 5})
    assert CONFIGURATION.differences(CONFIGURATION) == []
    found = one.differences(CONFIGURATION)
    assert "the program p none instead of '00'" in found
    assert "work 5 instead of none" in found


@pytest.mark.long
def test_a_killed_command_is_resumed_with_the_same_digest(tmp_path: Path, capsys: Capsys) -> None:
    options = (
        "crosscheck",
        "spacepoker",
        "--cases",
        "8200",
        "--jobs",
        "2",
        "--seed",
        "s",
        "--json",
    )
    command = (sys.executable, "-c", "from channelsim.channel.cli import main; main()")
    path = tmp_path / "c"
    process = subprocess.Popen(
        [*command, *options, "--out", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not any(directory.read_shards(path)):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while _group_lives(process.pid):  # its workers end with it
        assert time.monotonic() < until
        time.sleep(0.02)
    before = len(list(directory.read_shards(path)))
    resumed = channelsim(capsys, *options, "--out", path, "--resume")
    assert resumed.code == 0
    shards = list(directory.read_shards(path))
    assert before < len(shards) == 3
    digest = json.loads(resumed.out)["digest"]
    assert digest == crosscheck(load("spacepoker"), 8200, "s").digest
    assert json.loads((path / directory.SUMMARY).read_text())["digest"] == digest


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
