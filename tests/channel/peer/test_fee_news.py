"""News about fees: of the spend that waits with its highest fee, and of no other."""

from __future__ import annotations

from channelsim.channel.chain.interface import observe
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import FeeTooLow, GoOnChain, Tell, Watch
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from tests.channel.disputes import with_config
from tests.channel.table import ANN, sit


def test_a_fee_coin_that_is_split_while_the_process_is_down_is_no_fee_of_0() -> None:
    """The first block after a restart has the coin that was split, and not yet its pieces."""
    table = sit("fee coins while down")
    key = wallet_key(b"fee news", "fees")
    wallet = Wallet(key, table.chain.give(address_of(key), 10**12))
    with_config(table, ANN, fees=Fees(wallet, 10**9, 10**11))
    table.start().pump().farm()
    ann = table.ends[ANN]
    # The other side's funding is mined before it hears of its fee coin.
    assert [name for name, _, _ in ann.pushed] == ["fee-coins"]
    ann.peer.handle(GoOnChain())
    news = []
    for blocks in (6, 0, 6, 6):
        if blocks:
            table.chain.farm(blocks)
        for effect in ann.peer.handle(observe(table.chain, ann.watched)):
            match effect:
                case Watch(coin):
                    ann.watched.append(coin)
                case Tell(FeeTooLow() as fee_too_low):
                    news.append(fee_too_low)
    assert news == [FeeTooLow("unroll", 10**9)]
