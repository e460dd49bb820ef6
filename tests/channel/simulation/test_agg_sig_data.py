"""Networks whose AGG_SIG_ME data is apart from the genesis challenge, and a peer that signs for
the genesis challenge nevertheless: a node refuses what it signs."""

from __future__ import annotations

from typing import cast

import pytest

from channelsim.channel.attack.disputes import Dispute
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import FarmableChain, PushResult
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.scenarios import dispute

DATA = b"other data".ljust(32, b".")
APART = NodeSettings(agg_sig_data=DATA)


class Mistaken:
    """A chain whose users sign for `data`. `errors` are the reasons of its refusals."""

    def __init__(self, chain: FarmableChain, data: bytes) -> None:
        self.errors: set[str] = set()
        self._chain = chain
        self._data = data

    def agg_sig_data(self) -> bytes:
        return self._data

    def push(self, bundle: Bundle) -> PushResult:
        result = self._chain.push(bundle)
        if not result.benign:
            self.errors.add(result.error)
        return result

    def __getattr__(self, name: str) -> object:
        return getattr(self._chain, name)


def refusals(scenario: Scenario, chain: FarmableChain, data: bytes) -> tuple[Dispute, set[str]]:
    """A dispute of peers that sign for this data, and the errors of what the node refuses."""
    mistaken = Mistaken(chain, data)
    return dispute(scenario, cast(FarmableChain, mistaken)), mistaken.errors


@pytest.mark.parametrize("adversary", ["stale-previous", "wrong-reveal", "claimer"])
def test_peers_sign_for_the_data_that_the_node_names(adversary: str) -> None:
    scenario = Scenario(("spacepoker",), "agg sig", adversary, step=4)
    chain = SimulatedChain(1, APART)
    assert (chain.agg_sig_data(), chain.ledger.genesis_challenge != DATA) == (DATA, True)
    done, errors = refusals(scenario, chain, DATA)
    assert done.run.deviated
    assert done.broken == []
    assert errors == set()


def test_what_is_signed_for_the_genesis_challenge_is_refused() -> None:
    scenario = Scenario(("spacepoker",), "agg sig", "stale-previous", step=4)
    chain = SimulatedChain(1, APART)
    done, errors = refusals(scenario, chain, chain.ledger.genesis_challenge)
    assert not done.run.deviated, "no channel is opened"
    assert errors == {"BAD_AGGREGATE_SIGNATURE"}
