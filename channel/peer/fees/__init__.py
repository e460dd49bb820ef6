"""Fees for our spends on chain: a fee coin for each spend, raised in steps that mempools take.

It imports `chain`, `protocol` and the packages below them. Source: spec/channel.md, "Fees".
"""
