"""Progress where stderr is no terminal: a line every minute, or none."""

import pytest

from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.report import progress

STATUS = CampaignStatus(2, 8, 50, 200, 0, 10.0, {"findings": 1})
LINES = [
    "cases: 3 of 10 cases, 0:00",
    "coverage: 4 cases, 0:00",
    "fuzz: 50 of 200 units, 1 finding, 5 units a second, 2 of 8 shards, 0:10, 0:30 left",
]


@pytest.mark.parametrize(
    ("minute", "shown", "lines"),
    [(0.0, True, LINES), (0.0, False, []), (progress.MINUTE, True, [])],
)
def test_a_line_every_minute(
    minute: float,
    shown: bool,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "MINUTE", minute)
    with progress.progress("cases", "case", shown=shown) as bar:
        bar(3, 10)
        bar.phase("coverage")
        bar(4)
    with progress.campaign_progress("fuzz", "unit", quiet=not shown) as show:
        show(STATUS)
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()) == ("", lines)
