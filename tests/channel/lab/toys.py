"""A small game of nobody's, as a target without rules: right, or with one mistake.

`commit`: an image of 32 bytes. `bid`: a number. `reveal`: the 16 bytes behind the image; the
other gets the number that was bid. The evidence against it is a mask, which no right program reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from channelsim.channel.lab.cases.mutator import SELECTIONS
from channelsim.clsp.values import int_to_atom

AMOUNT = 1000

HEAD = """
(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      {state} program evidence . rest)
  (include *standard-cl-23*)
  {more}
"""

SOURCES = {
    "commit": HEAD.format(state="state", more='(include "hashes/bid.clinc")')
    + """
  (if (= (strlen MOVE) 32)
    (if (= MOVER_SHARE 0) (list BID_HASH MOVE 4) ())
    ()))
""",
    "bid": HEAD.format(state="image", more='(include "hashes/reveal.clinc")')
    + """
  (if (= MOVE (+ MOVE 0))
    (if (> MOVE 0)
      (if (> AMOUNT MOVE)
        (if (= MOVER_SHARE 0) (list REVEAL_HASH (list image (+ MOVE 0)) 16) ())
        ())
      ())
    ()))
""",
    "reveal": HEAD.format(state="(image number)", more="")
    + """
  (if (= (strlen MOVE) 16)
    (if (= (sha256 (substr MOVE 0 16)) image)
      (if (= MOVER_SHARE number) (list 0 0 0) ())
      ())
    ()))
""",
}

MISTAKES: Mapping[str, tuple[str, str, str]] = {
    "commitments are bound": ("reveal", "(= (sha256 (substr MOVE 0 16)) image)", "1"),
    "shares are bound": ("reveal", "(= MOVER_SHARE number)", "1"),
    "honest moves hold": ("reveal", "(= (strlen MOVE) 16)", "1"),
    "evidence": ("reveal", "(list 0 0 0)", "(if (= evidence 31) () (list 0 0 0))"),
    "one encoding": ("bid", "(= MOVE (+ MOVE 0))", "1"),
    "progress": (
        "bid",
        "(list REVEAL_HASH (list image (+ MOVE 0)) 16)",
        "(list program_hash image 4)",
    ),
    "numbers keep their sign": ("bid", "(if (> MOVE 0)", "(if 1"),
    "masks are bound": (
        *("reveal", "(list 0 0 0)"),
        "(if (> (strlen evidence) 1) (if (> (logand evidence 0x00ff) 160) () (list 0 0 0))"
        " (list 0 0 0))",
    ),
    "recorded cases": ("commit", "(list BID_HASH MOVE 4)", "(list BID_HASH MOVE 5)"),
}
"""By the law that finds it, or what it is about: the file, what stands there, what stands then."""

HIDDEN: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "five bytes of evidence": (
        ("reveal", "(list 0 0 0)", "(if (= (strlen evidence) 5) () (list 0 0 0))"),
    ),
    "a gap around the number": (
        (
            *("reveal", "(list 0 0 0)"),
            "(if (l evidence)"
            " (if (= (f evidence) (- number 1)) (if (= (f (r evidence)) (+ number 1)) ()"
            " (list 0 0 0)) (list 0 0 0)) (list 0 0 0))",
        ),
    ),
    "an early reveal": (
        ("commit", "(list BID_HASH MOVE 4)", "(list BID_HASH MOVE 16)"),
        (
            *("bid", "(if (= MOVE (+ MOVE 0))"),
            "(if (if (= (strlen MOVE) 16) (if (= (sha256 MOVE) image) (x) 1) (= MOVE (+ MOVE 0)))",
        ),
    ),
    "a short secret": (("reveal", "(= (strlen MOVE) 16)", "(= (sha256 MOVE) image)"),),
}
"""Mistakes that only a search in the right direction finds."""


def toy(folder: Path, mistake: str = "", hands: int = 8) -> Path:
    """Write the target and so many hands of honest play, at most 16; the target's file."""
    sources = dict(SOURCES)
    changes = HIDDEN.get(mistake) or ((MISTAKES[mistake],) if mistake else ())
    for name, old, new in changes:
        assert sources[name].count(old) == 1
        sources[name] = sources[name].replace(old, new)
    for name, source in sources.items():
        (folder / f"{name}.clsp").write_text(source)
    circle = mistake == "progress"
    room = 16 if mistake == "an early reveal" else 4
    cases = [case for number in range(hands) for case in _hand(number, circle, room)]
    lines = [json.dumps(case) + "\n" for case in cases]
    (folder / "honest.jsonl").write_text("".join(lines))
    path = folder / "toy.toml"
    programs = "".join(f'{name} = "{name}.clsp"\n' for name in SOURCES)
    path.write_text(f'name = "a toy"\n[programs]\n{programs}[play]\nhonest = "honest.jsonl"\n')
    return path


def _hand(number: int, circle: bool, room: int) -> list[dict[str, Any]]:
    secret = sha256(bytes([number])).digest()[:16]
    image, bid = sha256(secret).hexdigest(), 90 + 110 * (number % 8) - 30 * (number // 8)
    reveal = {"validator": "reveal", "state": [f"0x{image}", bid], "max_move_size": 16}
    again = {"validator": "bid", "state": f"0x{image}", "max_move_size": room}
    return [
        _case("commit", number, image, 1, 32, 0, again),
        _case(
            "bid",
            number,
            int_to_atom(bid).hex(),
            f"0x{image}",
            room,
            0,
            again if circle else reveal,
        ),
        _case("reveal", number, secret.hex(), [f"0x{image}", bid], 16, bid, None)
        | {"evidence": f"0x{SELECTIONS[number].hex()}"},
    ]


def _case(
    name: str, number: int, move: str, state: Any, size: int, share: int, leads: Any
) -> dict[str, Any]:
    case = {
        "id": f"{name}-{number}",
        "tag": "honest",
        "game": "toy",
        "validator": name,
        "amount": AMOUNT,
        "mover_share": share,
        "max_move_size": size,
        "move": move,
        "state": state,
        "evidence": "0x",
        "expect": "valid",
    }
    return case if leads is None else {**case, "next": leads}
