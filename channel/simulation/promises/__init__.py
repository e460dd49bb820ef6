"""The promises to an honest player, each checked after a run.

They hold against `model`, the chain, and the honest peer's events, effects and news. It imports
`simulation.model` and the packages below `simulation`.
"""
