"""Small games that only lists of mistakes use, with secrets of other kinds than the examples have.

`fivecards` hides an order of cards behind a chain of hashes, `raffle` numbers behind a Merkle tree
whose branches differ in length; `ranks` pieces behind a tree, two of which one move shows.
"""
