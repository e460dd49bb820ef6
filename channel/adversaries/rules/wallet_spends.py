"""Parts of a funding with one mistake each, signed again."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from channelsim.channel.chain.coins import (
    ASSERT_BEFORE_HEIGHT_ABSOLUTE,
    ASSERT_COIN_ANNOUNCEMENT,
    REMARK,
    Bundle,
    Coin,
    Spend,
    condition,
    launcher_puzzle,
    signed_spend,
    standard_spend,
)
from channelsim.channel.crypto import bls
from channelsim.channel.protocol.state import Channel
from channelsim.channel.protocol.wallet import Wallet, launch_announcement
from channelsim.clsp.integers import int_to_atom
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
            Bundle((made.spends[0], launcher), made.signature)
            for made in _wrong(channel, wallet, deadline, launch=True)
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
            Bundle((*part.spends, *made.spends), bls.add(part.signature, made.signature))
            for made in _wrong(channel, wallet, deadline, launch=False)
        ),
    ]


def _wrong(channel: Channel, wallet: Wallet, deadline: int, *, launch: bool) -> list[Bundle]:
    """Wrong spends of the wallet that funds its side's part."""
    coin = wallet.coin
    change = coin.amount - channel.contributions[not launch]
    launcher = [condition(CREATE_COIN, launcher_puzzle().hash, b"")] * launch
    asserts = condition(ASSERT_COIN_ANNOUNCEMENT, launch_announcement(channel))
    before = condition(ASSERT_BEFORE_HEIGHT_ABSOLUTE, int_to_atom(deadline))
    after = condition(ASSERT_BEFORE_HEIGHT_ABSOLUTE, int_to_atom(deadline + 1))

    def back(amount: int, *more: bytes) -> Value:
        return condition(CREATE_COIN, coin.puzzle_hash, int_to_atom(amount), *more)

    key = bytes(wallet.key.get_g1())
    right = [*launcher, back(change), asserts, before]
    lists: list[Sequence[Value]] = [
        [*launcher, back(change), before],
        [*launcher, back(change), asserts, asserts, before],
        [*launcher, back(change), asserts],
        [*launcher, back(change), asserts, after],
        [*launcher, back(change + 1), asserts, before],
        [*launcher, back(change), back(-1), asserts, before],
        [*launcher, back(change // 2), back(change // 2), asserts, before],
        [*right, condition(REMARK, b"of no use")],
        [*right, condition(AGG_SIG_ME, bytes(48), b"a key that is none")],
        [*right, b"\x01"],
        [*right, to_list(((b"", b""), b"a pair for a code"))],
        [*right, *(condition(AGG_SIG_ME, key, bytes([number])) for number in range(9))],
    ]
    if launch:
        lists.append([back(change), asserts, before])
    made = [_signed(channel, wallet, to_list(one)) for one in lists]
    quoted = Program(serialize((b"\x01", to_list(right))))
    keyless = Coin(coin.parent, quoted.hash, coin.amount)
    good = standard_spend(coin, key, to_list(right))
    spends = (
        Spend(keyless, quoted.serialized, serialize(b"")),
        replace(good, puzzle=quoted.serialized),
        replace(good, solution=b"\xff"),
        replace(good, solution=serialize(b"")),
    )
    signature = _signed(channel, wallet, to_list(right)).signature
    unlisted = _signed(channel, wallet, (condition(REMARK), b"\x01"))
    return [*made, unlisted, *(Bundle((spend,), signature) for spend in spends)]


def _signed(channel: Channel, wallet: Wallet, conditions: Value) -> Bundle:
    """The wallet coin's spend with these conditions."""
    return signed_spend(wallet.key, wallet.coin, conditions, channel.agg_sig_data)
