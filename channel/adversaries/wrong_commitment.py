"""A legal move to a record that is none."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import MoveChanger, register
from channel.protocol.messages import Move
from channel.protocol.state import LiveGame


@register
class WrongCommitment(MoveChanger):
    """Commits to another state than its move leads to."""

    name = "wrong-commitment"
    about = "commits to another state than its move leads to"

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """The same move but for that."""
        return msgspec.structs.replace(move, commitment=self.plan.chance.bytes(32))
