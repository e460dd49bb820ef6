"""What adversaries of the opening have in common: it is short, and has no other step for them."""

from __future__ import annotations

from channel.adversaries.base import Adversary

MESSAGES = 3
"""What each side says in the opening."""


class InOpening(Adversary):
    """Deviates in the opening, whatever its step: later there is nothing left to do."""

    @property
    def due(self) -> bool:
        """Whether it is time to deviate."""
        return self.said > self.plan.step % MESSAGES
