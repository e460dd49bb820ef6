"""Scripts that campaigns have found, and that break nothing since: a mistake stays mended.

Add the script of a finding as a line of the data file, once it passes.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.attack.actions import FORMAT, Attack
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.world import run
from tests.sampling import one_in

SCRIPTS = Path(__file__).parents[2] / "data" / "attack" / "mended.jsonl"


INCOMPLETE = (
    *("campaign-37/240", "campaign-41/1900", "campaign-46/7500", "campaign-46/9812"),
    *("campaign-51/898", "campaign-51/2373", "campaign-51/13976", "real-54/550"),
    *("wg/1018", "wg/2426", "wg/3066", "wh/585", "campaign-58/354", "real-63/381"),
    *("campaign-79/8406", "campaign-79/15046", "campaign-103/2072"),
)
"""The scripts of which some actions do not take place: the session ends before them, or an
adversary has nothing to deviate from, and only decides otherwise."""


def scripts() -> list[Attack]:
    attacks = []
    for line in SCRIPTS.read_bytes().splitlines():
        document = msgspec.json.decode(line)
        assert document.pop("format") == FORMAT
        attacks.append(msgspec.convert(document, Attack))
    return attacks


@pytest.mark.parametrize("script", one_in(12, scripts()), ids=lambda script: script.seed)
def test_a_mended_script_breaks_nothing(script: Attack) -> None:
    with fast_mode():
        session = run(script)
    if script.seed in INCOMPLETE:
        assert session.done
        assert {*session.done} < {*script.actions}
    else:
        assert {*session.done} == {*script.actions}
    assert session.violations == ()
