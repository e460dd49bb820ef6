"""Sign the gaps of the dictionary, with a test key that is no secret.

`python -m wordle.sign_dictionary` prints the lines of `gaps.txt`. The signer of a real dictionary
keeps the key, runs this once, and publishes the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from chia_rs import AugSchemeMPL

from wordle.dictionary import FIRST, LAST, WORDS, gap_message

TEST_KEY = AugSchemeMPL.key_gen(b"channelsim wordle: a test key that everybody knows")


def signed_gaps() -> Iterator[str]:
    """A line for each gap: the two neighbours, and the signature in hex."""
    for low, high in pairwise((FIRST, *WORDS, LAST)):
        signature = AugSchemeMPL.sign(TEST_KEY, gap_message(low, high))
        yield f"{low.decode()} {high.decode()} {bytes(signature).hex()}"


if __name__ == "__main__":
    for line in signed_gaps():
        print(line)
