"""Run an honest peer against adversaries, on chain until the last payout.

Example: channelsim dispute run stale-oldest --at 9
"""
