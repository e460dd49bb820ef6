"""Fixtures for the tests of the channel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.validation import Validator, ValidBundle
from channelsim.channel.crypto import bls
from channelsim.channel.peer.agreement import DeckSettings
from channelsim.clsp import run
from channelsim.games.deck import group

MOST_REMEMBERED = 20_000
"""The bytes of solutions in a bundle that is validated once."""


@pytest.fixture(autouse=True, scope="session")
def remembered_results() -> Iterator[None]:
    """Compute signatures, and products of points, once: most tests open the same channel, prepare
    the same deck, and play the same hand."""
    with bls.remembered(), group.remembered():
        yield


@pytest.fixture(autouse=True, scope="session")
def remembered_bundles() -> Iterator[None]:
    """Validate each small bundle once: whether it is valid follows from it and the network."""
    validate, memory = Validator.validate, dict[tuple[bytes, int, bytes], ValidBundle]()

    def remember(self: Validator, name: bytes, bundle: Bundle) -> ValidBundle:
        constants = self.constants
        data, cost = constants.AGG_SIG_ME_ADDITIONAL_DATA, int(constants.MAX_BLOCK_COST_CLVM)
        key = bytes(data), cost, name
        if key in memory:
            return memory[key]
        valid = validate(self, name, bundle)
        if name and sum(len(spend.solution) for spend in bundle.spends) < MOST_REMEMBERED:
            memory[key] = valid
        return valid

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Validator, "validate", remember)
        yield


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove shuffles in 8 rounds and not in 40, where the proof is not what is tested."""
    make = DeckSettings.__init__
    positions, _, group, _ = make.__defaults__ or ()
    monkeypatch.setattr(make, "__defaults__", (positions, 8, group, True))


@pytest.fixture
def early_cut_offs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut runs off at a fortieth of a block's cost: a program without an end takes it all."""
    cost = run.MAX_COST // 40
    monkeypatch.setattr(run, "MAX_COST", cost)
    for function in (run.run, run.run_serialized, run.evaluate):
        monkeypatch.setattr(function, "__defaults__", (cost,))
