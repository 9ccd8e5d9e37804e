"""All scores of a representation in one call, with what is needed to believe them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from unbraid.data import AbstractDataset, Kind, open_dataset
from unbraid.foundation import parse_duration
from unbraid.representation import Encoder, Representation

from ._cards import make_card
from ._catalogue import Metric
from ._encoded import encode_some, encode_traversals
from ._inputs import Factors, read_codes, read_inputs
from ._own_metrics import Wanted, resolve_metrics
from ._run import run_tasks
from ._scorecard import Scorecard
from ._sizes import check_size
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
    seed: int = 0,
    intervals: bool | None = None,
    levels: bool = True,
    budget: str | float | None = None,
    n_jobs: int | None = -1,
    progress: bool | None = None,
) -> Scorecard:
    r"""Every score of a representation, with intervals, chance and ideal levels.

    Next to each score stand three things that tell what it is worth. The interval is
    where a fresh evaluation is expected to fall, on as many other rows and with
    another seed, 19 times in 20. It comes from the spread :math:`s` of the score over
    random halves of the table, which vary as much around the whole as samples of its
    size do around the truth, as :math:`x \pm t_{0.975} \sqrt{2} s`; metrics that draw
    rows by themselves from a table with plenty are repeated with other seeds instead,
    metrics along traversals on random halves of the traversals, and shares of test
    cases vary at least as counting them does. An interval ends where the range of its
    score ends.
    Chance is the score when the rows of the factors are shuffled. Ideal is the score
    of the factors themselves taken as codes.

    Args:
        codes: Codes ``(n_rows, n_latents)``; or a :class:`Representation`; or, when
            ``factors`` is a dataset, anything :func:`unbraid.encode` takes.
        factors: Factors ``(n_rows, n_factors)``, a pandas DataFrame (text columns are
            categorical), or :class:`Factors` with names and kinds; a dataset (or its
            name) to encode and to take the factors from; or nothing, for the scores
            that need no ground truth.
        metrics: ``"standard"``, ``"all"``, or names. A list may also have metrics of
            your own: a :class:`Metric`, or a function of codes and factors that returns
            a number or a :class:`Score`.
        kinds: Kinds of some factors by name, such as ``{"age": "continuous"}``; see
            :class:`Factors` for the default.
        rows: Largest number of images of a dataset to encode, drawn at random; arrays
            and representations are scored whole. Metrics along traversals (linearity,
            axis alignment and orientation, distance correlation) look at other images:
            up to 256 complete traversals of each factor, at most 50,000 images. If
            all images are encoded, these metrics use all traversals.
        traversals: Codes and factors of complete traversals, for those metrics. Without
            them, and without a dataset, they use the complete traversals in ``codes``.
        seed: Seed of everything random.
        intervals: Estimate intervals: for every score (about five times the work), for
            none, or (``None``) for those whose interval is estimated to take at most
            10 seconds of processor time. The card says which scores have none, and why.
        levels: Measure chance and ideal levels (about twice the work).
        budget: Time limit, in seconds or as text such as ``"2m"``. Scores come first,
            then levels, then intervals; what is not expected to end in time is not
            started, and is listed in ``skipped``. What was started is finished.
        n_jobs: Processes that work at once: -1 for one per core, ``None`` for 1, as in
            scikit-learn. Work of a few seconds is done in one process.
        progress: Print the estimated time, and each score when it is done, to the
            standard error: always, never, or (``None``) only if it is a terminal.

    Returns:
        A :class:`Scorecard`. A metric that cannot be computed on these data is listed
        in ``failures`` with its reason and takes no other one down.

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
        check_size("evaluate", "rows", rows)
        dataset = open_dataset(factors) if isinstance(factors, str) else factors
        chosen = resolve_metrics(metrics, have_factors=bool(dataset.factor_names))
        show = progress is not False
        codes, along = _encode(codes, dataset, chosen, rows, seed, show)
        traversals, factors = traversals or along, None
    table = read_table("evaluate", codes, factors, kinds)
    chosen = resolve_metrics(metrics, have_factors=table.factors is not None)
    if traversals is codes:
        traversals = None  # the whole dataset is one table, and has all traversals
    apart = None
    if traversals is not None:
        apart = read_table("evaluate", traversals, None, kinds)
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
    """Codes of random rows and of traversals; the latter alone if all metrics can."""
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


def read_table(
    who: str, codes: Any, factors: Any, kinds: Mapping[str, Kind] | None = None
) -> Table:
    """Codes and factors of the same rows, from anything that :func:`evaluate` takes."""
    if isinstance(codes, Representation):
        if factors is None and codes.factors is not None:
            factors = Factors(
                codes.factors, names=codes.factor_names, kinds=codes.factor_kinds
            )
        codes = codes.codes
    if factors is None:
        return Table(read_codes(who, codes), None)
    codes, factors = read_inputs(who, codes, factors)
    return Table(codes, factors.with_kinds(kinds) if kinds else factors)
