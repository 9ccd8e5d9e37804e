"""Tables made by hand that support a claim, and tables that contradict it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from unbraid.data import FactorSpace
from unbraid.studies import study_from_plain
from unbraid.studies.analysis import strengths, transfer
from unbraid_claims import CLAIMS, _learned_factors, study_of
from unbraid_claims._populations import scores_of
from unbraid_claims._stability import by_configuration
from unbraid_claims.claims import holtz_table_3, holtz_table_4

A_RUN = SimpleNamespace(
    spec=SimpleNamespace(data="dsprites", seed=0), files=SimpleNamespace(path="")
)

METRICS = (
    "beta_vae_score",
    "factor_vae_score",
    "mig",
    "dci_disentanglement",
    "modularity",
    "sap",
)


class Hand:
    """Evidence made by hand."""

    preset = "smoke"

    def __init__(self, table=None, cells=None, **kept):
        self._table, self._cells, self._kept = table, cells or {}, kept

    def at(self, *, smoke, mini, paper):
        return smoke

    def table(self, name):
        return self._table

    def cells(self, name):
        return self._cells[name]

    def cached(self, name, compute):
        return self._kept[name]


class OneRun(Hand):
    """A study of published size with a single run."""

    preset = "paper"

    def at(self, *, smoke, mini, paper):
        return paper

    def cells(self, name):
        return [A_RUN]


def measure(name, *arguments, **kept):
    return CLAIMS[name].measure(Hand(*arguments, **kept))


def verdict(name, *arguments, **kept):
    return measure(name, *arguments, **kept).verdict


def sweep(score, data="somewhere"):
    """Runs of two methods, five strengths and eight seeds, with scores by a rule."""
    generator = np.random.default_rng(0)
    rows = []
    for method in ("beta_vae", "beta_tc_vae"):
        for strength in range(1, 6):
            for seed in range(8):
                row = {
                    "status": "done",
                    "data": data,
                    "objective.name": method,
                    "objective.beta": float(strength),
                    "seed": seed,
                }
                row |= score(method, strength, generator.normal())
                rows.append(row)
    return pd.DataFrame(rows)


def test_total_correlation_may_rise_and_fall_or_not():
    def rule(sign):
        return lambda method, strength, noise: {
            "score.gaussian_total_correlation": sign * strength + 0.1 * noise,
            "score.sampled_gaussian_total_correlation": -sign * strength + 0.1 * noise,
        }

    name = "locatello-total-correlation"
    assert verdict(name, sweep(rule(1))) == "holds"
    assert verdict(name, sweep(rule(-1))) == "does not hold"


def test_metrics_may_agree_or_not():
    generator = np.random.default_rng(1)

    def rule(together):
        def scores(method, strength, quality):
            noise = dict(zip(METRICS, generator.normal(size=6), strict=True))
            found = {
                f"score.{name}": together * quality + 0.3 * noise[name]
                for name in METRICS
            }
            return found | {"score.modularity": noise["modularity"]}

        return scores

    name = "locatello-metric-agreement"
    assert verdict(name, sweep(rule(1.0))) == "holds"
    assert verdict(name, sweep(rule(0.0))) == "does not hold"


def test_variance_may_be_shared_or_belong_to_the_method():
    def rule(by_method, by_strength):
        return lambda method, strength, noise: {
            f"score.{name}": by_method * (method == "beta_vae")
            + by_strength * strength
            + noise
            for name in METRICS
        }

    name = "locatello-variance"
    assert verdict(name, sweep(rule(2.0, 0.5))) == "holds"
    assert verdict(name, sweep(rule(50.0, 0.0))) == "does not hold"


TERMS = (
    "final.elbo",
    "final.reconstruction",
    "final.kl",
    "score.gaussian_total_correlation",
    "score.gaussian_wasserstein",
)


def models(*datasets, metrics=0.5, seed=1):
    """Runs with metrics that follow one quality, and terms that follow it by a weight.

    Args:
        datasets: For each dataset, the weights of some terms by their names; the others
            are noise.
        metrics: Standard deviation of the metrics around the quality.
        seed: Seed of the noise.
    """
    generator = np.random.default_rng(seed)

    def rule(weights):
        def scores(method, strength, quality):
            noise = generator.normal(size=len(METRICS) + len(TERMS))
            found = {
                f"score.{name}": quality + metrics * one
                for name, one in zip(METRICS, noise, strict=False)
            }
            # Modularity goes its own way, as published.
            found["score.modularity"] = noise[METRICS.index("modularity")]
            return found | {
                name: weights.get(name, 0.0) * quality + one
                for name, one in zip(TERMS, noise[len(METRICS) :], strict=True)
            }

        return scores

    tables = [
        sweep(rule(weights), data=f"data_{number}")
        for number, weights in enumerate(datasets)
    ]
    return pd.concat(tables, ignore_index=True)


def test_terms_that_tell_nothing_support_the_claim_on_selection():
    assert verdict("locatello-selection", models({}, {})) == "holds"


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("weight", [20.0, -20.0])
def test_one_term_that_follows_every_metric_on_all_data_contradicts_the_claim(
    term, weight
):
    found = measure(
        "locatello-selection", models({term: weight}, {term: weight}, metrics=0.2)
    )
    assert found.verdict == "does not hold"
    verdicts = [check.verdict for check in found.checks[: len(TERMS)]]
    assert verdicts.index("does not hold") == TERMS.index(term)
    assert verdicts.count("does not hold") == 1


@pytest.mark.parametrize("second", [0.0, -20.0])
def test_a_term_that_follows_the_metrics_on_one_of_two_datasets_is_not_reliable(
    second,
):
    term = "final.elbo"
    table = models({term: 20.0}, {term: second}, metrics=0.2)
    found = measure("locatello-selection", table)
    assert found.checks[0].verdict == "holds"
    assert "data_" in found.remark
    alone = table[table["data"] == "data_0"].reset_index(drop=True)
    assert verdict("locatello-selection", alone) == "does not hold"


def test_supervised_metrics_are_reliable_by_the_same_measure():
    # Any metric in the place of a term must count as reliable, or nothing ever could.
    table = models({}, {}, metrics=0.2)
    for metric in ("mig", "dci_disentanglement", "beta_vae_score"):
        as_term = table.assign(**{"final.elbo": table[f"score.{metric}"]})
        found = measure("locatello-selection", as_term)
        assert found.checks[0].verdict == "does not hold"


def test_nothing_is_said_about_selection_if_metrics_do_not_agree_either():
    assert verdict("locatello-selection", models({}, {}, metrics=50.0)) != "holds"


def test_nothing_is_said_about_a_term_that_is_not_known():
    table = models({}, {}).assign(**{"final.kl": np.nan})
    found = measure("locatello-selection", table)
    assert found.checks[2].verdict == "cannot be told"
    assert found.verdict == "cannot be told"


def test_a_few_runs_without_a_score_do_not_hide_the_others():
    table = models({"final.elbo": 20.0}, {"final.elbo": 20.0}, metrics=0.2)
    table.loc[:5, "final.kl"] = np.nan
    assert verdict("locatello-selection", table) == "does not hold"


def with_few_seeds(plain):
    """A study with three seeds at most, as the published one has 12,600 runs."""
    return plain | {"seeds": min(plain["seeds"], 3)}


def planned(preset, *names):
    """Runs of studies as a table, with random scores."""
    rows = [
        {
            "data": str(spec.data),
            "objective.name": spec.objective["name"],
            "seed": spec.seed,
        }
        | {
            f"{part}.{name}": str(value)
            for part in ("objective", "evaluation")
            for name, value in spec.to_plain()[part].items()
        }
        for study in names
        for spec in study_from_plain(with_few_seeds(study_of(study, preset))).runs()
    ]
    generator = np.random.default_rng(0)
    scores = {f"score.{name}": generator.random(len(rows)) for name in METRICS}
    return pd.DataFrame(rows).assign(**scores)


@pytest.mark.parametrize(("preset", "n_datasets"), [("mini", 2), ("paper", 7)])
def test_transfer_compares_the_same_settings_on_every_dataset(preset, n_datasets):
    claim = CLAIMS["locatello-transfer"]
    table = planned(preset, *claim.studies_at(preset))
    assert transfer(table, ["mig"]).n_settings == 36
    by_data = strengths(table).groupby("data")[["method", "strength_rank"]]
    counts = by_data.apply(lambda some: len(some.drop_duplicates()))
    assert len(counts) == n_datasets
    assert set(counts) == {36}


def test_studies_that_repeat_runs_with_another_evaluation_are_refused():
    table = planned("paper", "dlib-2019", "estermann-2020-fig4-plain")
    with pytest.raises(ValueError, match="one run for each dataset, setting and seed"):
        transfer(table, ["mig"])


def test_metrics_that_agree_only_between_datasets_do_not_agree():
    # All metrics are higher on the second dataset, and unrelated within each of them.
    generator = np.random.default_rng(3)
    table = pd.concat(
        [
            sweep(
                lambda method, strength, quality, shift=shift: {
                    f"score.{name}": shift + generator.normal() for name in METRICS
                },
                data=data,
            )
            for data, shift in (("low", 0.0), ("high", 10.0))
        ],
        ignore_index=True,
    )
    assert verdict("locatello-metric-agreement", table) == "does not hold"


class DSpritesGrid:
    """As large as dSprites, with nothing but its grid of factors."""

    factor_space = FactorSpace(
        names=("shape", "scale", "orientation", "position_x", "position_y"),
        sizes=(3, 6, 40, 32, 32),
    )

    def __len__(self):
        return self.factor_space.size


class Encoded(Exception):
    """Carries the rows that a claim wanted to encode."""


def rows_encoded(monkeypatch, module, call):
    def encode(model, dataset, *, rows, progress):
        raise Encoded(rows)

    monkeypatch.setattr(module, "open_dataset", lambda name: DSpritesGrid())
    monkeypatch.setattr(module, "load", lambda path: None)
    monkeypatch.setattr(module, "encode", encode)
    with pytest.raises(Encoded) as caught:
        call()
    return caught.value.args[0]


@pytest.mark.parametrize(
    ("module", "n_rows", "call"),
    [
        (holtz_table_3, 50_000, lambda: holtz_table_3._scores(OneRun())),
        (holtz_table_4, 30_000, lambda: holtz_table_4._codes(A_RUN, 30_000)),
        (_learned_factors, 20_000, lambda: _learned_factors.learned_factors("", "")),
    ],
    ids=["holtz-table-3", "holtz-table-4", "learned factors"],
)
def test_every_value_of_every_factor_is_among_the_rows_of_a_claim(
    monkeypatch, module, n_rows, call
):
    # Every n-th row kept 16, 4 and 8 of the 32 values of position_y.
    monkeypatch.setattr(holtz_table_3, "_noisy", lambda data: {}, raising=False)
    monkeypatch.setattr(
        holtz_table_3, "add_label_noise", lambda data, level: data, raising=False
    )
    rows = rows_encoded(monkeypatch, module, call)
    assert len(rows) == len(np.unique(rows)) == n_rows
    space = DSpritesGrid.factor_space
    found = [len(np.unique(values)) for values in space.factors(rows).T]
    assert found == list(space.sizes)
    np.testing.assert_array_equal(rows, rows_encoded(monkeypatch, module, call))


def test_efficiency_may_follow_a_metric_or_not():
    generator = np.random.default_rng(1)

    def rule(known):
        return lambda method, strength, quality: (
            {f"score.{name}": quality for name in METRICS}
            | {
                "score.downstream_accuracy": quality,
                "score.statistical_efficiency": known * quality + generator.normal(),
            }
        )

    assert verdict("locatello-downstream", sweep(rule(-0.5))) == "holds"
    assert verdict("locatello-downstream", sweep(rule(20.0))) == "does not hold"


def specifications(follows):
    generator = np.random.default_rng(1)
    rows = []
    for beta in (1.0, 2.0, 4.0):
        for n_latents in (2, 4, 8, 16):
            quality = generator.normal()
            row = {"beta": beta, "n_latents": n_latents, "dynamics": -follows * quality}
            for number in range(4):
                worse = generator.normal() * 2
                row[f"dynamics_few_{number}"] = -follows * (quality + worse)
            rows.append(
                row
                | {"beta_vae_score": quality, "factor_vae_score": quality}
                | {"mig": quality, "unfairness": -quality, "clustering": -quality}
            )
    return rows


def test_stability_may_follow_scores_or_not():
    name = "holtz-table-1"
    assert verdict(name, stability=specifications(1.0)) == "holds"
    assert verdict(name, stability=specifications(-1.0)) == "does not hold"


def test_stability_may_follow_tasks_or_not():
    for follows, expected in ((1.0, "holds"), (-1.0, "does not hold")):
        rows = specifications(follows)
        tasks = {
            task: [
                {name: row.pop(name) if name == task else row[name] for name in names}
                for row in rows
            ]
            for task in ("unfairness", "clustering")
            if (names := ("beta", "n_latents", task))
        }
        assert verdict("holtz-table-4", stability=rows, **tasks) == expected


@pytest.mark.parametrize(("lowest", "expected"), [(2, "holds"), (8, "does not hold")])
def test_training_may_be_most_stable_with_the_true_number_of_latents(lowest, expected):
    # At smoke size the first number stands for the true one.
    rows = [
        {
            "beta": beta,
            "n_latents": n_latents,
            "dynamics": (1.0 if n_latents == lowest else 2.0) + 0.01 * beta,
        }
        for beta in (1.0, 2.0, 4.0)
        for n_latents in (2, 8, 16)
    ]
    assert verdict("holtz-figure-4a", stability=rows) == expected


@pytest.mark.parametrize(
    ("noise", "expected"), [(3.0, "holds"), (0.0, "does not hold")]
)
def test_noise_may_spoil_metrics_or_not(noise, expected):
    generator = np.random.default_rng(1)
    rows = []
    for _ in range(60):
        row = {}
        for name in ("beta_vae_score", "factor_vae_score", "mig"):
            quality = generator.normal()
            for level in range(4):
                wrong = noise * level * generator.normal() if level > 1 else 0.0
                row[f"{name}_{level}"] = quality + wrong
        rows.append(row)
    same = [
        {f"stability_{level}": 0.1 * number for level in range(4)}
        for number in range(6)
    ]
    assert verdict("holtz-table-3", noisy=rows, noisy_stability=same) == expected


def test_stability_that_changes_with_the_labels_contradicts_the_claim():
    generator = np.random.default_rng(0)
    noisy = [
        {
            f"{name}_{level}": generator.normal()
            for name in ("beta_vae_score", "factor_vae_score", "mig")
            for level in range(4)
        }
        for _ in range(20)
    ]
    stability = [
        {f"stability_{level}": generator.normal() for level in range(4)}
        for _ in range(6)
    ]
    found = measure("holtz-table-3", noisy=noisy, noisy_stability=stability)
    assert found.checks[-1].verdict == "does not hold"
    same = [row | dict.fromkeys(row, row["stability_0"]) for row in stability]
    found = measure("holtz-table-3", noisy=noisy, noisy_stability=same)
    assert found.checks[-1].verdict == "holds"


def test_capacity_may_go_to_positions_first_or_last():
    names = ["shape", "scale", "orientation", "position_x", "position_y"]
    known = [0.0, 0.5, 0.0, 1.0, 1.0]
    for values, expected in ((known, "holds"), (known[::-1], "does not hold")):
        noise = np.random.default_rng(0).normal(0, 0.01, (3, 2, 5))
        found = {
            "factors": names,
            "capacities": [1, 2],
            "known": (np.array(values) + noise).tolist(),
        }
        assert verdict("locatello-capacity-order", nats=found) == expected


def trained(rule):
    rows = [
        {
            "status": "done",
            "objective.beta": beta,
            "training.steps": steps,
            "network.widths": f"{steps} {steps}",
            "seed": seed,
            "score.mig": rule(beta, steps) + 0.001 * seed,
        }
        for beta in (1, 4)
        for steps in (10, 20, 40, 80)
        for seed in range(4)
    ]
    return pd.DataFrame(rows)


def test_compute_may_help_or_not():
    name = "ottlik-compute"
    assert verdict(name, trained(lambda beta, steps: beta * steps)) == "holds"
    assert verdict(name, trained(lambda beta, steps: -beta * steps)) == "does not hold"


def test_larger_encoders_may_be_better_or_worse():
    for sign, expected in ((1, "holds"), (-1, "does not hold")):
        table = trained(lambda beta, width, sign=sign: sign * width)
        untrained = [{"width": width, "score.mig": 0.0} for width in (10, 20, 40, 80)]
        found = verdict("ottlik-encoder-size", table, untrained=untrained, clip=[])
        assert found == expected


def test_encoders_of_clip_have_a_trend_per_family():
    def clip(*measured):
        names = ("RN50", "RN50x4", "ViT-B/16", "ViT-L/14")
        return [
            {
                "name": name,
                "family": "transformer" if name.startswith("V") else "convolutional",
                "n_parameters": 10**size,
                "published": 0.01 * size,
                "measured": value,
            }
            for size, (name, value) in enumerate(zip(names, measured, strict=True), 1)
        ]

    table = trained(lambda beta, width: width)
    untrained = [{"width": width, "score.mig": 0.0} for width in (10, 20, 40, 80)]

    def checks(*measured):
        found = measure(
            "ottlik-encoder-size", table, untrained=untrained, clip=clip(*measured)
        )
        return {
            check.quantity.partition(" ")[2].partition(" ")[0]: check
            for check in found.checks[1:]
        }

    both = checks(0.1, 0.3, 0.4, 0.2)
    assert both["convolutional"].value == pytest.approx(0.2)
    assert both["transformer"].value == pytest.approx(-0.2)
    assert both["transformer"].expected == "above 0; +0.010 in the source"
    assert both["convolutional"].verdict == "holds"
    assert both["transformer"].verdict == "does not hold"
    assert set(checks(None, 0.3, 0.4, 0.2)) == {"transformer"}
    assert not checks(None, 0.3, None, 0.2)


def sprites(positions, scale):
    return [
        {
            "shape": 0.0,
            "scale": scale + 0.01 * seed,
            "orientation": 0.0,
            "position_x": positions,
            "position_y": positions,
        }
        for seed in range(5)
    ]


def rooms(background, foreground):
    return [
        {
            "floor_hue": background,
            "wall_hue": background,
            "object_hue": foreground + 0.01 * seed,
            "scale": 0.0,
            "shape": 0.0,
            "orientation": 0.0,
        }
        for seed in range(5)
    ]


@pytest.mark.parametrize(
    ("positions", "scale", "expected"),
    [(0.9, 0.1, "holds"), (0.1, 0.9, "does not hold")],
)
def test_first_populations_may_learn_positions_or_not(positions, scale, expected):
    rows = sprites(positions, scale)
    # Rooms have no positions, and the source shows none.
    learned = {"dsprites": rows, "shapes3d": rooms(0.5, 0.5)}
    found = measure("estermann-figure-2", learned=learned)
    assert found.verdict == expected
    assert all(check.quantity.startswith("dsprites") for check in found.checks)
    assert "shapes3d" in found.remark


@pytest.mark.parametrize(
    ("positions", "background", "expected"),
    [
        (0.9, 0.9, "holds"),
        (0.1, 0.9, "does not hold"),
        (0.9, 0.1, "does not hold"),
    ],
)
def test_stages_may_learn_in_the_published_order_on_each_of_two_datasets(
    positions, background, expected
):
    stages = {
        "dsprites": {
            "first": sprites(positions, 0.5),
            "leaves": sprites(positions, 0.9),
        },
        "shapes3d": {"first": rooms(background, 0.5), "leaves": rooms(0.0, 0.9)},
    }
    found = measure("estermann-figure-5", stages=stages)
    assert found.verdict == expected
    assert len(found.checks) == 4


def population(data, seed, mig, *, leaf_runs=None):
    """A finished population by hand: recursive with leaf runs, supervised without."""
    evolution = SimpleNamespace(
        method="supervised" if leaf_runs is None else "recursive",
        metric="mig",
        labels=None,
        population=SimpleNamespace(generations=10),
        recursion=SimpleNamespace(leaf_runs=leaf_runs or 0),
    )
    scores = {name: {"value": mig} for name in ("mig", "dci_disentanglement")}
    return SimpleNamespace(
        spec=SimpleNamespace(
            data=data, seed=seed, evolution=evolution, objective={"name": "beta_vae"}
        ),
        files=SimpleNamespace(read_scores=lambda: {"scores": scores}),
    )


def populations(leads):
    """Recursions with a lead over the plain methods, on each dataset."""
    rule = lambda method, strength, noise: {  # noqa: E731
        "score.mig": 0.2 + 0.05 * noise,
        "score.dci_disentanglement": 0.2 + 0.05 * noise,
    }
    plain = [sweep(rule, data=data) for data in leads]
    recursive = [
        population(
            data, seed, 0.2 + lead * (1 + number) + 0.001 * seed, leaf_runs=number
        )
        for data, lead in leads.items()
        for number in (0, 1, 3)
        for seed in range(5)
    ]
    supervised = [
        population(data, seed, 0.2 + 4 * lead + 0.001 * seed)
        for data, lead in leads.items()
        for seed in range(5)
    ]
    cells = {
        "estermann-2020-fig4-plain": [],
        "estermann-2020-fig1": supervised,
        "estermann-2020-fig6": recursive,
    }
    return pd.concat(plain, ignore_index=True), cells


@pytest.mark.parametrize("name", ["estermann-figure-4", "estermann-figure-6"])
def test_recursions_are_compared_on_each_dataset_by_itself(name):
    assert verdict(name, *populations({"dsprites": 0.1, "shapes3d": 0.1})) == "holds"
    # A large lead on one dataset does not make up for a loss on the other.
    found = measure(name, *populations({"dsprites": 0.3, "shapes3d": -0.02}))
    assert found.verdict == "does not hold"
    for check in found.checks:
        if check.verdict == "does not hold":
            assert check.quantity.startswith("shapes3d")


def test_scores_of_several_datasets_are_never_pooled():
    cells = [population(data, 0, 0.1) for data in ("dsprites", "shapes3d")]
    with pytest.raises(ValueError, match="one dataset, got runs on dsprites and"):
        scores_of(cells, "mig")
    for cell in cells:
        cell.spec.objective["beta"] = 1
        cell.spec.training = SimpleNamespace(n_latents=4)
    with pytest.raises(ValueError, match="one dataset at a time"):
        by_configuration(cells)
