"""What changed between two campaigns, or two measurements of cost, read from their documents.

It imports `lab`, `report` and the packages before them.
"""
