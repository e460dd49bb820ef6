"""What a proposal of California Poker must say: the parameter `amount`, in mojos."""

from __future__ import annotations

from games.calpoker.states import StateA
from games.calpoker.validators import COMMIT_SIZE
from games.contract import Initial, Parameters, Terms
from games.errors import BadTerms

NAME = "calpoker"

MOST = 2**63 - 1
"""No amount is higher (CP-TERMS-3)."""


def default_parameters(unit: int, stack: int) -> Parameters:
    """The parameters of a game in which each player stakes `stack` units of `unit` mojos.

    >>> default_parameters(100, 10)
    {'amount': 2000}
    """
    return {"amount": 2 * unit * stack}


def read_terms(parameters: Parameters) -> Terms:
    """Check a proposal. Raises `BadTerms`, naming the rule. There is no unit but the mojo.

    >>> read_terms({"amount": 2000}).stakes
    (1000, 1000)
    >>> read_terms({"amount": 3})
    Traceback (most recent call last):
    games.errors.BadTerms: an amount of 3 is not positive and even (CP-TERMS-2)
    """
    if set(parameters) != {"amount"}:
        raise BadTerms("a game has just the parameter amount (CP-TERMS-1)")
    amount = parameters["amount"]
    if type(amount) is not int:
        raise BadTerms("the amount is an integer, in mojos (CP-TERMS-1)")
    if amount > MOST:
        raise BadTerms("the amount must be below 2^63 mojos (CP-TERMS-3)")
    if amount <= 0 or amount % 2:
        said = amount if amount > -MOST else "absurd size"
        raise BadTerms(f"an amount of {said} is not positive and even (CP-TERMS-2)")
    return Terms(NAME, amount, (amount // 2, amount // 2), 1, (("amount", amount),))


def initial(terms: Terms) -> Initial:
    """The first coin waits for Alice's commitment; nobody has a share yet."""
    return Initial("a", StateA(), COMMIT_SIZE, 0)
