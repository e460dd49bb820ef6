"""A peer with its link: how both end."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from channelsim.channel.network.link import Link
from channelsim.channel.session.linked_peer import run_with_link


@pytest.mark.parametrize("times", [1, 2])
def test_a_runner_ends_however_often_its_process_is_told_to_stop(times: int) -> None:
    """The second time comes while the link sends what the peer has said."""
    ended: list[str] = []

    async def run(over: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("runner")

    async def keep_linked(link: Link) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.append("link")

    async def main() -> list[str]:
        runner: Any = SimpleNamespace(run=run, peer=None)
        working = asyncio.ensure_future(run_with_link(runner, keep_linked, over=lambda peer: False))
        for _ in range(times):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await asyncio.sleep(0)
        return [*ended]

    seen = asyncio.run(main())
    assert "runner" in seen
    assert times == 2 or seen == ["link", "runner"]
