"""The terms of California Poker: the parameter `amount`, in mojos."""

from __future__ import annotations

from channelsim.games.amounts import MAX_AMOUNT, short_number
from channelsim.games.calpoker.states import StateA
from channelsim.games.calpoker.validators import COMMIT_SIZE
from channelsim.games.contract import Initial, Parameters, Terms
from channelsim.games.errors import BadTerms

NAME = "calpoker"


def read_terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`, naming the rule.

    >>> read_terms({"amount": 2000}).stakes
    (1000, 1000)
    >>> read_terms({"amount": 3})
    Traceback (most recent call last):
    channelsim.games.errors.BadTerms: an amount of 3 is not positive and even (CP-TERMS-2)
    """
    if set(parameters) != {"amount"}:
        raise BadTerms("a game has just the parameter amount (CP-TERMS-1)")
    amount = parameters["amount"]
    if type(amount) is not int:
        raise BadTerms("the amount is an integer, in mojos (CP-TERMS-1)")
    if amount > MAX_AMOUNT:
        raise BadTerms("the amount must be below 2^63 mojos (CP-TERMS-3)")
    if amount <= 0 or amount % 2:
        raise BadTerms(f"an amount of {short_number(amount)} is not positive and even (CP-TERMS-2)")
    return Terms(NAME, amount, (amount // 2, amount // 2), 1, (("amount", amount),))


def initial(terms: Terms) -> Initial:
    """The record of the first coin: Alice commits next, and her share is 0."""
    return Initial("a", StateA(), COMMIT_SIZE, 0)
