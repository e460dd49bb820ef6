"""The promises to an honest player, each checked after a run.

They are checked by `model`, the chain, and the honest peer's events, effects and news.
"""
