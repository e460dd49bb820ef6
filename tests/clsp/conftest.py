"""Settings of the property tests: what a busy machine takes is no failure."""

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
