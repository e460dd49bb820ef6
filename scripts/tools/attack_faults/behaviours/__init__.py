"""Wrong behaviours of a peer in play, over time, on chain, and with fees."""
