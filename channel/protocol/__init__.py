"""Messages, states, transitions and signatures: the pure functions that both peers share.

It imports `crypto` and the values of `chain`.
"""
