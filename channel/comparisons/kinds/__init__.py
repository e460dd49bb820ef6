"""The documents that can be compared, each kind in its own file of this package.

Every module here has a `KIND`. It imports `comparisons` and the packages before it.
"""
