"""Tables made by hand that support a claim, and tables that contradict it."""

import numpy as np
import pandas as pd
import pytest

from unbraid.reproductions import REPRODUCTIONS

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

    def __init__(self, table=None, **kept):
        self._table, self._kept = table, kept

    def at(self, *, smoke, mini, paper):
        return smoke

    def table(self, name):
        return self._table

    def kept(self, name, compute):
        return self._kept[name]


def verdict(name, *arguments, **kept):
    return REPRODUCTIONS[name].measure(Hand(*arguments, **kept)).verdict


def sweep(score):
    """Runs of two methods, five strengths and eight seeds, with scores by a rule."""
    generator = np.random.default_rng(0)
    rows = []
    for method in ("beta_vae", "beta_tc_vae"):
        for strength in range(1, 6):
            for seed in range(8):
                row = {
                    "status": "done",
                    "data": "somewhere",
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


def test_a_loss_term_may_be_useless_or_reliable():
    generator = np.random.default_rng(1)
    terms = (
        "final.elbo",
        "final.reconstruction",
        "final.kl",
        "score.gaussian_total_correlation",
        "score.gaussian_wasserstein",
    )

    def rule(known):
        def scores(method, strength, quality):
            values = known * quality + generator.normal(size=len(terms))
            return {f"score.{name}": quality for name in METRICS} | dict(
                zip(terms, values, strict=True)
            )

        return scores

    assert verdict("locatello-selection", sweep(rule(0.0))) == "holds"
    assert verdict("locatello-selection", sweep(rule(20.0))) == "does not hold"


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
    assert verdict("holtz-table-3", noisy=rows) == expected


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
        found = verdict("ottlik-encoder-size", table, untrained=untrained, published=[])
        assert found == expected


@pytest.mark.parametrize(
    ("positions", "scale", "expected"),
    [(0.9, 0.1, "holds"), (0.1, 0.9, "does not hold")],
)
def test_first_populations_may_learn_positions_or_not(positions, scale, expected):
    rows = [
        {
            "shape": 0.0,
            "scale": scale + 0.01 * seed,
            "orientation": 0.0,
            "position_x": positions,
            "position_y": positions,
        }
        for seed in range(5)
    ]
    assert verdict("estermann-figure-2", learned=rows) == expected
    leaves = [row | {"scale": 0.9 - row["shape"]} for row in rows]
    found = verdict("estermann-figure-5", stages={"first": rows, "leaves": leaves})
    assert found == expected
