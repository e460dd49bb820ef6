"""Reports as one HTML page that needs no network: sessions, disputes, findings and campaigns.

It imports `lab`, `simulation`, `session` and the packages below them.
"""
