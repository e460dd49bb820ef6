"""A channel on chain, from the unilateral close to the last payout.

It imports `peer.play`, `protocol` and the packages below it.
"""
