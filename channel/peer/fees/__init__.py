"""Fees for our spends on chain: a fee coin for each spend, raised in steps that mempools take.

Source: spec/channel.md, "Fees".
"""
