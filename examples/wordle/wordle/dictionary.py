"""The words, and the signed gaps between them, which prove that a string is no word.

The signer of a dictionary signs every gap between two neighbours of its sorted list. Nothing else
is needed: a string is no word exactly if some gap is around it. This signer's key is a public test
key (`wordle.sign_dictionary`): anybody can sign with it, so play for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files


def _lines(name: str) -> list[str]:
    return files("wordle").joinpath(name).read_text("ascii").splitlines()


WORDS = tuple(word.encode() for word in _lines("words.txt"))
"""The words in ascending order, five letters from a to z each."""

EDITION = b"wordle-test-1"
"""The name of this dictionary; another one by the same signer has another name."""

SIGNER = bytes.fromhex(
    "87cacc3ec26e5b73ddd9b092249df40706d6779f9a32d7df"
    "3a850595e8a5ab0773b8836ca2aae55eb3f22e75da7f32be"
)
"""The public key of the signer."""

FIRST, LAST = b"-----", b"~~~~~"
"""The neighbours of the first and the last word: before and after every string of letters."""


@dataclass(frozen=True)
class Gap:
    """Two neighbours, and the signature that no word is between them."""

    low: bytes
    high: bytes
    signature: bytes


def gap_message(low: bytes, high: bytes) -> bytes:
    """What is signed of a gap."""
    return EDITION + low + high


@cache
def gaps() -> tuple[Gap, ...]:
    """All gaps, in ascending order."""
    rows = (line.split() for line in _lines("gaps.txt"))
    return tuple(Gap(low.encode(), high.encode(), bytes.fromhex(sig)) for low, high, sig in rows)


def gaps_at(word: bytes) -> tuple[Gap, ...]:
    """The gaps that contain or touch a string: one around what is no word, two next to a word."""
    return tuple(gap for gap in gaps() if gap.low <= word <= gap.high)
