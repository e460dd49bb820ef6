"""Change the test chain of a running `channelsim node`: blocks, reorganisations, snapshots, funds.

Example: channelsim chain make 5 --node http://127.0.0.1:8555
"""
