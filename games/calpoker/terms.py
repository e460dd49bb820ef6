"""The terms of California Poker: the parameter `amount`, in mojos."""

from __future__ import annotations

from channelsim.games.calpoker.states import StateA
from channelsim.games.calpoker.validators import COMMIT_SIZE
from channelsim.games.contract import Initial, Parameters, Terms
from channelsim.games.errors import BadTerms
from channelsim.games.even_stakes import check_amount

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
    check_amount(amount, "CP-TERMS-2", "CP-TERMS-3")
    return Terms(NAME, amount, (amount // 2, amount // 2), 1, (("amount", amount),))


def initial(terms: Terms) -> Initial:
    """The record of the first coin: Alice commits next, and her share is 0."""
    return Initial("a", StateA(), COMMIT_SIZE, 0)
