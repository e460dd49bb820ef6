"""The rules of California Poker, one sentence for each id.

The Python rules (`validators`, `terms`), their verdicts, the comments of the Chialisp programs and
the documentation use these ids.
"""

from __future__ import annotations

from types import MappingProxyType

RULES = MappingProxyType(
    {
        "CP-TERMS-1": "A proposal has exactly the parameter `amount`, an integer.",
        "CP-TERMS-2": "The amount is positive and even: two equal stakes.",
        "CP-TERMS-3": "The amount is below 2^63 mojos.",
        "CP-A-1": "Alice's commitment is 32 bytes.",
        "CP-B-1": "Bob's seed is 16 bytes.",
        "CP-C-1": "Alice's opening is 48 bytes: her preimage, her committed discards.",
        "CP-C-2": "The preimage hashes to Alice's commitment.",
        "CP-D-1": "Bob's discards are one byte, a mask.",
        "CP-D-2": "Bob's mask has exactly four bits.",
        "CP-E-1": "The reveal is 18 bytes: a salt, Alice's discards, her selection.",
        "CP-E-2": "Alice's discards are exactly four of her eight cards.",
        "CP-E-3": "The selection is exactly five of the eight cards that she holds in the end.",
        "CP-E-4": "Salt and discards hash to Alice's commitment.",
        "CP-E-5": "Evidence is one byte, exactly five of eight cards; else the slash fails.",
        "CP-E-6": "The share is at least what the hands give Bob: everything when his is better,"
        " half in a tie.",
    }
)
