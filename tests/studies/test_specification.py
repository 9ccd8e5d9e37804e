import pytest

from unbraid.data import XYSquares
from unbraid.models import Decay, Gaussian
from unbraid.studies import RunSpec

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"


def read(**parts):
    return RunSpec.read({"data": DATA, **parts}, "run")


def test_two_ways_to_say_the_same_have_the_same_id():
    ways = [
        read(),
        read(objective="beta_vae", network="auto", seed=0, traces=False),
        read(objective={"name": "beta_vae", "beta": 4}, training={"steps": 10_000}),
        read(objective={"beta": 4.0, "name": "beta_vae"}),
    ]
    assert len({spec.id("data") for spec in ways}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"objective": {"name": "beta_vae", "beta": 4.5}},
        {"objective": "vae"},
        {"network": "dense"},
        {"likelihood": "gaussian"},
        {"training": {"steps": 9_999}},
        {"evaluation": {"rows": 9_999}},
        {"traces": True},
        {"seed": 1},
    ],
)
def test_every_setting_changes_the_id(change):
    assert read(**change).id("data") != read().id("data")


def test_other_data_under_the_same_name_are_another_run():
    assert read().id("data") != read().id("other data")


def test_plain_data_give_the_same_run_again():
    schedule = {"name": "linear", "start": 0.0, "end": 4.0}
    spec = read(objective={"name": "beta_vae", "beta": schedule}, traces=True)
    assert RunSpec.read(spec.to_plain(), "again") == spec


def test_settings_reach_the_training():
    dataset = XYSquares(image_size=8, square_size=1, n_squares=1)
    training = {
        "steps": 7,
        "n_latents": 2,
        "optimizer": "SGD",
        "optimizer_options": {"momentum": 0.5},
        "learning_rate": 1,
        "standardize": True,
        "order": "shuffled",
    }
    spec = read(training=training, seed=3).training_spec(dataset)
    assert (spec.steps, spec.n_latents, spec.seed, spec.order) == (7, 2, 3, "shuffled")
    assert (spec.optimizer, spec.optimizer_options) == ("SGD", (("momentum", 0.5),))
    assert isinstance(spec.likelihood, Gaussian)
    assert len(spec.mean) == len(spec.std) == 3


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"objectve": "vae"}, "Did you mean 'objective'"),
        ({"training": {"step": 3}}, "'training.step'. Did you mean 'steps'"),
        ({"traces": {"layr": "0"}}, "Did you mean 'layer'"),
        ({"training": {"steps": 0}}, "training.steps"),
        ({"training": {"steps": "many"}}, "'many'"),
        ({"training": {"steps": True}}, "training.steps"),
        ({"training": {"learning_rate": float("nan")}}, "learning_rate"),
        ({"objective": {"name": "beta_vae", "bta": 1}}, "Did you mean 'beta'"),
        ({"objective": {"name": "beta_vae", "beta": -1}}, "at least 0, got -1"),
        ({"objective": "beta_va"}, "Did you mean 'beta_vae'"),
        ({"objective": {"beta": 4}}, "is neither a name nor a name with options"),
        ({"objective": "dense"}, "name must be one of"),
        ({"network": {"name": "auto", "widths": [3]}}, "'auto' takes no options"),
        ({"likelihood": 3}, "is neither a name nor a name with options"),
        ({"evaluation": {"metrics": "migg"}}, "Did you mean 'mig'"),
        ({"evaluation": {"metrics": []}}, "at least one metric"),
        ({"seed": -1}, "seed"),
        ({"data": ""}, "data"),
        ({"data": 3}, "data"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(parts, said):
    with pytest.raises(ValueError, match="^run: ") as caught:
        read(**parts)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_learning_rate_may_be_a_schedule():
    spec = read(training={"learning_rate": {"name": "decay", "value": 1e-3}})
    dataset = XYSquares(image_size=8, square_size=1, n_squares=1)
    rate = spec.training_spec(dataset).learning_rate
    assert rate == Decay(value=1e-3, steps=10_000)
    again = {"name": "decay", "value": 1e-3, "share": 0.3}
    assert read(training={"learning_rate": again}).id("f") == spec.id("f")
    assert RunSpec.read(spec.to_plain(), "again") == spec
    with pytest.raises(ValueError, match="'decay'"):
        read(training={"learning_rate": {"name": "decai", "value": 1e-3}})
