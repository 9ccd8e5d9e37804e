import pytest

from unbraid.foundation import NewerFormatError
from unbraid.studies import read_study, study_from_plain

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"


def runs(**parts):
    return study_from_plain({"data": DATA, **parts}).runs()


def test_a_study_without_a_sweep_is_one_run():
    assert len(runs()) == 1


def test_methods_sweep_their_lists_and_keep_their_numbers():
    methods = {
        "beta_vae": {"beta": [1, 2]},
        "dip_vae": {"lambda_diagonal": 5.0},
        "vae": None,
    }
    found = [spec.objective for spec in runs(methods=methods)]
    assert [objective["name"] for objective in found] == [
        "beta_vae",
        "beta_vae",
        "dip_vae",
        "vae",
    ]
    assert [objective.get("beta") for objective in found[:2]] == [1, 2]
    assert found[2]["lambda_diagonal"] == 5.0


def test_a_grid_has_every_combination_and_zipped_lists_go_in_step():
    found = runs(
        grid={"training.n_latents": [2, 3], "objective.beta": [1, 4]},
        zip=[{"training.steps": [10, 20], "training.batch_size": [8, 16]}],
        seeds=[7, 9],
    )
    cells = {
        (
            spec.training.n_latents,
            spec.objective["beta"],
            spec.training.steps,
            spec.training.batch_size,
            spec.seed,
        )
        for spec in found
    }
    expected = {
        (n_latents, beta, *pair, seed)
        for n_latents in (2, 3)
        for beta in (1, 4)
        for pair in ((10, 8), (20, 16))
        for seed in (7, 9)
    }
    assert cells == expected
    assert len(found) == 16


def test_a_path_into_a_record_that_was_a_bare_name_keeps_the_name():
    found = runs(network="dense", grid={"network.widths": [[4], [8, 8]]})
    assert [spec.network.widths for spec in found] == [(4,), (8, 8)]


def test_the_same_run_twice_is_one_run():
    assert len(runs(grid={"objective.beta": [4, 4.0, 5]})) == 2


def test_former_and_present_names_of_settings_mean_the_same():
    def options(training, axis):
        plain = {"data": "xy_squares", "training": training, "grid": {axis: [0.1]}}
        (run,) = study_from_plain(plain).runs()
        return run.training.optimizer_options

    former = {"optimiser": "SGD", "optimiser_options": {"weight_decay": 0.5}}
    present = {"optimizer": "SGD", "optimizer_options": {"weight_decay": 0.5}}
    expected = {"weight_decay": 0.5, "momentum": 0.1}
    for training in (former, present):
        for name in ("optimiser_options", "optimizer_options"):
            assert options(training, f"training.{name}.momentum") == expected
    both = {"training.optimiser": ["SGD"], "training.optimizer": ["Adam"]}
    with pytest.raises(ValueError, match="are the same setting"):
        study_from_plain({"data": "xy_squares", "grid": both})
    with pytest.raises(ValueError, match="are the same setting"):
        study_from_plain({"data": "xy_squares", "training": former | present})


def test_what_is_written_is_the_same_study(tmp_path):
    from unbraid.foundation import write_yaml

    study = study_from_plain(
        {"data": DATA, "methods": {"beta_vae": {"beta": [1e-3, 2]}}, "seeds": 2}, "x"
    )
    path = tmp_path / "study.yaml"
    path.write_text(write_yaml(study.to_plain()))
    assert read_study(path) == study
    assert read_study(path).runs() == study.runs()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("data: xy_squares\nsedes: 3", "Did you mean 'seeds'"),
        ("data: xy_squares\nmethod: {vae: }", "Did you mean 'methods'"),
        ("data: [", "line 1"),
        ("- data", "must have keys and values"),
        ("", "must have keys and values"),
        ("data: a\ndata: b", "occurs twice"),
        ("data: xy_squares\nseeds: 0", "seeds"),
        ("data: xy_squares\nseeds: [1.5]", "seed"),
        ("data: xy_squares\ngrid: {training.steps: []}", "at least 1"),
        ("data: xy_squares\nmethods: {beta_vae: {beta: []}}", "empty"),
        ("data: xy_squares\ngrid: {training.step: [1]}", "Did you mean 'steps'"),
        ("data: xy_squares\nzip: [{training.steps: [1], seed: [1, 2]}]", "same length"),
        ("data: xy_squares\nobjective: vae\nmethods: {vae: }", "not both"),
        ("data: xy_squares\nscale: mini", "needs a preset"),
        ("preset: dlib-2091", "dlib-2019"),
        ("preset: dlib-2019\nscale: huge", "mini"),
        ("data: xy_squares\nformat: one", "format must be 1"),
        ("data: xy_squares\nseeds: 2000000", "at most 100,000"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_sentence(tmp_path, text, said):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        read_study(path).runs()
    assert "\n" not in str(caught.value)


def test_a_file_of_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("data: xy_squares\nformat: 2")
    with pytest.raises(NewerFormatError, match="Update unbraid"):
        read_study(path)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_bytes(b"\xff\xfe\x00data")
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_study(path)


def test_a_preset_is_overridden_by_what_stands_beside_it():
    whole = study_from_plain({"preset": "dlib-2019"})
    study = study_from_plain(
        {"preset": "dlib-2019", "training": {"steps": 5}, "seeds": 1}
    )
    assert len(study.runs()) == 36
    assert all(spec.training.steps == 5 for spec in study.runs())
    batch = study.runs()[0].training.batch_size
    assert batch == whole.runs()[0].training.batch_size
    one = study_from_plain({"preset": "dlib-2019", "objective": "vae", "seeds": 1})
    assert [spec.objective["name"] for spec in one.runs()] == ["vae"]
