"""How well do label-free scores choose? Reads ``results/choice`` and prints tables.

For every score, set and number of runs per configuration: the rank correlation of the
score with MIG, DCI disentanglement, InfoM and InfoC over the models, and the regret of
choosing the model with the best score, which is the quality of the best model minus
that of the chosen one. A user has some runs of each configuration, so the numbers are
means over random draws of as many seeds; their intervals (95%) are from a bootstrap
over seeds.

    python benchmarks/choice.py [--sets blobs ...] [--draws 100] [--replicates 100]

The weights of ``rank_models`` are fitted on all sets but one, and their regret is
reported for the one left out. ``choice_population.py`` and ``choice_evidence.py`` make
the stored results again.
"""

import argparse
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.execution import count_cores
from unbraid.selection import (
    Evidence,
    levels_of_chance,
    median_over_partners,
    rank_models,
    reproducible_latents,
)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

STORED = Path(__file__).parent / "results" / "choice"
QUALITIES = ("mig", "dci", "infom", "infoc")
RUNS = (2, 3, 5, 10)
SINGLE = {
    "pipe": 1,
    "self_mig": 1,
    "jacobian_contrast": -1,
    "total_correlation": -1,
    "elbo": 1,
    "active_latents": 1,
}
"""Scores of single models with their direction."""

FITTED = ("contrast", "reproducible", "across")
"""Scores of which ``rank_models`` may take a weighted mean."""

STEPS_OF_WEIGHTS = 4
"""Weights that are tried are multiples of one over this number, and sum to 1."""


@dataclass(frozen=True, eq=False)
class Population:
    """Stored evidence on the models of one set.

    Attributes:
        name: Name of the set.
        table: Arrays by name; scores of pairs are matrices.
    """

    name: str
    table: dict[str, NDArray[Any]]

    @classmethod
    def load(cls, path: Path) -> "Population":
        """Read a file of ``choice_evidence.py``."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(path.stem, {name: stored[name] for name in stored.files})

    @cached_property
    def members(self) -> list[Rows]:
        """Models of each configuration."""
        names = self.table["configurations"]
        return [np.flatnonzero(names == name) for name in dict.fromkeys(names)]

    def draw(
        self, n_runs: int, generator: np.random.Generator, pool: list[Rows] | None
    ) -> list[Rows]:
        """Draw some runs of each configuration from a pool, by default all runs."""
        return [
            generator.choice(own, min(n_runs, len(own)), replace=False)
            for own in (self.members if pool is None else pool)
        ]

    def resample(self, generator: np.random.Generator) -> list[Rows]:
        """Draw as many seeds of each configuration as there are, with replacement."""
        return [generator.choice(own, len(own)) for own in self.members]


def median_of(pairs: Floats, rows: Rows) -> Floats:
    """Median of each model's column over the other models, ``(..., n)``."""
    return median_over_partners(pairs[..., rows[:, None], rows])


def score_models(population: Population, drawn: Sequence[Rows]) -> dict[str, Floats]:
    """Compute all label-free scores of drawn models; higher is better.

    Args:
        population: All models.
        drawn: Models of each configuration.

    Returns:
        Scores of the drawn models, one configuration after the other.
    """
    table, rows = population.table, np.concatenate(drawn)
    owner = np.repeat(np.arange(len(drawn)), [len(own) for own in drawn])
    is_alive = table["active_latents"][rows] > 0
    scores = {
        name: sign * np.asarray(table[name], np.float64)[rows]
        for name, sign in SINGLE.items()
        if name in table
    }
    for name in ("udr_lasso", "udr_spearman"):
        own = [median_of(table[name], part) for part in drawn]
        scores[name] = np.where(is_alive, np.concatenate(own), 0.0)
    rotated = np.concatenate(
        [median_of(table["rotated"], part) for part in drawn], axis=-1
    )
    mean, spread = rotated.mean(axis=0), rotated.std(axis=0, ddof=1)
    above = (scores["udr_spearman"] - mean) / np.where(spread > 1e-9, spread, np.inf)
    scores["standardized_agreement"] = np.where(is_alive, above, 0.0)
    chance = np.array([mean[owner == k].mean() for k in range(len(drawn))])[owner]
    n_active = table["active_latents"][rows]
    found = reproducible_latents(scores["udr_spearman"], n_active, chance)
    scores["reproducible_latents"] = np.where(is_alive, found, 0.0)
    if len(drawn) > 1:
        scores["udr_across"] = _across(table["udr_spearman"], rows, owner)
    centrality = np.array(table["model_centrality"][np.ix_(rows, rows)], np.float64)
    centrality[rows[:, None] == rows] = np.nan
    scores["model_centrality"] = np.nanmean(centrality, axis=1)
    scores["dynamics"] = _dynamics(table["dynamics"], drawn, is_alive)
    return scores


def _across(pairs: Floats, rows: Rows, owner: Rows) -> Floats:
    part = np.array(pairs[np.ix_(rows, rows)], np.float64)
    part[owner[:, None] == owner] = np.nan
    if np.isnan(part).all():
        return np.zeros(len(rows))
    return np.nanmedian(part, axis=0)


def _dynamics(pairs: Floats, drawn: Sequence[Rows], is_alive: Any) -> Floats:
    found, start = [], 0
    for own in drawn:
        alive = is_alive[start : start + len(own)]
        start += len(own)
        part = np.array(pairs[np.ix_(own, own)], np.float64)
        part[(own[:, None] == own) | ~alive[:, None] | ~alive] = np.nan
        known = ~np.isnan(part)
        count = known.sum(axis=1)
        sums = np.where(known, part, 0.0).sum(axis=1)
        found.append(np.where(count > 0, -sums / np.maximum(count, 1), np.nan))
    return np.concatenate(found)


def describe_evidence(population: Population, drawn: Sequence[Rows]) -> Evidence:
    """Collect what ``rank_models`` knows about drawn models."""
    table, rows = population.table, np.concatenate(drawn)
    owners = [str(name) for name in table["configurations"][rows]]
    own = dict(zip(dict.fromkeys(owners), drawn, strict=True))
    pairs = np.array(table["udr_spearman"][np.ix_(rows, rows)], np.float64)
    pairs[np.array(owners)[:, None] != np.array(owners)] = np.nan
    rotated = [median_of(table["rotated"], part) for part in drawn]
    chance = levels_of_chance(np.concatenate(rotated, axis=-1), owners)
    across = None
    if len(drawn) > 1:
        across = _across(table["udr_spearman"], rows, np.array(owners))
    return Evidence(
        names=tuple(str(k) for k in range(len(rows))),
        specifications=tuple(owners),
        udr_pairs=pairs,
        active_latents=table["active_latents"][rows],
        chance={name: each.level for name, each in chance.items()},
        chance_mean={name: each.mean for name, each in chance.items()},
        dynamics_pairs={
            name: np.array(table["dynamics"][np.ix_(part, part)], np.float64)
            for name, part in own.items()
        },
        across=across,
        contrast=_column(table, "jacobian_contrast", rows),
        elbo=_column(table, "elbo", rows),
    )


def _column(table: dict[str, NDArray[Any]], name: str, rows: Rows) -> Floats | None:
    return np.array(table[name][rows], np.float64) if name in table else None


class Draw(NamedTuple):
    """What is known about the models of one draw.

    Attributes:
        scores: Label-free scores by name, higher is better, ``(n,)`` each.
        columns: The scores of ``FITTED`` from 0 to 1 as ``rank_models`` uses them, less
            1 for models that are no better than chance, ``(n, n_fitted)``.
        qualities: Supervised scores, ``(n, n_qualities)``.
    """

    scores: dict[str, Floats]
    columns: Floats
    qualities: Floats


def read_draw(population: Population, drawn: Sequence[Rows]) -> Draw:
    """Compute all label-free scores of drawn models, and look up their quality."""
    rows = np.concatenate(drawn)
    scores = score_models(population, drawn)
    evidence = describe_evidence(population, drawn)
    ranking = rank_models(evidence, weights=dict.fromkeys(FITTED, 1.0))
    models = sorted(ranking.models, key=lambda model: int(model.name))
    columns = len(FITTED) * np.array(
        [[model.parts[name] for name in FITTED] for model in models]
    )
    refused = np.array([not model.better_than_chance for model in models])
    found = np.maximum(scores["reproducible_latents"], 0.0)
    previous = found / max(found.max(), 1e-9)
    previous += 0.05 * (to_ranks(scores["elbo"]) + to_ranks(scores["dynamics"]))
    scores["previous_ranking"] = previous - 10.0 * refused
    qualities = np.stack([population.table[name][rows] for name in QUALITIES], axis=1)
    return Draw(scores, columns - refused[:, None], qualities.astype(np.float64))


def to_ranks(values: Floats) -> Floats:
    """Ranks from 0 (last) to 1 (first); models without a score are last."""
    known = np.where(np.isnan(values), -np.inf, values)
    return (rankdata(known) - 1) / max(len(known) - 1, 1)


def correlate(score: Floats, quality: Floats) -> float:
    """Spearman correlation; 0 for a score that is the same for all models."""
    first = rankdata(np.where(np.isnan(score), -np.inf, score))
    second = rankdata(quality)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def measure_regret(score: Floats, quality: Floats) -> float:
    """Quality of the best model minus that of the chosen one; ties are drawn."""
    known = np.where(np.isnan(score), -np.inf, score)
    return float(quality.max() - quality[known == known.max()].mean())


def list_weights() -> Floats:
    """All weights of ``FITTED`` that are tried, ``(n_tried, n_fitted)``."""
    steps = range(STEPS_OF_WEIGHTS + 1)
    tried = [
        each
        for each in itertools.product(steps, repeat=len(FITTED))
        if sum(each) == STEPS_OF_WEIGHTS
    ]
    return np.array(tried) / STEPS_OF_WEIGHTS


class Measured(NamedTuple):
    """Means over the draws of one set with one number of runs.

    Attributes:
        regret: Regret by score and quality, ``(n_scores, n_qualities)``.
        correlation: Rank correlation by score and quality, of the same shape.
        weighted: Regret by weights and quality, ``(n_tried, n_qualities)``.
    """

    regret: Floats
    correlation: Floats
    weighted: Floats


def measure(draws: Sequence[Draw]) -> Measured:
    """Measure regret and rank correlation over draws."""
    regret, correlation, weighted = [], [], []
    tried = list_weights()
    for draw in draws:
        pairs = [
            (score, quality)
            for score in draw.scores.values()
            for quality in draw.qualities.T
        ]
        shape = len(draw.scores), len(QUALITIES)
        regret.append(np.reshape([measure_regret(*pair) for pair in pairs], shape))
        correlation.append(np.reshape([correlate(*pair) for pair in pairs], shape))
        chosen = (tried @ draw.columns.T).argmax(axis=1)
        weighted.append(draw.qualities.max(axis=0) - draw.qualities[chosen])
    return Measured(
        *(np.mean(each, axis=0) for each in (regret, correlation, weighted))
    )


class SetResult(NamedTuple):
    """Everything measured on one set; lists run over ``RUNS``.

    Attributes:
        names: Names of the scores.
        measured: Means over many draws.
        replicates: The same for each bootstrap replicate of the seeds.
    """

    names: tuple[str, ...]
    measured: list[Measured]
    replicates: list[list[Measured]]


def measure_set(path: Path, n_draws: int, n_replicates: int) -> SetResult:
    """Measure all scores on one set, with bootstrap replicates over its seeds."""
    population = Population.load(path)
    generator = np.random.default_rng(0)

    def draws(n_runs: int, number: int, pool: list[Rows] | None) -> list[Draw]:
        # All runs can be drawn in one way only.
        is_whole = pool is None and all(
            len(own) <= n_runs for own in population.members
        )
        return [
            read_draw(population, population.draw(n_runs, generator, pool))
            for _ in range(1 if is_whole else number)
        ]

    first = [draws(n_runs, n_draws, None) for n_runs in RUNS]
    replicates = []
    for _ in range(n_replicates):
        pool = population.resample(generator)
        few = max(n_draws // 20, 1)
        replicates.append([measure(draws(n_runs, few, pool)) for n_runs in RUNS])
    names = tuple(first[0][0].scores)
    print(path.stem, "measured", flush=True)
    return SetResult(names, [measure(each) for each in first], replicates)


def fit_weights(results: Sequence[Sequence[Measured]]) -> int:
    """Return the number of the weights with the least mean regret of MIG and DCI.

    Args:
        results: Regrets of the sets to fit on, each for all numbers of runs.
    """
    chosen = [QUALITIES.index(name) for name in ("mig", "dci")]
    regret = np.mean(
        [[each.weighted[:, chosen] for each in sizes] for sizes in results], axis=(0, 1)
    )
    return int(regret.mean(axis=1).argmin())


def held_out_regret(results: Sequence[Sequence[Measured]]) -> Floats:
    """Regret with weights of the other sets, ``(n_sets, n_runs, n_qualities)``."""
    found = []
    for k, sizes in enumerate(results):
        number = fit_weights([*results[:k], *results[k + 1 :]])
        found.append([each.weighted[number] for each in sizes])
    return np.array(found)


def _task(task: tuple[Path, int, int]) -> SetResult:
    return measure_set(*task)


def _interval(values: Any) -> str:
    low, high = np.quantile(np.asarray(values), (0.025, 0.975))
    return f"{low:.3f} to {high:.3f}"


def table_of_sets(
    sets: Sequence[str], results: Sequence[SetResult], quality: str
) -> Iterator[str]:
    """Regret and rank correlation of every score on every set with three runs."""
    size, column = RUNS.index(3), QUALITIES.index(quality)
    yield f"| score | {' | '.join(sets)} | mean |"
    yield "|---" * (len(sets) + 2) + "|"
    for row, name in enumerate(results[0].names):
        cells, regrets, correlations = [], [], []
        for result in results:
            every = [each[size].regret[row, column] for each in result.replicates]
            regret = result.measured[size].regret[row, column]
            correlation = result.measured[size].correlation[row, column]
            low, high = np.quantile(every, (0.025, 0.975))
            cells.append(f"{correlation:.2f}, {regret:.2f} ({low:.2f}-{high:.2f})")
            regrets.append(regret)
            correlations.append(correlation)
        mean = f"{np.mean(correlations):.2f}, {np.mean(regrets):.3f}"
        yield f"| {name} | {' | '.join(cells)} | {mean} |"


def table_of_runs(results: Sequence[SetResult]) -> Iterator[str]:
    """Mean over sets by number of runs: rank correlation, regret and its interval."""
    heads = [f"{quality}, {n} runs" for quality in ("MIG", "DCI") for n in RUNS]
    yield f"| score | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    everyone = [(name, row) for row, name in enumerate(results[0].names)]
    for name, row in everyone:
        cells = []
        for column, size in itertools.product((0, 1), range(len(RUNS))):
            mean = np.mean(
                [each.measured[size].regret[row, column] for each in results]
            )
            every = [
                np.mean(
                    [each.replicates[k][size].regret[row, column] for each in results]
                )
                for k in range(len(results[0].replicates))
            ]
            low, high = np.quantile(every, (0.025, 0.975))
            cells.append(f"{mean:.3f} ({low:.3f}-{high:.3f})")
        yield f"| {name} | {' | '.join(cells)} |"


def report_rule(sets: Sequence[str], results: Sequence[SetResult]) -> dict[str, Any]:
    """Compare the fitted ranking, leave-one-set-out, with single scores."""
    tried = list_weights()
    main = [each.measured for each in results]
    replicates = [
        [each.replicates[k] for each in results]
        for k in range(len(results[0].replicates))
    ]
    ours, ours_again = held_out_regret(main), [held_out_regret(r) for r in replicates]
    columns = [QUALITIES.index("mig"), QUALITIES.index("dci")]
    print("\nweights fitted without a set, and on all of them:")
    fitted = {}
    for k, name in enumerate([*sets, "all"]):
        rest = main if name == "all" else [*main[:k], *main[k + 1 :]]
        weights = tried[fit_weights(rest)]
        fitted[name] = dict(zip(FITTED, weights.tolist(), strict=True))
        shown = {score: weight for score, weight in fitted[name].items() if weight}
        print(f"  {name}: {shown}")
    print("\nregret of the rule on the set left out (mean of all numbers of runs):")
    for k, name in enumerate(sets):
        values = ours[k].mean(axis=0)[columns]
        print(f"  {name}: MIG {values[0]:.3f}, DCI {values[1]:.3f}")
    print("\nregret of a score minus that of the rule, mean over sets and runs:")
    compared = {}
    for row, score in enumerate(results[0].names):
        theirs = np.array([[each.regret[row] for each in sizes] for sizes in main])
        again = [
            np.array([[each.regret[row] for each in sizes] for sizes in replicate])
            for replicate in replicates
        ]
        line = []
        for column in columns:
            difference = float((theirs - ours)[..., column].mean())
            every = [
                (them - us)[..., column].mean()
                for them, us in zip(again, ours_again, strict=True)
            ]
            compared[f"{score}, {QUALITIES[column]}"] = [
                difference,
                *np.quantile(every, (0.025, 0.975)).tolist(),
            ]
            line.append(f"{QUALITIES[column]} {difference:+.3f} ({_interval(every)})")
        print(f"  {score}: {', '.join(line)}")
    mean = ours.mean(axis=(0, 1))[columns]
    print(f"\nmean regret of the rule: MIG {mean[0]:.3f}, DCI {mean[1]:.3f}")
    return {"weights": fitted, "difference": compared, "regret": mean.tolist()}


def main() -> None:
    """Print the tables, and keep them with the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    stored = sorted(path.stem for path in STORED.glob("*.npz"))
    parser.add_argument("--sets", nargs="+", default=stored)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--out", type=Path, default=STORED / "summary.json")
    options = parser.parse_args()
    tasks = [
        (STORED / f"{name}.npz", options.draws, options.replicates)
        for name in options.sets
    ]
    with get_context("spawn").Pool(count_cores()) as pool:
        results = pool.map(_task, tasks, chunksize=1)
    for quality in QUALITIES:
        print(f"\n{quality}, three runs: rank correlation, regret (interval)\n")
        print("\n".join(table_of_sets(options.sets, results, quality)))
    print("\nregret, mean over sets\n")
    print("\n".join(table_of_runs(results)))
    summary = report_rule(options.sets, results)
    options.out.write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
