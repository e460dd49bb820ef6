"""Fixtures for the tests of the channel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from channelsim.channel.crypto import bls


@pytest.fixture(autouse=True, scope="session")
def remembered_signatures() -> Iterator[None]:
    """Compute each BLS operation once: most tests open the same channel and play the same hand."""
    with bls.remembered():
        yield
