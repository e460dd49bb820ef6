"""An adversary for each rule of the channel, which breaks that rule and no other.

`breaker` is what they share; the other modules say how each rule is broken. It imports
`adversaries.base` and the packages below `adversaries`.
"""
