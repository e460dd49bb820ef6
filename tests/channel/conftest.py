"""Fixtures for the tests of the channel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.peer.agreement import DeckSettings


@pytest.fixture(autouse=True, scope="session")
def remembered_signatures() -> Iterator[None]:
    """Compute each BLS operation once: most tests open the same channel and play the same hand."""
    with bls.remembered():
        yield


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove shuffles in 8 rounds and not in 40, where the proof is not what is tested."""
    make = DeckSettings.__init__
    positions, _, group, _ = make.__defaults__ or ()
    monkeypatch.setattr(make, "__defaults__", (positions, 8, group, True))
