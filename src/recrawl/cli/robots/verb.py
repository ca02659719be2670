"""The verb ``robots``: how many robots to run, by the length of the indexing buffer."""

from dataclasses import replace
from pathlib import Path

from recrawl.cli.options import JsonForTables
from recrawl.cli.robots.bursty import advise_bursty, write_example
from recrawl.cli.robots.options import FleetOptions, ModelOptions, refuse
from recrawl.cli.robots.phased import PhasedRequest, advise_phased
from recrawl.cli.robots.plain import PlainRequest, advise_plain
from recrawl.cli.robots.rates import read_rates
from recrawl.cli.robots.response import advise_response
from recrawl.errors import InputError

_NO_MODEL = ModelOptions()
_NO_FLEET = FleetOptions()
# In the order in which they are complained about.
_BESIDE_FILE = "map front study times limit window replay merge"
_OF_MODEL = (
    "buffer fetch_rate index_rate robots starvation_weight response_weight from_log service_times "
    "policy sweep classes environment simulate"
)
_WITHOUT_PHASES = (
    "is for one class of robots and exponential times; leave it out, or leave out --classes, "
    "--environment and --index-phases"
)


def main(
    model_file: Path | None = None,
    /,
    *,
    example: bool = False,
    model: ModelOptions = _NO_MODEL,
    fleet: FleetOptions = _NO_FLEET,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Decide how many robots to run at each length of the indexing buffer.

    Robots bring pages into a buffer; the indexer takes them out. Too few robots and the indexer
    starves, too many and pages are lost. The answer is the control of least cost, exact, beside
    the best fixed number.

    With a MODEL.toml: bursts, any service time, pages that go stale while they wait.

    Parameters
    ----------
    model_file
        A model in a file; recrawl robots --example shows one. The options from --map to --merge
        go with it, the others (but --plot and --json) without it.
    example
        Write a commented model to the file, or print it.
    plot
        Draw the policy (with a sweep: the trade-off) into this .png, .svg or .pdf file.
    """
    if model_file is not None or example:
        refuse(fleet, _OF_MODEL, "is for a model given by options; leave it out with a model file")
        if example:
            write_example(model_file)
            return
        assert model_file is not None
        advise_bursty(model_file, model, plot, as_json=json)
        return
    refuse(model, _BESIDE_FILE, "goes with a model file: recrawl robots MODEL.toml")
    fleet.check()
    rates = read_rates(fleet)
    if fleet.starvation_weight is None:
        worth = fleet.loss_weight * rates.index * (fleet.capacity + 2) / max(fleet.capacity, 1)
        fleet = replace(fleet, starvation_weight=worth)
    if fleet.has_phases:
        refuse(fleet, "robot_cost response_weight sweep policy", _WITHOUT_PHASES)
        if plot is not None:
            raise InputError(f"--plot: {_WITHOUT_PHASES}")
        advise_phased(PhasedRequest(rates, fleet), as_json=json)
        return
    plain = PlainRequest(rates, fleet, plot)
    if fleet.response_weight is not None:
        advise_response(plain, fleet.response_weight, as_json=json)
        return
    advise_plain(plain, as_json=json)
