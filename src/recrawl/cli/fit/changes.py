"""``recrawl fit changes``: change rates of pages from what visits found."""

import time as clock
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table
from recrawl.errors import InputError, InvalidModel, InvalidTable
from recrawl.learning.beliefs import RateBeliefs
from recrawl.learning.change_rates import (
    bound_change_rates,
    estimate_change_rates,
    maximise_likelihood,
)
from recrawl.learning.gamma_priors import digamma, learn_gamma_priors
from recrawl.learning.signals import SignalQuality, learn_signal_quality
from recrawl.learning.visits import VisitIntervals, intervals_between
from recrawl.quantities import UNIT_S, show_duration
from recrawl.tables.columns import truths
from recrawl.tables.complaints import told_columns
from recrawl.tables.instants import instants
from recrawl.tables.own_exports import told_only
from recrawl.tables.reading import read_table
from recrawl.tables.writing import check_out, write_batch

_QUALITY = ("precision", "recall", "worth_time", "log_odds", "log_odds_error")
_LISTED_PAGES = 10_000  # in the JSON object
_JUDGED_PAGES = 50_000  # by which half-lives are judged, where there are more


@dataclass(frozen=True, eq=False)
class _Visits:
    names: list[str]
    groups: list[NDArray[np.int64]]
    told: VisitIntervals
    signals: NDArray[np.float64] | None
    sources: NDArray[np.str_] | None
    n_rows: int


def main(
    visits: Path,
    /,
    *,
    unit: str = "d",
    out: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Learn how often pages change from visits, each of which tells only changed or not.

    Rates are shrunk towards those of pages of the same path, host and table, as far as these are
    alike; pages hardly visited borrow most.

    Parameters
    ----------
    visits
        One row per visit: url or page, visited_at (with a time zone or Z) and changed (true or
        false); optionally signals, how many changes were announced since the visit before, and
        source, who announced them. Visits of a page are in order of time.
    unit
        Unit of time of the rates: s, min, h, d, w, y.
    out
        Write url, change_rate, its 95 % interval (rate_low, rate_high), error_factor and the
        numbers of visits: .parquet, .csv or .jsonl, as recrawl plan reads it.
    """
    check_out(out)
    if unit not in UNIT_S:
        raise InputError(f"--unit: {unit!r} is no unit of time; choose from {', '.join(UNIT_S)}")
    read = _read_visits(visits)
    n, told = len(read.names), read.told
    elapsed = told.elapsed / UNIT_S[unit]
    if not told.changed.any():
        raise InvalidTable(
            f"{visits}: no visit found a change, which bounds rates but tells none; longer records "
            "or more pages are needed"
        )
    mean = float(told.changed.sum() / elapsed.sum())
    shapes, means = np.full(n, 0.5), np.full(n, mean)
    for _ in range(10):
        found = estimate_change_rates(
            n, told.page, elapsed, told.changed, prior_rate=means, prior_shape=shapes
        )
        # About its maximum the posterior of the logarithm is that of a gamma law of this shape.
        a = found.log_errors**-2
        log_means = digamma(a) - np.log(a / found.rates)
        shapes, means = learn_gamma_priors(found.rates, log_means, read.groups)
    plain = maximise_likelihood(n, told.page, elapsed, told.changed)
    drift = _half_lives(n, told, elapsed, mean)
    is_listed = n <= _LISTED_PAGES
    if out is not None or is_listed:
        low, high = bound_change_rates(
            found, told.page, elapsed, told.changed, prior_rate=means, prior_shape=shapes
        )
    if out is not None:
        columns = {
            "url": pa.array(read.names),
            "change_rate": pa.array(found.rates),
            "rate_low": pa.array(low),
            "rate_high": pa.array(high),
            "error_factor": pa.array(np.exp(found.log_errors)),
            "likelihood_rate": pa.array(plain.rates, mask=~np.isfinite(plain.rates)),
            "visits": pa.array(np.bincount(told.page, minlength=n)),
            "changes": pa.array(np.bincount(told.page[told.changed], minlength=n)),
        }
        write_batch(out, pa.RecordBatch.from_pydict(columns))
    answer = {
        "pages": n,
        "visits": read.n_rows,
        "changes": int(told.changed.sum()),
        "unit": unit,
        "mean_rate": float(found.rates.mean()),
        "quantiles": np.quantile(found.rates, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist(),
        "half_life": drift[0],
        "held_out": drift[1],
        "signals": {
            name: {part: getattr(one, part) for part in _QUALITY}
            for name, one in _signals(read, elapsed).items()
        },
    }
    if is_listed:
        answer["rates"] = dict(zip(read.names, found.rates.tolist(), strict=True))
        answer["error_factors"] = dict(
            zip(read.names, np.exp(found.log_errors).tolist(), strict=True)
        )
        answer["intervals"] = dict(
            zip(read.names, np.column_stack((low, high)).tolist(), strict=True)
        )
    if json:
        print_json(answer)
    else:
        _print(answer, out)


def _half_lives(
    n: int, told: VisitIntervals, elapsed: NDArray[np.float64], mean: float
) -> tuple[float, dict[str, float]]:
    """Choose a half-life by how well past visits predict the next, nats a visit above none."""
    lives = [np.inf, *(x / mean for x in (64.0, 16.0, 4.0, 1.0))]
    step = -(-n // _JUDGED_PAGES)
    kept = told.page % step == 0
    page, elapsed, changed = told.page[kept] // step, elapsed[kept], told.changed[kept]
    gains, every = [], np.arange(-(-n // step))
    for life in lives:
        both = (np.inf,) if life == np.inf else (np.inf, life)
        beliefs = RateBeliefs(every.size, prior_rate=mean, half_lives=both)
        for _ in range(2):  # the law of rates is learned in the first round
            beliefs.forget_all(every)
            chances = beliefs.observe(page, elapsed, changed)
            beliefs.learn(every)
        gains.append(float(np.log(chances).mean()))
    names = ("never", *(f"{life:.4g}" for life in lives[1:]))
    named = {name: gain - gains[0] for name, gain in zip(names, gains, strict=True)}
    return lives[int(np.argmax(gains))], named


def _signals(read: _Visits, elapsed: NDArray[np.float64]) -> dict[str, SignalQuality]:
    if read.signals is None:
        return {}
    sources = read.sources if read.sources is not None else np.full(elapsed.size, "signals")
    return {
        str(name): learn_signal_quality(
            elapsed[sources == name],
            read.signals[sources == name],
            read.told.changed[sources == name],
            pages=read.told.page[sources == name],
        )
        for name in np.unique(sources)
    }


def _read_visits(path: Path) -> _Visits:
    table = told_only(read_table(path))
    key = next((name for name in ("url", "page") if name in table.column_names), None)
    for name, there in (("url or page", key), ("visited_at", None), ("changed", None)):
        if there is None and name not in table.column_names:
            raise InvalidTable(
                f"{path}: column {name} is missing; {told_columns(table.column_names)}"
            )
    assert key is not None
    if not table.num_rows:
        raise InvalidTable(f"{path}: 0 visits, at least 2 of one page are needed")
    at = instants(table, "visited_at", path)
    late = np.flatnonzero(at > clock.time() + 86_400.0)
    if late.size:
        when = np.datetime64(int(at[late[0]]), "s")
        raise InvalidTable(
            f"{path}, column visited_at, row {late[0] + 1}: {when}Z is in the future"
        )
    changed = _changed(table, path)
    encoded = table.column(key).combine_chunks().cast(pa.string()).dictionary_encode()
    if encoded.null_count:
        raise InvalidTable(f"{path}, column {key}: a page is missing")
    names = encoded.dictionary.to_pylist()
    try:
        told = intervals_between(encoded.indices.to_numpy().astype(np.int64), at, changed)
    except InvalidModel as error:
        raise InvalidTable(f"{path}, {error}") from None
    if not told.page.size:
        raise InvalidTable(f"{path}: no page was visited twice, so nothing is known of changes")
    signals = sources = None
    if "signals" in table.column_names:
        signals = pc.fill_null(
            table.column("signals").cast(pa.float64(), safe=False), 0.0
        ).to_numpy()[told.rows]
    if "source" in table.column_names:
        texts = pc.fill_null(table.column("source").cast(pa.string()), "?")
        sources = np.asarray(texts.to_pylist(), np.str_)[told.rows]
    return _Visits(names, _groups(names), told, signals, sources, table.num_rows)


def _changed(table: pa.Table, path: Path) -> NDArray[np.bool_]:
    values = truths(table.column("changed"), "changed", path)
    if None in values:
        row = values.index(None) + 1
        raise InvalidTable(f"{path}, column changed, row {row}: must be true or false, is missing")
    return np.array(values, np.bool_)


def _groups(names: list[str]) -> list[NDArray[np.int64]]:
    """Host, and host with the first part of the path, of each page, as numbers."""
    bare = [name.partition("://")[2] or name for name in names]
    parts = [name.split("/") for name in bare]
    levels = ([one[0] for one in parts], ["/".join(one[: min(2, len(one) - 1)]) for one in parts])
    return [np.unique(np.array(level), return_inverse=True)[1] for level in levels]


def _print(answer: dict[str, object], out: Path | None) -> None:
    unit = str(answer["unit"])
    console().print(
        f"{answer['pages']:,} pages, {answer['visits']:,} visits, "
        f"{answer['changes']:,} found a change",
    )
    quantiles, drift, signals = answer["quantiles"], answer["held_out"], answer["signals"]
    assert isinstance(quantiles, list)
    assert isinstance(drift, dict)
    assert isinstance(signals, dict)
    shares = ("5 %", "25 %", "50 %", "75 %", "95 %")
    rows = [
        (share, f"{rate:.4g}", show_duration(UNIT_S[unit] / rate))
        for share, rate in zip(shares, quantiles, strict=True)
    ]
    print_table(("pages", f"changes per {unit}", "one change in"), rows)
    print_table(
        (f"half-life of what is learned, {unit}", "predicts better by, nats a visit"),
        [(name, f"{gain:+.4f}") for name, gain in drift.items()],
    )
    if signals:
        print_table(
            ("signals of", "precision", "recall", f"worth, {unit} of age"),
            [
                (
                    name,
                    f"{one['precision']:.3f}",
                    f"{one['recall']:.3f}",
                    f"{one['worth_time']:.4g}",
                )
                for name, one in signals.items()
            ],
        )
    if out is not None:
        console().print(f"rates in {out}")
