"""A wrong behaviour of a peer, as a fault."""

from __future__ import annotations

from scripts.tools.attack_faults.planting import Fault, Planting, in_peers


def behaviour(name: str, what: str, plant: Planting, about: str, part: str = "engine") -> Fault:
    """A wrong behaviour: what a peer does, how it is planted, and what rule or promise it breaks.

    >>> behaviour("never claims", "loses its claims", lambda stack, reach: None, "safety").name
    'never-claims'
    """
    return Fault(name.replace(" ", "-"), part, f"a peer {what}", in_peers(plant), about=about)
