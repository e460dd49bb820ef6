"""The rules of Space Poker, one sentence for each id.

The Python rules (`validators`, `terms`), their verdicts, the comments of the Chialisp programs and
the documentation use these ids.
"""

from __future__ import annotations

from types import MappingProxyType

RULES = MappingProxyType(
    {
        "SP-TERMS-1": "A proposal has exactly the parameters `amount` and `bet_unit`, integers.",
        "SP-TERMS-2": "The amount is positive and even: two equal stakes.",
        "SP-TERMS-3": "The amount is below 2^63 mojos.",
        "SP-TERMS-4": "The bet unit is positive and at most a stake.",
        "SP-TERMS-5": "The bet unit divides the stake.",
        "SP-COMMITA-1": "Alice's commitment is 32 bytes.",
        "SP-COMMITA-2": "With Alice's commitment, Bob's share is his whole stake.",
        "SP-COMMITB-1": "Bob's commitment is 32 bytes.",
        "SP-COMMITB-2": "With Bob's commitment, Alice's share is her stake less one bet unit.",
        "SP-BEGIN-1": "The first move of a street is at least 32 bytes: an image, an amount.",
        "SP-BEGIN-2": "The share is the stake less what each player has in the pot.",
        "SP-BEGIN-3": "The image hashes to the value that the mover is committed to.",
        "SP-BEGIN-4": "On the first street, a mover that loses the toss pongs:"
        " exactly the 32-byte image.",
        "SP-BEGIN-5": "The opening amount is an integer in the fewest bytes.",
        "SP-BEGIN-6": "The opening amount is not negative.",
        "SP-BEGIN-7": "Pot and opening amount are within the stake.",
        "SP-MID-1": "The share is the stake less what each player has in the pot after a call.",
        "SP-MID-2": "A raise is an integer in the fewest bytes.",
        "SP-MID-3": "A raise is above 0.",
        "SP-MID-4": "Pot, last raise and raise are within the stake.",
        "SP-MID-5": "A call is 32 bytes, on the last street 16.",
        "SP-MID-6": "A call hashes to the value that the mover is committed to.",
        "SP-END-1": "The reveal is 17 bytes: a preimage, a selection.",
        "SP-END-2": "The preimage hashes to the value that the mover is committed to.",
        "SP-END-3": "The selection is exactly five of the seven cards.",
        "SP-END-4": "Evidence is one byte, exactly five of the seven cards; else the slash fails.",
        "SP-END-5": "The share is at least what the hands give the challenger:"
        " its stake, plus half the pot for the better hand, minus half the pot for the worse.",
    }
)
