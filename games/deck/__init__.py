"""A pack of 52 cards that two players shuffle before money is at stake, and open card by card.

`initiator` and `receiver` are the two sides of the preparation, without I/O: a message in, a
message out. `work` accepts each step once, and `finished` judges openings. Rule ids begin
with `PD`. It imports `clsp` and the modules of `games` that know no game. Source: spec/deck.md.
"""
