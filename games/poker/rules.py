"""The rules of the poker validators, and of the terms of a poker game."""

from __future__ import annotations

RULES = {
    "PK-DEAL-1": "The move is 32 bytes for each lock that the mover owes of the first street.",
    "PK-DEAL-2": "The waiter's share is its stake less what it has put in or must post.",
    "PK-DEAL-3": "Each scalar opens the mover's lock of its position.",
    "PK-BEGIN-1": "The move begins with 32 bytes for each lock, 33 for each card that is due.",
    "PK-BEGIN-2": "The waiter's share is its stake less what it has put in or must post.",
    "PK-BEGIN-3": "Each scalar opens the mover's lock of its position.",
    "PK-BEGIN-4": "Each open card is the one at its position.",
    "PK-BEGIN-5": "A mover that is not first to act bets nothing.",
    "PK-BEGIN-6": "The amount is in the fewest bytes.",
    "PK-BEGIN-7": "The amount is a legal bet or raise, or nothing where no bet is forced.",
    "PK-MID-1": "The move begins with 1 for a call or 2 for a raise.",
    "PK-MID-2": "The waiter's share is its stake less what it has put in.",
    "PK-MID-3": "The raise is in the fewest bytes.",
    "PK-MID-4": "The raise is legal.",
    "PK-MID-5": "A call is followed by 32 bytes for each lock that the mover owes.",
    "PK-MID-6": "Each scalar opens the mover's lock of its position.",
    "PK-SHOW-1": "The move is what is due, and 33 bytes for each card of the mover.",
    "PK-SHOW-2": "The waiter's share is its stake less what it has put in.",
    "PK-SHOW-3": "Each scalar opens the mover's lock of its position.",
    "PK-SHOW-4": "Each card is the one at its position.",
    "PK-END-1": "The move is 33 bytes for each card of the mover, and its selections.",
    "PK-END-2": "Each scalar opens the mover's lock of its position.",
    "PK-END-3": "Each card is the one at its position.",
    "PK-END-4": "The mover's selections are legal.",
    "PK-END-5": "The evidence is a legal selection of the waiter's cards.",
    "PK-END-6": "The waiter's share is at least what both selections give it.",
}
