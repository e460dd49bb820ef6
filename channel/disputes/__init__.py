"""The dispute harness: an honest peer against an adversary on one node, to the last payout."""
