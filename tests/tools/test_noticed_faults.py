"""The shrunk scripts of the fault table: each breaks something with its fault, and only then.

For a fault whose script shows nothing any more, run `python -m scripts.tools.attack_faults` again.
"""

from __future__ import annotations

from contextlib import ExitStack

import msgspec
import pytest

from channelsim.channel.attack.campaign import broken_by
from channelsim.channel.attack.fast_mode import fast_mode
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.search import Result, Results
from scripts.tools.attack_faults.table import faults
from tests.paths import ROOT

TABLE = {fault.name: fault for fault in faults()}


def noticed() -> list[Result]:
    data = (ROOT / "tests" / "data" / "attack" / "faults.json").read_bytes()
    results = msgspec.json.decode(data, type=Results).results
    return [result for result in results.values() if result.script is not None]


@pytest.mark.long
@pytest.mark.parametrize("result", noticed(), ids=lambda result: result.fault)
def test_a_script_tells_the_wrong_program_from_the_right_one(result: Result) -> None:
    assert result.script is not None
    with fast_mode():
        assert broken_by(result.script) == {}
        with ExitStack() as stack:
            TABLE[result.fault].plant(stack, Reach())
            assert broken_by(result.script) != {}
