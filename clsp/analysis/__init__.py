"""Static analysis, disassembly and tracing of compiled CLVM programs.

It imports the modules of `clsp` that know values, operators and programs, and nothing else.
"""
