"""A worker without the plug-ins of a campaign refuses its shards."""

from __future__ import annotations

import pytest

from channelsim.channel.campaign.job import check_plugins
from channelsim.channel.errors import UsageError


def test_a_worker_without_a_plug_in_refuses_by_name() -> None:
    check_plugins({"program e": "00", "rules": "calpoker"})
    with pytest.raises(
        UsageError, match="a worker lacks the plug-in nobody with which the campaign began"
    ):
        check_plugins({"plug-in nobody": "1.0, SHA-256 00"})
