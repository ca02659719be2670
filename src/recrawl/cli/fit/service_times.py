"""``recrawl fit service``: a phase-type law of service or obsolescence times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recrawl.cli.figures import check_picture
from recrawl.cli.fit.fit_pictures import draw_law
from recrawl.cli.fit.toml_parts import show_law, write_toml
from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.robots.arrival_log import read_service_times
from recrawl.errors import InputError, InvalidModel
from recrawl.learning.erlang_branches import BranchFit, select_branches
from recrawl.learning.phase_type_moments import fit_three_moments, fit_two_moments
from recrawl.processes.phase_type import PhaseType


@dataclass(frozen=True, slots=True)
class LawFit:
    """A law, how it was found, and how far its distribution is from the sample's."""

    law: PhaseType
    method: str
    candidates: tuple[BranchFit, ...]
    distance: float | None
    exponential_distance: float | None
    exponential_will_do: bool


def main(
    table: Path | None = None,
    /,
    *,
    moments: str | None = None,
    mean: float | None = None,
    order: int = 4,
    obsolescence: bool = False,
    out: Path | None = None,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Learn a phase-type law of service times (or of obsolescence) from samples or moments.

    Parameters
    ----------
    table
        Table with the column index_seconds (or seconds): one row per page.
    moments
        Instead of a table: mean and mean square, and mean cube if known: 2,9 or 2,9,80.
    mean
        Scale the law to this mean: for sizes, which take time in proportion.
    order
        Most phases of a fit to samples; 1 to 6.
    obsolescence
        Write it as the table obsolescence of a MODEL.toml, not as service.
    out
        Write the law into this .toml file.
    plot
        Draw quantiles and densities into this .png, .svg or .pdf file.
    """
    check_picture(plot)
    if (table is None) == (moments is None):
        raise InputError("give a table of times, or --moments, and not both")
    if not 1 <= order <= 6:
        raise InputError(f"--order: must be 1 to 6, got {order}")
    if mean is not None and not 1e-30 <= mean <= 1e30:
        raise InputError(f"--mean: must be between 1e-30 and 1e30, got {mean:g}")
    samples = None
    if table is not None:
        samples = read_service_times(table)
        fit = _from_samples(table, samples, order)
    else:
        assert moments is not None
        if plot is not None:
            raise InputError("--plot: there is nothing to compare with; give a table of times")
        fit = _from_moments(moments)
    factor = mean / fit.law.mean if mean is not None else 1.0
    law = fit.law.scaled(factor)
    text = show_law("obsolescence" if obsolescence else "service", law)
    if out is not None:
        write_toml(out, text)
    if plot is not None and samples is not None:
        draw_law(plot, samples, fit.law)
    if json:
        print_json(_as_json(fit, law, samples))
    else:
        _print(fit, law, samples, text)


def _from_moments(text: str) -> LawFit:
    try:
        given = [float(part) for part in text.split(",")]
    except ValueError:
        given = []
    if len(given) not in (2, 3) or not all(0 < part <= 1e40 for part in given):
        raise InputError(
            f"--moments: {text!r} is not two or three numbers > 0, such as 2,9 or 2,9,80"
        )
    try:
        if len(given) == 3:
            law = fit_three_moments(*given)
        else:
            law = fit_two_moments(given[0], given[1] / (given[0] ** 2 or 1.0) - 1)
    except InvalidModel as error:
        raise InvalidModel(f"--moments: {error}") from error
    will_do = law.initial.size == 1
    return LawFit(law, f"{len(given)} moments", (), None, None, will_do)


def _from_samples(path: Path, samples: NDArray[np.float64], order: int) -> LawFit:
    wrong = np.flatnonzero(samples <= 0)
    if wrong.size:
        raise InvalidModel(
            f"{path}, row {wrong[0] + 1}: a time of 0; a phase-type law has none, leave it out"
        )
    candidates = select_branches(samples, order=order)
    best = candidates[0]
    distance = _distance(samples, best.time_law)
    plain = _distance(samples, PhaseType.exponential(float(samples.mean())))
    return LawFit(best.time_law, "likelihood", candidates, distance, plain, best.stages == (1,))


def _distance(samples: NDArray[np.float64], law: PhaseType) -> float:
    """Largest difference of the distributions (Kolmogorov and Smirnov)."""
    times = np.sort(samples)
    fitted = law.distribution(times)
    steps = np.arange(times.size + 1) / times.size
    return float(max(np.max(steps[1:] - fitted), np.max(fitted - steps[:-1])))


def _as_json(fit: LawFit, law: PhaseType, samples: NDArray[np.float64] | None) -> dict[str, object]:
    return {
        "samples": int(samples.size) if samples is not None else None,
        "sample_moments": [float(np.mean(samples**k)) for k in (1, 2, 3)]
        if samples is not None
        else None,
        "method": fit.method,
        "initial": law.initial.tolist(),
        "generator": law.generator.tolist(),
        "moments": [law.moment(k) for k in (1, 2, 3)],
        "squared_variation": law.squared_variation,
        "distance": fit.distance,
        "exponential_distance": fit.exponential_distance,
        "candidates": [
            {
                "stages": one.stages,
                "log_likelihood": one.log_likelihood,
                "bic": one.bic,
                "gain": one.gain if math.isfinite(one.gain) else None,
            }
            for one in fit.candidates
        ],
        "exponential_will_do": fit.exponential_will_do,
    }


def print_candidates(candidates: Sequence[BranchFit]) -> None:
    """Show the likeliest laws of several stages, the best first."""
    rows = [
        [
            "+".join(map(str, one.stages)),
            f"{one.log_likelihood:.2f}",
            f"{one.bic:.2f}",
            f"{one.gain:.2f}" if math.isfinite(one.gain) else "one top",
        ]
        for one in candidates[:6]
    ]
    headings = ["stages of branches", "log-likelihood", "BIC", "over the next top"]
    print_table(headings, rows, title="Best first")


def _print(fit: LawFit, law: PhaseType, samples: NDArray[np.float64] | None, text: str) -> None:
    out = console()
    if samples is not None:
        scv = float(samples.var() / samples.mean() ** 2)
        rows = [
            ["mean", f"{samples.mean():.6g}", f"{fit.law.mean:.6g}"],
            ["squared variation", f"{scv:.5g}", f"{fit.law.squared_variation:.5g}"],
            ["third moment", f"{np.mean(samples**3):.5g}", f"{fit.law.moment(3):.5g}"],
        ]
        print_table(["", f"{samples.size:,} samples", "fit"], rows)
        print_candidates(fit.candidates)
        out.print(
            f"Largest difference of distributions: {fit.distance:.4f}; of an exponential law "
            f"{fit.exponential_distance:.4f} (chance alone: up to {1.36 / samples.size**0.5:.4f}).",
        )
    word = "good enough" if fit.exponential_will_do else "not good enough"
    out.print(
        f"Fitted by {fit.method}: mean {law.mean:.6g}, squared variation "
        f"{law.squared_variation:.5g}. An exponential law is {word}.",
    )
    out.print(text)
