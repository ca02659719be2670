"""Settings for all tests."""

from hypothesis import settings

# The first call of a compiled loop takes seconds, and no test may depend on the clock.
settings.register_profile("recrawl", deadline=None)
settings.load_profile("recrawl")
