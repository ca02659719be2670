"""The verb ``fit``: from data to models, one sub-verb for each kind of model.

To add one: a module with a ``main``, and a line here.
"""

from recrawl.cli.options import verb_of_verbs

app = verb_of_verbs("fit", "Learn a model from a log: what updates, when, how fast.")
app.command(
    "recrawl.cli.fit.arrivals:main",
    name="arrivals",
    help="A batch Markovian arrival process, from the times of a crawler's deliveries.",
)
app.command(
    "recrawl.cli.fit.service_times:main",
    name="service",
    help="A phase-type law of service or obsolescence times, from samples or moments.",
)
app.command(
    "recrawl.cli.fit.events:main",
    name="events",
    help="The weekly pattern of a source's updates, from their times or from probes.",
)
app.command(
    "recrawl.cli.fit.changes:main",
    name="changes",
    help="How often pages change, from what visits found.",
)
