"""Terms of a game in which both players stake the same and nothing else is agreed on."""

from __future__ import annotations

from channelsim.games.amounts import MAX_AMOUNT, short_number
from channelsim.games.errors import BadTerms
from channelsim.games.players import Parameters, Terms


def even_stakes(unit: int, stack: int) -> Parameters:
    """The parameter `amount`: two stakes of `stack` units of `unit` mojos.

    >>> even_stakes(100, 10)
    {'amount': 2000}
    """
    return {"amount": 2 * unit * stack}


def check_amount(amount: int, rule: str, bound: str) -> None:
    """Check that an amount makes two equal stakes (`rule`) and is below 2^63 (`bound`).

    Raises `BadTerms`, naming the rule.
    """
    if amount > MAX_AMOUNT:
        raise BadTerms(f"the amount must be below 2^63 mojos ({bound})")
    if amount <= 0 or amount % 2:
        raise BadTerms(f"an amount of {short_number(amount)} is not positive and even ({rule})")


def even_terms(game: str, parameters: Parameters, rule: str) -> Terms:
    """The terms of a proposal whose only parameter is `amount`, in mojos: positive, even, < 2^63.

    Raises `BadTerms`, naming the game's `rule` that demands this.

    >>> even_terms("parity", {"amount": 2000}, "PARITY-TERMS-1").stakes
    (1000, 1000)
    >>> even_terms("parity", {"amount": 3}, "PARITY-TERMS-1")
    Traceback (most recent call last):
    channelsim.games.errors.BadTerms: an amount of 3 is not positive, even and ... (PARITY-TERMS-1)
    """
    amount = parameters.get("amount")
    if set(parameters) != {"amount"} or type(amount) is not int:
        raise BadTerms(f"the only parameter is the amount, an integer ({rule})")
    if not 0 < amount <= MAX_AMOUNT or amount % 2:
        shown = short_number(amount)
        raise BadTerms(f"an amount of {shown} is not positive, even and below 2^63 ({rule})")
    return Terms(game, amount, (amount // 2, amount // 2), 1, (("amount", amount),))
