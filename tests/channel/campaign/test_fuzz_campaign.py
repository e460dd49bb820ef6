"""The fuzzer as a campaign: the same findings wherever its shards are done, and after a resume."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from channelsim.channel.campaign import directory
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.directory import CampaignDirectory
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import ThisProcess
from channelsim.channel.lab.cases.runs import SECOND
from channelsim.channel.lab.fuzz.fuzz import FuzzReport, FuzzSearch, save, sized_search
from channelsim.channel.lab.fuzz.fuzz_part import FuzzPart
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from tests.browser import parsed, text_of
from tests.channel.campaign.any_executor import AnyExecutor
from tests.channel.campaign.shuffled import Shuffled
from tests.channel.command import channelsim
from tests.channel.lab.toys import toy


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    return load(str(toy(tmp_path_factory.mktemp("toy"), "one encoding")))


@pytest.fixture(scope="module")
def whole(target: Target) -> FuzzReport:
    return searching(target).run(Place(ThisProcess))


def searching(target: Target) -> FuzzSearch:
    return replace(sized_search(target, "s", 30_000, None), each=10_000)


def test_a_resumed_search_finds_what_a_whole_one_does(
    target: Target, whole: FuzzReport, tmp_path: Path
) -> None:
    def check(status: CampaignStatus) -> None:
        if status.shards == 1:
            raise TimeoutError

    def run(*, resume: bool) -> FuzzReport:
        search = searching(target)
        opened: CampaignDirectory[FuzzPart]
        with directory.opened(
            tmp_path / "c", search.configuration, search.plan, "units", resume=resume
        ) as opened:
            if not resume:
                return search.run(Place(ThisProcess, opened, check))
            workers = AnyExecutor(lambda: Shuffled(b"order"), 2)
            return search.run(Place(lambda: workers, opened))

    with pytest.raises(TimeoutError):
        run(resume=False)
    resumed = run(resume=True)
    assert whole.findings != []
    assert resumed.findings == whole.findings
    assert (resumed.digest, resumed.runs) == (whole.digest, whole.runs)
    assert resumed.digest is not None
    assert resumed.coverage == whole.coverage
    assert save(resumed, tmp_path / "corpus") == save(whole, tmp_path / "other") > 0


def test_work_is_cut_alike_for_any_number_of_workers(target: Target) -> None:
    sizes = {}
    for work in (1, 10 * SECOND, 700 * SECOND, 10**6 * SECOND):
        plan = sized_search(target, "s", work, None).plan
        assert sum(one.budget for one in plan.shards()) == work
        sizes[work // SECOND] = plan.size
    assert sizes == {0: 1, 10: 1, 700: 64, 10**6: 1667}


def test_a_campaign_needs_an_amount_of_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = toy(tmp_path, "progress")
    for options, line in (
        (("--resume",), "--resume: needs --work"),
        (("--cluster", "tcp://127.0.0.1:1"), "--cluster: needs --work"),
        (("--work", 5, "--seconds", 3), "--seconds: does not go with --work"),
        (("--work", 5, "--resume"), "--resume: needs --out DIR"),
        (("--work", 5, "--resume", "--out", tmp_path / "none"), "holds no campaign"),
    ):
        ran = channelsim(capsys, "fuzz", path, *options)
        assert (ran.code, ran.out) == (2, "")
        assert line in ran.err
        assert ran.err.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_printed_commands_can_be_given_to_a_shell(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Also where the name of the folder has spaces, and what a shell acts on."""
    path, folder = toy(tmp_path, "one encoding"), tmp_path / "Bob's night; $(date)"
    given = ("--work", 10_000, "--jobs", 1, "--out", folder)
    text = channelsim(capsys, "fuzz", path, *given).out
    (found,) = json.loads(channelsim(capsys, "fuzz", path, *given, "--resume", "--json").out)[
        "findings"
    ]
    (stored,) = (folder / "findings").iterdir()
    page = text_of(parsed(channelsim(capsys, "report", folder, "-o", "-").out))
    name = shlex.quote(str(stored))
    assert found["replay"] == f"channelsim replay {name}"
    for lines in (text, page):
        assert f"channelsim replay {name}" in lines
        assert re.search(rf"channelsim trace (-v )?{re.escape(name)}", lines)
    assert channelsim(capsys, *shlex.split(found["replay"])[1:]).code == 1


def test_findings_of_a_search_for_some_time_stay_out_of_a_campaign(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, folder = toy(tmp_path, "one encoding"), tmp_path / "night"
    channelsim(capsys, "fuzz", path, "--work", 10_000, "--jobs", 1, "--out", folder)
    before = sorted(folder.iterdir())
    ran = channelsim(capsys, "fuzz", path, "--seconds", 0.1, "--jobs", 1, "--out", folder)
    assert (ran.code, ran.out) == (2, "")
    assert f"the folder of a campaign, whose findings are in {folder / 'findings'}" in ran.err
    assert sorted(folder.iterdir()) == before
