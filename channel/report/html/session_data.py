"""The data of the page of a session or a dispute: plain structs.

Money is in mojos; heights count blocks. Structs that the page's script reads are arrays in JSON.
"""

from __future__ import annotations

import msgspec

from channelsim.channel.report.html.hand_view import HandView
from channelsim.channel.report.html.page import Glance
from channelsim.channel.session.setup import NAMES

CHAIN = len(NAMES)
"""The lane of the chain; the lanes before it are those of the peers, the initiator's first."""

LANES = (*(name.capitalize() for name in NAMES), "Chain")


class MoveVerdict(msgspec.Struct, frozen=True, array_like=True):
    """A move of a message, as its receiver judged it.

    `rules` and `program` are their verdicts in a word or two, `rule` the id of the rule that the
    move breaks, and `sentence` what that rule says. `runs` counts the runs of the program.
    """

    game_id: int
    game: str
    validator: str
    rules: str
    program: str
    rule: str
    sentence: str
    runs: int

    @property
    def breaks(self) -> bool:
        """True if the move breaks a rule, or rules and program do not agree on it."""
        return bool(self.rule) or (self.rules != self.program and self.program != "no program")


class PageEvent(msgspec.Struct, array_like=True, omit_defaults=True):
    """A row of the page: what one of the peers, or the chain, did at this height.

    `message` are the bytes of a message in base64, and `verdicts` those on its moves. `lines` is
    more text, shown on demand. `size` is the number of bytes of a message that is cut, otherwise 0.
    """

    height: int
    lane: int
    kind: str
    text: str
    message: str = ""
    verdicts: tuple[MoveVerdict, ...] = ()
    lines: tuple[str, ...] = ()
    size: int = 0


class Balances(msgspec.Struct, frozen=True, array_like=True):
    """The division of the channel's money from the event with this index on."""

    event: int
    initiator: int
    games: int
    receiver: int

    def edges(self) -> tuple[int, ...]:
        """The running sums, as the edges of stacked areas."""
        return 0, self.initiator, self.initiator + self.games, self.total

    @property
    def total(self) -> int:
        """All the money in the channel."""
        return self.initiator + self.games + self.receiver


class Deadline(msgspec.Struct):
    """Something that is due `limit` blocks after height `since`.

    `ended` is the height at which it was over, and `outcome` how; None and "" for never.
    """

    what: str
    since: int
    limit: int
    ended: int | None = None
    outcome: str = ""


class PageCoin(msgspec.Struct, frozen=True):
    """A coin on chain, and where the graph shows it.

    `parents` are the indices of the coins whose spends made it; `x` and `y` are the place of its
    box, and `edges` the paths of lines from its parents. `born` and `spent` are heights, and `lock`
    its time lock in words.
    """

    coin_id: str
    kind: str
    label: str
    amount: int
    born: int
    spent: int | None
    lock: str
    parents: tuple[int, ...]
    x: int
    y: int
    edges: tuple[str, ...]


class PageHand(msgspec.Struct, frozen=True):
    """A finished hand: its number from 1, the index of its first event, and the money after it.

    `payouts` are empty for a hand that nobody was paid for.
    """

    number: int
    event: int
    payouts: tuple[tuple[str, int], ...]
    balances: tuple[int, int]
    view: HandView


class PagePromise(msgspec.Struct, frozen=True):
    """A promise to the honest player, how it was checked, and how it was broken."""

    name: str
    promised: str
    checked: str
    broken: tuple[str, ...]


class SessionPage(msgspec.Struct, frozen=True):
    """The whole page. `facts` are names with values; `story` says in sentences what happened.

    The page opens at the event with the index `decisive`.
    """

    title: str
    glance: Glance
    facts: tuple[tuple[str, str], ...]
    lanes: tuple[str, ...]
    story: tuple[str, ...]
    events: tuple[PageEvent, ...]
    decisive: int
    left_out: int
    balances: tuple[Balances, ...]
    deadlines: tuple[Deadline, ...]
    coins: tuple[PageCoin, ...]
    hands: tuple[PageHand, ...]
    promises: tuple[PagePromise, ...]
