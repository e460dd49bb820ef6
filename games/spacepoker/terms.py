"""The terms of Space Poker: the parameters `amount` and `bet_unit`, in mojos."""

from __future__ import annotations

from channelsim.games.amounts import short_number
from channelsim.games.contract import Initial, Parameters, Terms
from channelsim.games.errors import BadTerms
from channelsim.games.even_stakes import check_amount
from channelsim.games.spacepoker.states import CommitA
from channelsim.games.spacepoker.validators import COMMIT_SIZE

NAME = "spacepoker"


def default_parameters(unit: int, stack: int) -> Parameters:
    """The parameters of a game in which each player stakes `stack` units of `unit` mojos.

    >>> default_parameters(100, 10)
    {'amount': 2000, 'bet_unit': 100}
    """
    return {"amount": 2 * unit * stack, "bet_unit": unit}


def read_terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`, naming the rule.

    >>> read_terms({"amount": 2000, "bet_unit": 100}).stakes
    (1000, 1000)
    >>> read_terms({"amount": 2000, "bet_unit": 300})
    Traceback (most recent call last):
    channelsim.games.errors.BadTerms: a bet unit of 300 does not divide the stake of 1000 ...
    """
    if set(parameters) != {"amount", "bet_unit"}:
        raise BadTerms("a game has just the parameters amount and bet_unit (SP-TERMS-1)")
    amount, unit = parameters["amount"], parameters["bet_unit"]
    if type(amount) is not int or type(unit) is not int:
        raise BadTerms("amount and bet_unit are integers, in mojos (SP-TERMS-1)")
    check_amount(amount, "SP-TERMS-2", "SP-TERMS-3")
    stake = amount // 2
    if not 0 < unit <= stake:
        raise BadTerms(
            f"a bet unit of {short_number(unit)} is not from 1 to the stake of {stake} (SP-TERMS-4)"
        )
    if stake % unit:
        raise BadTerms(f"a bet unit of {unit} does not divide the stake of {stake} (SP-TERMS-5)")
    return Terms(NAME, amount, (stake, stake), unit, (("amount", amount), ("bet_unit", unit)))


def initial(terms: Terms) -> Initial:
    """The record of the first coin: Alice commits next, and her share is 0."""
    return Initial("commitA", CommitA(terms.unit), COMMIT_SIZE, 0)
