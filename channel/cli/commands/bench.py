"""`channelsim bench`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.bench.figures import main
from channelsim.channel.cli.options import DAY, InText, Json, json_wanted, real


def command(
    json: Json = False,
    text: InText = False,
    seconds: Annotated[float, real(1, DAY, "About how long to measure, in seconds.")] = 20.0,
) -> int:
    """Measure hands against their cryptographic floor, and the Python rules against CLVM.

    Example: channelsim bench --json
    """
    return main(seconds, as_json=json_wanted(json, text))
