"""A channel on chain, from the unilateral close to the last payout: facts, and what reads them.

Facts are below `Dispute`, which holds them. What reads a block, decides, and finds the spends that
are due is above it. It imports `peer.play`, `protocol` and the packages below it.
"""
