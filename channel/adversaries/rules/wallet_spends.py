"""Parts of a funding with one mistake each, signed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from channelsim.channel.chain.coins import (
    ASSERT_BEFORE_HEIGHT_ABSOLUTE,
    ASSERT_COIN_ANNOUNCEMENT,
    REMARK,
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    launcher_puzzle,
    signed_spend,
)
from channelsim.channel.crypto import bls
from channelsim.channel.protocol.state import Channel
from channelsim.channel.protocol.wallet import Wallet, launch_announcement
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, serialize, to_list
from channelsim.games.referee import AGG_SIG_ME, CREATE_COIN


def initiators(channel: Channel, wallet: Wallet, deadline: int, part: Bundle) -> list[Bundle]:
    """Wrong bundles for message E."""
    own, launcher = part.spends
    elsewhere = replace(launcher, solution=launcher.solution[:-1] + b"\x01")
    return [
        Bundle((own,), part.signature),
        Bundle((own, launcher, launcher), part.signature),
        Bundle((own, elsewhere), part.signature),
        Bundle(part.spends, bls.sign(wallet.key, b"something else")),
        *(
            Bundle((wrong.spends[0], launcher), wrong.signature)
            for wrong in _wrong(WalletSpend(channel, wallet, deadline, launches=True))
        ),
    ]


def receivers(
    channel: Channel, wallet: Wallet, deadline: int, part: Bundle, bundle: Bundle
) -> list[Bundle]:
    """Wrong bundles for message F; `part` is the bundle of message E."""
    first, launcher, *own = bundle.spends
    if not own:
        return []
    return [
        Bundle(part.spends, part.signature),
        Bundle((launcher, first, *own), bundle.signature),
        Bundle((*bundle.spends, own[0]), bundle.signature),
        Bundle((*part.spends, first), part.signature),
        Bundle(bundle.spends, part.signature),
        *(
            joined(part, wrong)
            for wrong in _wrong(WalletSpend(channel, wallet, deadline, launches=False))
        ),
    ]


@dataclass(frozen=True, slots=True)
class WalletSpend:
    """The spend of a wallet that funds its side's part, and the conditions of an honest one.

    `launches`: it is the initiator's, and makes the launcher.
    """

    channel: Channel
    wallet: Wallet
    deadline: int
    launches: bool

    def with_launcher(self, *conditions: Value) -> list[Value]:
        """The launcher, if it makes one, and then these conditions."""
        launcher = condition(CREATE_COIN, launcher_puzzle().hash, 0)
        return [launcher, *conditions] if self.launches else [*conditions]

    def back(self, amount: int) -> Value:
        """Return this many mojos to the wallet."""
        return condition(CREATE_COIN, self.wallet.coin.puzzle_hash, amount)

    def change(self, more: int = 0) -> Value:
        """Return the change, or `more`."""
        contribution = self.channel.contributions[not self.launches]
        return self.back(self.wallet.coin.amount - contribution + more)

    def asserted(self) -> Value:
        """Assert the announcement of the launcher."""
        return condition(ASSERT_COIN_ANNOUNCEMENT, launch_announcement(self.channel))

    def until(self, later: int = 0) -> Value:
        """Assert the deadline, or a later one."""
        return condition(ASSERT_BEFORE_HEIGHT_ABSOLUTE, self.deadline + later)

    def usual(self) -> list[Value]:
        """The conditions of an honest spend."""
        return self.with_launcher(self.change(), self.asserted(), self.until())

    def signed(self, conditions: Value) -> Bundle:
        """The spend with these conditions, and its signature."""
        return signed_spend(
            self.wallet.key, self.wallet.coin, conditions, self.channel.agg_sig_data
        )


def _halved(spend: WalletSpend) -> list[Value]:
    half = (spend.wallet.coin.amount - spend.channel.contributions[not spend.launches]) // 2
    return spend.with_launcher(spend.back(half), spend.back(half), spend.asserted(), spend.until())


def _signed_nine_times(spend: WalletSpend) -> list[Value]:
    key = bytes(spend.wallet.key.get_g1())
    return [*spend.usual(), *(condition(AGG_SIG_ME, key, bytes([number])) for number in range(9))]


WRONG_CONDITIONS: Mapping[str, Callable[[WalletSpend], list[Value]]] = {
    "no-announcement": lambda w: w.with_launcher(w.change(), w.until()),
    "an-announcement-twice": lambda w: w.with_launcher(
        w.change(), w.asserted(), w.asserted(), w.until()
    ),
    "no-deadline": lambda w: w.with_launcher(w.change(), w.asserted()),
    "a-later-deadline": lambda w: w.with_launcher(w.change(), w.asserted(), w.until(1)),
    "pays-a-mojo-less": lambda w: w.with_launcher(w.change(1), w.asserted(), w.until()),
    "negative-change": lambda w: w.with_launcher(w.change(), w.back(-1), w.asserted(), w.until()),
    "the-same-coin-twice": _halved,
    "a-remark": lambda w: [*w.usual(), condition(REMARK, b"of no use")],
    "a-signature-by-no-key": lambda w: [
        *w.usual(),
        condition(AGG_SIG_ME, bytes(48), b"a key that is none"),
    ],
    "an-atom-for-a-condition": lambda w: [*w.usual(), b"\x01"],
    "a-pair-for-a-code": lambda w: [*w.usual(), to_list(((b"", b""), b"a pair for a code"))],
    "too-many-signatures": _signed_nine_times,
}
"""Conditions of a wallet spend that does not fund its part as agreed, by what is wrong."""


def _wrong(spend: WalletSpend) -> list[Bundle]:
    """Wrong spends of a wallet, each signed by its key."""
    lists = [conditions(spend) for conditions in WRONG_CONDITIONS.values()]
    if spend.launches:
        lists.append([spend.change(), spend.asserted(), spend.until()])
    wrong = [spend.signed(to_list(conditions)) for conditions in lists]
    coin, right = spend.wallet.coin, to_list(spend.usual())
    quoted = Program(serialize((b"\x01", right)))
    keyless = Coin(coin.parent, quoted.hash, coin.amount)
    good = spend.signed(right)
    (right_spend,) = good.spends
    spends = (
        Spend(keyless, quoted.serialized, serialize(b"")),
        replace(right_spend, puzzle=quoted.serialized),
        replace(right_spend, solution=b"\xff"),
        replace(right_spend, solution=serialize(b"")),
    )
    unlisted = spend.signed((condition(REMARK), b"\x01"))
    return [*wrong, unlisted, *(Bundle((forged,), good.signature) for forged in spends)]
