"""Files, worker processes and interrupts: everything taken from the operating system.

It imports `channelsim.channel.errors` only.
"""
