"""evaluate: all scores of a representation."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from unbraid.data import AbstractDataset, Kind, open_dataset
from unbraid.foundation import check_count, parse_duration
from unbraid.representation import Encoder, Representation, prepare_data

from ._cards import make_card
from ._encoded import encode_some, encode_traversals
from ._inputs import Factors, read_codes, read_inputs
from ._metric import Metric
from ._observation_distance import find_distance
from ._own_metrics import Wanted, resolve_metrics
from ._run import run_tasks
from ._scorecard import Scorecard
from ._tasks import Table, make_plan

if TYPE_CHECKING:
    import pandas as pd


def evaluate(
    codes: Encoder | Representation,
    factors: "ArrayLike | pd.DataFrame | Factors | AbstractDataset | None" = None,
    *,
    metrics: Wanted = "standard",
    kinds: Mapping[str, Kind] | None = None,
    rows: int = 50_000,
    traversals: Representation | None = None,
    observations: "ArrayLike | AbstractDataset | None" = None,
    seed: int = 0,
    intervals: bool | None = None,
    levels: bool = True,
    budget: str | float | None = None,
    n_jobs: int | None = -1,
    progress: bool | None = None,
) -> Scorecard:
    r"""Score a representation, with intervals, chance and ideal levels.

    Three numbers help to judge each score. The interval contains the result of another
    evaluation, with as many other rows and another seed, 19 times in 20. It is
    :math:`x \pm t_{0.975} \sqrt{2} s`, where :math:`s` is the spread of the score over
    random halves of the table: these vary as much around the whole table as samples of
    its size vary around the truth. Metrics that draw few of many rows are repeated with
    other seeds instead, and metrics along traversals on random halves of the
    traversals. Shares of test cases have at least the spread of a binomial proportion.
    Intervals stay within the range of the score.
    Chance is the score when the rows of the factors are shuffled. Ideal is the score
    of the factors themselves, used as codes.

    Args:
        codes: Codes ``(n_rows, n_latents)``; or a :class:`Representation`; or, when
            ``factors`` is a dataset, anything :func:`unbraid.encode` takes.
        factors: Factors ``(n_rows, n_factors)``, a pandas DataFrame (text columns are
            categorical), or :class:`Factors` with names and kinds; a dataset (or its
            name) to encode and to take the factors from; or nothing, for the scores
            that need no ground truth.
        metrics: ``"standard"``, ``"all"``, or names. A name may have options, as text
            (``"mig:estimator=posterior"``) or as a mapping (``{"name": "mig",
            "estimator": "posterior"}``); its score is then called
            ``mig[estimator=posterior]``. A list may also have metrics of your own: a
            :class:`Metric`, or a function of codes and factors that returns a number or
            a :class:`Score`.
        kinds: Kinds of some factors by name, such as ``{"age": "continuous"}``; see
            :class:`Factors` for the default.
        rows: Largest number of images of a dataset to encode, drawn at random; arrays
            and representations are scored whole. Metrics along traversals (linearity,
            axis alignment and orientation, distance correlation) look at other images:
            up to 256 complete traversals of each factor, at most 50,000 images. If
            all images are encoded, these metrics use all traversals.
        traversals: Codes and factors of complete traversals, for those metrics. Without
            them, and without a dataset, they use the complete traversals in ``codes``.
        observations: Images behind the codes, ``(n_rows, ...)``, or the dataset of a
            :class:`Representation`, for ``latent_data_correlation``. Not needed if
            ``factors`` is a dataset.
        seed: Seed of everything random.
        intervals: Estimate intervals for every score (``True``, about five times the
            work), for none (``False``), or for those that take at most about 10 seconds
            of processor time (``None``). The scorecard says which scores have no
            interval, and why.
        levels: Measure chance and ideal levels (about twice the work).
        budget: Time limit, in seconds or as text such as ``"2m"``. Scores come first,
            then levels, then intervals; what is not expected to end in time is not
            started, and is listed in ``skipped``. What has started is finished.
        n_jobs: Number of processes: -1 for one per core, ``None`` for 1, as in
            scikit-learn. Work of a few seconds is done in one process.
        progress: Print the estimated time, and each score when it is done, to the
            standard error: always, never, or (``None``) only if it is a terminal.

    Returns:
        A :class:`Scorecard`. A metric that cannot be computed on these data is listed
        in ``failures`` with the reason; all others are computed.

    Example:
        >>> import numpy as np
        >>> factors = np.random.default_rng(0).integers(0, 4, (500, 2))
        >>> codes = np.column_stack([factors, np.zeros(500)]).astype(float)
        >>> card = evaluate(codes, factors, metrics="mig", progress=False)
        >>> card["mig"].chance < 0.1 < 0.9 < card["mig"]
        True
    """
    limit = None if budget is None else parse_duration(budget)
    if isinstance(factors, AbstractDataset | str):
        check_count("evaluate: rows", rows)
        dataset = open_dataset(factors) if isinstance(factors, str) else factors
        chosen = resolve_metrics(metrics, have_factors=bool(dataset.factor_names))
        show = progress is not False
        observations = prepare_data(codes, dataset)
        codes, along = _encode(codes, dataset, chosen, rows, seed, show)
        traversals, factors = traversals or along, None
    if traversals is codes:
        traversals = None  # the table is the whole dataset, with all traversals
    if factors is None and isinstance(codes, Representation):
        codes = _drop_unused_factors(codes, metrics)
    table = read_table("evaluate", codes, factors, kinds, observations)
    chosen = resolve_metrics(metrics, have_factors=table.factors is not None)
    apart = None
    if traversals is not None:
        images = observations if isinstance(observations, AbstractDataset) else None
        apart = read_table("evaluate", traversals, None, kinds, images)
    plan = make_plan(
        chosen, table, apart, seed=seed, intervals=intervals, levels=levels
    )
    outcomes = run_tasks(plan.tasks, n_jobs=n_jobs, budget=limit, progress=progress)
    return make_card(plan, outcomes, limit)


def _encode(
    model: Any,
    dataset: AbstractDataset,
    metrics: Mapping[str, Metric],
    n_rows: int,
    seed: int,
    progress: bool,
) -> tuple[Representation, Representation | None]:
    """Encode random rows and traversals, or traversals only if all metrics use them."""
    along = [metric.rows == "traversals" for metric in metrics.values()]
    codes = traversals = None
    if not all(along) or len(dataset) <= n_rows:
        codes = encode_some(model, dataset, n_rows, seed, progress=progress)
    if any(along):
        traversals = encode_traversals(
            model, dataset, seed, known=codes, progress=progress
        )
    if codes is None and traversals is not None:
        return traversals, None
    if codes is None:
        codes = encode_some(model, dataset, n_rows, seed, progress=progress)
    return codes, traversals


def _drop_unused_factors(codes: Representation, metrics: Wanted) -> Representation:
    """Drop factors that no metric needs; they may be unusable, such as constant."""
    chosen = resolve_metrics(metrics, have_factors=codes.factors is not None)
    if any(metric.uses_factors for metric in chosen.values()):
        return codes
    return replace(codes, factors=None, factor_names=(), factor_kinds=())


def read_table(
    caller: str,
    codes: Any,
    factors: Any,
    kinds: Mapping[str, Kind] | None = None,
    observations: Any = None,
) -> Table:
    """Return what is known of the same rows, from any input of :func:`evaluate`."""
    given, log_variances = codes, None
    if isinstance(codes, Representation):
        if factors is None and codes.factors is not None:
            factors = Factors(
                codes.factors, names=codes.factor_names, kinds=codes.factor_kinds
            )
        codes, log_variances = codes.codes, codes.log_variances
    if factors is None:
        codes = read_codes(caller, codes)
    else:
        codes, factors = read_inputs(caller, codes, factors)
        factors = factors.with_kinds(kinds) if kinds else factors
    distance = find_distance(caller, observations, given, len(codes))
    return Table(codes, factors, log_variances, distance)
