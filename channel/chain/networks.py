"""Public networks, and the spacing that a peer has on a network unless its user says otherwise."""

from __future__ import annotations

MAINNET = bytes.fromhex("ccd5bb71183532bff220ba46c268991a3ff07eb358e8255a65c30a2dce0e5fbb")
TESTNET11 = bytes.fromhex("37a90eb5185a9c4439a91ddc98bbadce7b4feba060d50116a067de66bf236615")
"""What these networks append to AGG_SIG_ME messages: their genesis challenges.

Source: chia-blockchain 2.7.5, chia/util/initial-config.yaml."""

PUBLIC_NETWORKS = (MAINNET, TESTNET11)

HOME_SPACING = 1
"""The spacing where every block carries transactions: on embedded nodes and simulators."""

PUBLIC_SPACING = 4
"""The spacing where about one block in three carries transactions."""


def usual_spacing(agg_sig_data: bytes) -> int:
    """The spacing on the network with these AGG_SIG data.

    >>> usual_spacing(MAINNET), usual_spacing(bytes(32))
    (4, 1)
    """
    return PUBLIC_SPACING if agg_sig_data in PUBLIC_NETWORKS else HOME_SPACING
