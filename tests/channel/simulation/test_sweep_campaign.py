"""A sweep of disputes has the same totals however it is cut, and goes on from its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from channelsim.channel.attack import dispute_sweep
from channelsim.channel.attack.dispute_sweep import COPIED, everywhere, old_copies, sweep_of_all
from channelsim.channel.attack.kinds import WEATHERS
from channelsim.channel.campaign import directory
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import ThisProcess
from channelsim.channel.cli.work.dispute_run import sweep_document
from channelsim.channel.crypto import bls
from channelsim.channel.report.html.campaign_page import document_page
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.scenario import Scenario, adversaries_for
from channelsim.channel.simulation.sweep import SweepTotals, beginnings, menus
from channelsim.channel.simulation.sweep_campaign import Sweep, finding_of
from tests.channel.command import channelsim

CONFIGURATION = sweep_of_all("s", 1).configuration
SOME = ("no-funding", "silent", "dead")


def few(number: int) -> Iterator[SweepTotals]:
    """The first runs of an adversary."""
    for part in everywhere(Scenario(("calpoker",), f"{number % 2}", SOME[number])):
        yield part
        if part.runs > part.idle:
            return


def test_every_adversary_of_every_seed_has_a_number() -> None:
    sweep = sweep_of_all("s", 2)
    size = sweep.adversaries
    able = adversaries_for(menu.games for menu in menus())
    assert size == 2 * (1 + len(able) + len(WEATHERS))
    assert [seed for shard in sweep.plan.shards() for seed in shard.seeds] == list(range(size))
    assert len(list(beginnings("s/0", 0))) == size // 2 - len(WEATHERS)


@pytest.mark.long
def test_old_copies_have_each_weather_and_are_made_at_every_few_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def noted(seed: str, number: int, weather: str, only: tuple[str, ...]) -> Iterator[SweepTotals]:
        asked.append(weather)
        yield SweepTotals(runs=1)

    with monkeypatch.context() as patch:
        patch.setattr(dispute_sweep, "old_copies", noted)
        patch.setattr(dispute_sweep, "everywhere", lambda first, before: iter(()))
        sweep = sweep_of_all("s", 1, ("calpoker",))
        assert sum(part.runs for n in range(sweep.adversaries) for part in sweep.runs(n)) == 9
    assert asked == list(WEATHERS)
    tally = SweepTotals()
    with bls.remembered():
        for part in old_copies("s", 1, "reconnects", ("calpoker",)):
            tally.merge(part)
    assert tally.found == []
    assert tally.runs > tally.idle > 0
    assert [*tally.matrix] == [COPIED]
    cells = tally.matrix[COPIED]
    assert sum(cell.runs for cell in cells.values()) == tally.runs - tally.idle > 3
    assert len(cells) > 1


FEW = Sweep(few, CONFIGURATION, len(SOME))


class Stop(Exception):
    pass


def stop_after(shards: int, status: CampaignStatus) -> None:
    if status.shards >= shards:
        raise Stop


def test_the_totals_depend_on_neither_the_cut_nor_an_end_on_the_way(tmp_path: Path) -> None:
    whole = replace(FEW, at_once=9).run(Place(ThisProcess))
    opened = partial(directory.opened, tmp_path, CONFIGURATION, FEW.plan, "adversaries")
    with pytest.raises(Stop), opened(resume=False) as stored:
        FEW.run(Place(ThisProcess, stored, partial(stop_after, 1)))
    begun: list[int] = []
    with opened(resume=True) as stored:
        rest = FEW.run(Place(ThisProcess, stored, lambda status: begun.append(status.begun)))
    assert (whole.shards, rest.shards) == (1, 3)
    assert set(begun) == {1}
    assert whole.digest == rest.digest is not None
    assert whole.totals == rest.totals
    assert not rest.totals.found
    assert set(rest.totals.matrix) == set(SOME)
    page = document_page(tmp_path, sweep_document(whole, "s"))
    (disputes,) = (one for one in page.tables if one.title == "Disputes")
    runs = {row[0].text: int(row[1].text) for row in disputes.rows}
    assert runs == {
        name: sum(cell.runs for cell in row.values()) for name, row in whole.totals.matrix.items()
    }
    assert page.glance.holds


def test_a_campaign_stores_what_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = [Scenario(("calpoker",), "x", "no-funding")]
    monkeypatch.setattr(dispute_sweep, "beginnings", lambda seed, number, only: iter(begun))
    monkeypatch.setattr(dispute_sweep, "WEATHERS", {})
    monkeypatch.setattr(dispute_sweep, "everywhere", lambda first, turn: iter([broken(first)]))
    monkeypatch.setattr("channelsim.channel.cli.campaigns.chosen_workers", here)
    ran = channelsim(capsys, "dispute", "run", "--all", "--out", tmp_path / "all", "--json")
    document = json.loads(ran.out)
    assert ran.code == 1
    assert json.loads((tmp_path / "all" / "summary.json").read_bytes()) == document
    (finding,) = (tmp_path / "all" / "findings").iterdir()
    assert json.loads(finding.read_bytes())["text"] == "duty: planted"
    again = channelsim(capsys, "compare", tmp_path / "all", tmp_path / "all")
    assert (again.code, again.out) == (0, "dispute run --all: nothing changed\n")


def broken(scenario: Scenario) -> SweepTotals:
    return SweepTotals(runs=1, found=[finding_of(scenario, BrokenPromise("duty", "planted"))])


def here(*_: object, **__: object) -> ThisProcess:
    return ThisProcess()
