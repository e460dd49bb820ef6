"""Going on chain: what a peer does from the moment on from which the chain alone counts.

Pure, like the rest of a peer. With every block comes the whole picture of the coins that it
watches; what happened is read off it from the start, so that a reorganisation is nothing
special, and what is due is pushed again until it is in.
"""
