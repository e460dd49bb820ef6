"""Files, worker processes and interrupts: everything taken from the operating system.

It imports `channel.errors` only.
"""
