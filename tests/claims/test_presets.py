"""Presets of published sweeps: their size, and that every cell can be run."""

import contextlib
import dataclasses
import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from unbraid.data import PUBLISHED, RENDERED, open_dataset
from unbraid.foundation import DatasetNotFoundError, from_plain
from unbraid.metrics import choose_metrics
from unbraid.models import RECORDS, choose_likelihood
from unbraid.models.networks import AbstractNetwork, choose_network
from unbraid.models.objectives import AbstractObjective, AdaTVAE
from unbraid.studies import PRESETS, preset, study_from_plain
from unbraid.training import TraceSettings, fit

EVERY = [(name, scale) for name in PRESETS for scale in ("mini", "small", "paper")]

PAPER_RUNS = {
    "burgess-2018": 1,
    "dlib-2019": 6 * 6 * 50 * 7,
    "estermann-2020-fig1": 5 * 5,
    "estermann-2020-fig1-plain": 6 * 5,
    "estermann-2020-fig13": 1,
    "estermann-2020-fig2": 5,
    "estermann-2020-fig4": 2 * 2 * 5,
    "estermann-2020-fig4-plain": 6 * 6 * 50 * 2,
    "estermann-2020-fig5": 2,
    "estermann-2020-fig6": 4 * 2 * 5,
    "higgins-2017-celeba": 2,
    "holtz-2022": 5 * 5 * 25,
    "michlo-2022-a3-1": 160,
    "michlo-2022-a3-2": 160,
    "michlo-2022-a3-3": 40,
    "michlo-2022-a4": 180,
    "michlo-2022-a5-1": 320,
    "michlo-2022-a5-2": 100,
    "michlo-2022-a5-3": 20,
    # 240 in the table, of which a quarter needs a kernel that must be learned first.
    "michlo-2022-a6": 180,
    "michlo-2022-a7-1": 48,
    "michlo-2022-a7-2": 60,
}

MINI_RUNS = {
    "burgess-2018": 1,
    "dlib-2019": 180,
    "estermann-2020-fig1": 25,
    "estermann-2020-fig1-plain": 15,
    "estermann-2020-fig13": 1,
    "estermann-2020-fig2": 5,
    "estermann-2020-fig4": 10,
    "estermann-2020-fig4-plain": 180,
    "estermann-2020-fig5": 1,
    "estermann-2020-fig6": 20,
    "higgins-2017-celeba": 2,
    "holtz-2022": 125,
    "michlo-2022-a3-1": 120,
    "michlo-2022-a3-2": 80,
    "michlo-2022-a3-3": 40,
    "michlo-2022-a4": 150,
    "michlo-2022-a5-1": 80,
    "michlo-2022-a5-2": 100,
    "michlo-2022-a5-3": 30,
    "michlo-2022-a6": 90,
    "michlo-2022-a7-1": 80,
    "michlo-2022-a7-2": 60,
}


ONE_SEED = {
    "burgess-2018",
    "estermann-2020-fig5",
    "estermann-2020-fig13",
    "higgins-2017-celeba",
}


def swept(study: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Settings of every cell by path, without seeds."""
    methods = [
        {"objective": {"name": name, **dict(zip(options, values, strict=True))}}
        for name, options in study.get("methods", {}).items()
        for values in itertools.product(
            *(
                value if isinstance(value, list) else [value]
                for value in options.values()
            )
        )
    ] or [{"objective": study.get("objective")}]
    axes = [
        [{path: value} for value in values]
        for path, values in study.get("grid", {}).items()
    ]
    for group in study.get("zip", []):
        steps = zip(*group.values(), strict=True)
        axes.append([dict(zip(group, values, strict=True)) for values in steps])
    for parts in itertools.product(methods, *axes):
        yield {key: value for part in parts for key, value in part.items()}


def n_runs(study: dict[str, Any]) -> int:
    return sum(1 for _ in swept(study)) * study["seeds"]


def objective_of(cell: dict[str, Any]) -> AbstractObjective:
    plain = cell["objective"]
    plain = {"name": plain} if isinstance(plain, str) else dict(plain)
    for path, value in cell.items():
        if path.startswith("objective."):
            plain[path.removeprefix("objective.")] = value
    return from_plain(plain, RECORDS)


def likelihood_of(study: dict[str, Any], cell: dict[str, Any]) -> Any:
    plain = cell.get("likelihood", study["likelihood"])
    return choose_likelihood(
        plain if isinstance(plain, str) else from_plain(plain, RECORDS)
    )


def network_of(study: dict[str, Any], image_shape: tuple[int, ...]) -> AbstractNetwork:
    plain = study["network"]
    if not isinstance(plain, str):
        plain = from_plain(plain, RECORDS)
    return choose_network(plain, image_shape)


def data_of(study: dict[str, Any]) -> list[str]:
    cells = (cell.get("data", study.get("data")) for cell in swept(study))
    return list(dict.fromkeys(cells))


@pytest.mark.parametrize("name", PRESETS)
def test_the_paper_scale_has_as_many_runs_as_published(name: str) -> None:
    assert n_runs(preset(name, "paper")) == PAPER_RUNS[name]


@pytest.mark.parametrize("name", PRESETS)
def test_the_mini_scale_fits_on_a_laptop(name: str) -> None:
    study = preset(name)
    assert n_runs(study) == MINI_RUNS[name]
    assert study["seeds"] == (1 if name in ONE_SEED else 5)


@pytest.mark.parametrize(("name", "scale"), EVERY)
def test_a_preset_has_the_keys_of_a_study_file(name: str, scale: str) -> None:
    study = preset(name, scale)
    known = {"name", "data", "network", "likelihood", "objective", "training"}
    known |= {"evaluation", "traces", "methods", "grid", "zip", "seeds"}
    known |= {"evolution"}
    assert set(study) <= known
    assert ("objective" in study) != ("methods" in study)
    assert study["name"] == f"{name}-{scale}"
    training = {"steps", "batch_size", "n_latents", "learning_rate", "optimizer"}
    assert set(study["training"]) <= training | {"order", "standardize"}
    assert set(study["evaluation"]) == {"metrics", "rows"}
    wanted = study["evaluation"]["metrics"]
    assert choose_metrics(wanted, have_factors=True) == wanted
    if "traces" in study:
        TraceSettings(**study["traces"])
    assert json.loads(json.dumps(study, allow_nan=False)) == study


@pytest.mark.parametrize(("name", "scale"), EVERY)
def test_every_objective_and_likelihood_can_be_made(name: str, scale: str) -> None:
    study = preset(name, scale)
    steps = study["training"].get("steps", 10_000)
    made = {repr(objective_of(cell).over(steps)) for cell in swept(study)}
    settings = {
        json.dumps(
            {k: v for k, v in cell.items() if k.startswith("objective")}, sort_keys=True
        )
        for cell in swept(study)
    }
    assert len(made) == len(settings)
    for cell in swept(study):
        likelihood_of(study, cell)


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        case
        for case in EVERY
        if case[0].startswith("estermann") and "plain" not in case[0]
    ],
)
def test_every_population_can_be_bred(name: str, scale: str) -> None:
    for spec in study_from_plain(preset(name, scale)).runs():
        if spec.evolution is None:
            assert name.endswith("plain")
            continue
        fields = {field.name for field in dataclasses.fields(objective_of(vars(spec)))}
        for path in spec.evolution.population.ranges:
            assert path.startswith("training.") or path.split(".")[1] in fields


@pytest.mark.parametrize(
    ("name", "scale"), [(name, scale) for name, scale in EVERY if scale != "paper"]
)
def test_every_rendered_dataset_opens_and_fits_the_network(
    name: str, scale: str
) -> None:
    study = preset(name, scale)
    for text in data_of(study):
        dataset = open_dataset(text)
        assert dataset.factors([0]).shape[1] > 1
        assert dataset.images([0, len(dataset) - 1]).shape[1:] == dataset.image_shape
        side = dataset.image_shape[1]
        assert side == 64 if scale == "small" else side <= 16
        network_of(study, dataset.image_shape).encoder(dataset.image_shape, 4)
        if name.startswith("michlo"):
            assert len(dataset) <= study["evaluation"]["rows"]


@pytest.mark.parametrize("name", PRESETS)
def test_every_published_dataset_is_known(name: str) -> None:
    for text in data_of(preset(name, "paper")):
        first = text.partition(":")[0]
        assert first in RENDERED or first in PUBLISHED
        # Known, even if its file is not here.
        with contextlib.suppress(DatasetNotFoundError):
            open_dataset(text)


def test_the_large_study_has_the_published_data_and_strengths() -> None:
    study = preset("dlib-2019", "paper")
    assert len(data_of(study)) == 7
    capacities = study["methods"]["annealed_vae"]["capacity"]
    assert [part["end"] for part in capacities] == [5, 10, 25, 50, 75, 100]
    annealed = from_plain(
        {"name": "annealed_vae", "capacity": capacities[2], "gamma": 1000}, RECORDS
    ).over(study["training"]["steps"])
    assert annealed.capacity.at(50_000) == pytest.approx(12.5)
    assert annealed.capacity.at(100_000) == annealed.capacity.at(300_000) == 25.0
    assert study["training"]["batch_size"] == 64


def test_schedules_of_the_adaptive_sweep_are_those_of_the_library() -> None:
    names = "threshold", "weight_weak", "weight_strong", "both_weak", "both_strong"
    expected = map(AdaTVAE.scheduled, names)
    found = map(objective_of, swept(preset("michlo-2022-a5-2", "paper")))
    assert {(made.omega, made.eta) for made in found} == {
        (made.omega, made.eta) for made in expected
    }


@pytest.mark.parametrize("name", PRESETS)
def test_a_cell_of_every_method_trains_at_the_mini_scale(name: str) -> None:
    study = preset(name)
    cells = {str(objective_of(cell).__class__): cell for cell in swept(study)}
    for cell in cells.values():
        dataset = open_dataset(cell.get("data") or study["data"])
        options = {
            "n_latents": 10,
            **study["training"],
            "steps": 2,
            **{
                path.removeprefix("training."): value
                for path, value in cell.items()
                if path.startswith("training.")
            },
        }
        run = fit(
            objective_of(cell),
            dataset,
            network=network_of(study, dataset.image_shape),
            likelihood=likelihood_of(study, cell),
            # The presets ask for more snapshots than two steps have.
            traces=TraceSettings(**study["traces"] | {"n_snapshots": 3})
            if "traces" in study
            else False,
            progress=False,
            **options,
        )
        assert math.isfinite(run.history[-1]["total"])


def test_a_preset_may_be_changed_without_changing_the_next() -> None:
    study = preset("michlo-2022-a5-2")
    study["zip"][0]["objective.omega"][1]["start"] = 7.0
    assert study["zip"][0]["objective.omega"][3]["start"] == 1.0
    assert preset("michlo-2022-a5-2") != study


def test_unknown_names_and_scales_get_the_nearest() -> None:
    with pytest.raises(ValueError, match="got 'dlib-2018'. Did you mean 'dlib-2019'"):
        preset("dlib-2018")
    with pytest.raises(ValueError, match="Did you mean 'michlo-2022-a3-1'"):
        preset("michlo-2022-a3")
    with pytest.raises(ValueError, match="among mini, small, paper, got 'smal'. Did"):
        preset("dlib-2019", "smal")
