"""Faults in the first and last lines of commands, and in how they call the end of a channel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from channelsim.channel.peer_text import last_lines
from channelsim.channel.peer_text.last_lines import End
from scripts.tools.attack_faults.planting import Fault, changing, compared

# --- the end -------------------------------------------------------------------------------------


def _excused_fails(end: End) -> End:
    return replace(end, failed=end.failed or bool(end.unplayed))


def _to_wallet(right: Any, config: Any, state: Any) -> End:
    """Name the address of the wallet's coin."""
    end: End = right(config, state)
    wallet = config.wallet.coin.puzzle_hash.hex()
    return replace(end, text=end.text.replace(config.reward_address.hex(), wallet))


def _newest_balance(right: Any, config: Any, state: Any) -> End:
    """Name the balance of the newest state, and not what was paid."""
    balances = state.play.state.balances if state.play is not None else (0, 0)
    text = f"the channel has ended: {balances[config.side]:,} mojos at our reward address"
    return End(f"{text} {config.reward_address.hex()}")


def _balances_exchanged(end: End) -> End:
    return replace(
        end,
        text=end.text.replace("Initiator", "-")
        .replace("Receiver", "Initiator")
        .replace("-", "Receiver"),
    )


# --- an old copy ---------------------------------------------------------------------------------


def _names_own_state(right: Any, state: Any) -> str | None:
    notice = right(state)
    newest = state.play.state.number if state.play is not None else 0
    return None if notice is None else notice.replace(f"state {state.shown}", f"state {newest}")


LAST_LINES = (
    Fault(
        "ends-well-on-chain",
        "commands",
        "`peer` ends with exit code 0 however the channel ended",
        changing(last_lines, "end_of_peer", lambda end: replace(end, failed=False)),
    ),
    Fault(
        "ends-badly-though-excused",
        "commands",
        "`peer` ends with exit code 1 though a player declined the hands that were not played",
        changing(last_lines, "end_of_peer", _excused_fails),
    ),
    Fault(
        "says-nothing-of-unplayed-hands",
        "commands",
        "`peer` does not say which hands were not played, and why",
        changing(last_lines, "end_of_peer", lambda end: replace(end, unplayed="")),
    ),
    Fault(
        "exchanges-balances-at-the-end",
        "commands",
        "the last line of `peer` has each balance with the other side's name",
        changing(last_lines, "end_of_peer", _balances_exchanged),
    ),
    Fault(
        "names-the-wallet-at-the-end",
        "commands",
        "`close` and `recover` say that the money is at the address of the wallet's coin",
        compared(last_lines, "end_of_paid_channel", _to_wallet),
    ),
    Fault(
        "names-the-newest-balance-at-the-end",
        "commands",
        "`close` and `recover` say what the newest state would have paid, without its games",
        compared(last_lines, "end_of_paid_channel", _newest_balance),
    ),
    Fault(
        "passes-over-unknown-games",
        "commands",
        "`recover` does not say that games have paid which an old copy lacks",
        changing(last_lines, "unknown_games", lambda number: 0),
    ),
    Fault(
        "ends-without-a-deadline",
        "commands",
        "`recover` does not say which deadline of the funding has passed",
        changing(
            last_lines,
            "end_of_unfunded_channel",
            lambda end: replace(end, text=end.text.replace(", past its deadline", ", at")),
        ),
    ),
    Fault(
        "waits-without-a-word",
        "commands",
        "`recover` waits with an old copy of a store, and does not say so",
        changing(last_lines, "waiting_notice", lambda notice: None),
    ),
    Fault(
        "names-its-own-state-as-shown",
        "commands",
        "`recover` names the copy's own newest state as the one that the other side has shown",
        compared(last_lines, "waiting_notice", _names_own_state),
    ),
    Fault(
        "publishes-without-a-word",
        "commands",
        "`recover --publish-old` does not say what it publishes",
        changing(last_lines, "publishing_notice", lambda notice: None),
    ),
)
