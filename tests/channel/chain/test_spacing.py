"""The spacing that a peer has on a network unless its user says otherwise."""

from __future__ import annotations

import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.chain.spacing import usual_spacing

MAINNET = "ccd5bb71183532bff220ba46c268991a3ff07eb358e8255a65c30a2dce0e5fbb"
TESTNET11 = "37a90eb5185a9c4439a91ddc98bbadce7b4feba060d50116a067de66bf236615"


@pytest.mark.parametrize("genesis_challenge", [MAINNET, TESTNET11])
def test_public_networks_have_blocks_without_transactions(genesis_challenge: str) -> None:
    assert usual_spacing(bytes.fromhex(genesis_challenge)) == 4


def test_all_other_networks_are_like_the_embedded_node() -> None:
    assert usual_spacing(SimulatedChain(1).agg_sig_data()) == 1
    assert usual_spacing(bytes(32)) == usual_spacing(b"") == 1
