"""Settings for all tests."""

import os

from hypothesis import settings

# The first call of a compiled loop takes seconds, and no test may depend on the clock. What passes
# today passes tomorrow; `HYPOTHESIS_PROFILE=explore` looks for examples that nobody has seen yet.
settings.register_profile("recrawl", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "recrawl"))
