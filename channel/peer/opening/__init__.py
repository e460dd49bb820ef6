"""The handshake: introduction, key exchange and funding (messages A to F).

It imports `protocol` and the packages below it.
"""
