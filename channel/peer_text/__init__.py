"""Text about one peer: its news, what it does and hears, and the state of its channel.

Commands print it, pages show it, and monitors read it. It imports `session` and the packages below.
"""
