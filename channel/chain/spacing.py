"""The spacing of a peer on a network: what it multiplies blocks by in which something must get in.

Source: spec/channel.md, "Opening".
"""

from __future__ import annotations

from channelsim.channel.chain.peaks import PUBLIC

HOME_SPACING = 1
"""The spacing where every block carries transactions: on embedded nodes and simulators."""

PUBLIC_SPACING = 4
"""The spacing where about one block in three carries transactions."""


def usual_spacing(agg_sig_data: bytes) -> int:
    """The spacing on the network with these AGG_SIG data, unless the user says otherwise.

    >>> mainnet = "ccd5bb71183532bff220ba46c268991a3ff07eb358e8255a65c30a2dce0e5fbb"
    >>> usual_spacing(bytes.fromhex(mainnet)), usual_spacing(bytes(32))
    (4, 1)
    """
    return PUBLIC_SPACING if agg_sig_data in PUBLIC else HOME_SPACING
