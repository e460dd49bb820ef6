"""Targets: the programs that the lab examines, found, compiled and loaded.

It imports `games`, `clsp` and `channelsim.channel.system`.
"""
