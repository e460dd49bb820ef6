"""A session of two honest peers on one node: set-up, driver, deciders and transcript.

It imports `peer`, `protocol` and the packages below them.
"""
