"""Models that only encode: nothing is built, trained, saved or drawn of a decoder."""

import json

import numpy as np
import pytest
import torch
from companions import batch_of, context, tiny_model
from miniature_study import MINIATURE
from whole_command import run_whole

import unbraid
from unbraid.data import XYSquares
from unbraid.execution import InlineExecutor
from unbraid.models import Gaussian, build_model
from unbraid.models.networks import Dense
from unbraid.models.objectives import TAE, TVAE, AdaTAE, AdaTVAE, BetaVAE
from unbraid.perception import distance_matrices
from unbraid.reports import write_explorer, write_report
from unbraid.studies import run_study, study_from_plain, study_table
from unbraid.testing import check_objective
from unbraid.training import fit

KINDS = [TVAE, TAE, AdaTVAE, AdaTAE]
SMALL = {"n_latents": 3, "batch_size": 8, "network": "dense", "progress": False}
NO_DECODER = "The model has no decoder"


def squares():
    return XYSquares(image_size=8, square_size=2, n_squares=1, rgb=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder") / "run"
    fit(TVAE(decoder=False), squares(), steps=20, out=path, **SMALL)
    return path


def encoder_only(is_variational):
    return build_model(
        Dense(widths=(7,)),
        image_shape=(5,),
        n_latents=3,
        likelihood=Gaussian(),
        seed=0,
        is_variational=is_variational,
        has_decoder=False,
    ).double()


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_that_without_the_reconstruction(kind):
    with_decoder = tiny_model(is_variational=kind.is_variational)
    batch = batch_of(3)
    objective = kind(alpha=2.0, scale="sum").over(10)
    whole = objective.loss(with_decoder, batch, context())
    alone = kind(alpha=2.0, scale="sum", decoder=False).over(10)
    # The encoder is drawn first, so that it is the same with and without a decoder.
    loss = alone.loss(encoder_only(kind.is_variational), batch, context())
    expected = whole.total - whole.terms["reconstruction"]
    assert loss.total.item() == pytest.approx(expected.item())
    assert loss.terms.keys() == whole.terms.keys() - {"reconstruction"}


def test_the_divergence_is_averaged_over_latents_in_that_scale():
    loss = TVAE(decoder=False, beta=0.3).loss(
        encoder_only(True), batch_of(3), context()
    )
    terms = loss.terms
    expected = 0.3 * terms["kl"] / 3 + terms["triplet"]
    assert loss.total.item() == pytest.approx(expected.item())
    assert loss.kl_per_latent.sum().item() == pytest.approx(terms["kl"].item())


# Not TAE: its triplet loss does not depend on the bias of the last layer.
@pytest.mark.parametrize("kind", [TVAE, AdaTVAE])
@pytest.mark.parametrize("triplets", ["scaled", "perceived"])
def test_every_objective_without_decoder_conforms(kind, triplets):
    check_objective(kind(decoder=False, triplets=triplets))


def test_no_decoder_is_built_trained_or_saved(folder):
    with_decoder = fit(TVAE(), squares(), steps=1, **SMALL).model
    run = unbraid.Run.load(folder)
    for model in (run.model, unbraid.load(folder)):
        names = [name for name, _ in model.named_parameters()]
        assert not [name for name in names if "decoder" in name]
        assert not model.has_decoder
    assert with_decoder.has_decoder
    n_encoder = sum(part.numel() for part in with_decoder.encoder.parameters())
    assert sum(part.numel() for part in run.model.parameters()) == n_encoder
    assert "reconstruction" not in run.history[-1]
    assert json.loads((folder / "model.json").read_text())["has_decoder"] is False


def test_codes_are_the_same_after_loading_and_can_be_scored(folder):
    data = squares()
    codes = unbraid.encode(unbraid.load(folder), data, progress=False)
    again = fit(TVAE(decoder=False), data, steps=20, **SMALL).model
    expected = unbraid.encode(again, data, progress=False)
    np.testing.assert_array_equal(codes.codes, expected.codes)
    card = unbraid.evaluate(codes.codes, codes.factors, metrics=["mig"], progress=False)
    assert 0 <= float(card["mig"]) <= 1


def test_decoding_sampling_and_reconstructing_say_that_there_is_no_decoder(folder):
    model = unbraid.load(folder)
    images = torch.zeros(2, *model.image_shape)
    for call in (
        lambda: model.decode(torch.zeros(2, 3)),
        lambda: model.sample(2, generator=torch.Generator()),
        lambda: model(images),
        lambda: model.reconstruction_loss(images, torch.zeros(2, 3)),
        lambda: BetaVAE().loss(model, batch_like(model), context()),
    ):
        with pytest.raises(ValueError, match=NO_DECODER):
            call()


def batch_like(model):
    batch = batch_of(1)
    return type(batch)(images=torch.zeros(2, *model.image_shape))


def test_traces_of_a_missing_decoder_are_refused():
    with pytest.raises(ValueError, match=f"Traces are .* {NO_DECODER}"):
        fit(TVAE(decoder=False), squares(), steps=10, traces=True, **SMALL)


def test_the_explorer_refuses_and_the_report_says_so(folder, tmp_path):
    data = squares()
    with pytest.raises(ValueError, match=f"The explorer shows .* {NO_DECODER}"):
        write_explorer(unbraid.load(folder), data, tmp_path / "explorer.html")
    assert not (tmp_path / "explorer.html").exists()
    page = write_report(folder, data=data).read_text(encoding="utf-8")
    assert page.count(NO_DECODER) == 1
    assert "Which latent encodes which factor" in page
    assert "Reconstructions" not in page
    assert "Samples from the prior" not in page
    levels = distance_matrices(data, unbraid.load(folder)).levels
    assert levels == ("factor", "data", "latent", "divergence")


def test_a_study_compares_encoders_without_a_reconstruction(tmp_path):
    study = study_from_plain(
        MINIATURE
        | {"methods": {"tvae": {"decoder": [True, False]}, "tae": {"decoder": False}}}
    )
    run_study(study, tmp_path, executor=InlineExecutor())
    table = study_table(tmp_path)
    assert (table["status"] == "done").all(), table["error"].tolist()
    is_measured = table["final.reconstruction"].notna()
    assert is_measured.tolist() == table["objective.decoder"].tolist()
    assert sorted(is_measured) == [False, False, True]
    assert table["score.mig"].notna().all()


def test_the_command_trains_an_encoder_and_its_explorer_is_an_error(tmp_path):
    data = "xy_squares:image_size=8,square_size=1,n_squares=1"
    trained = run_whole(
        *("train", data, "--objective", "tvae", "--set", "decoder=false"),
        *("--set", "triplets=category", "--set", "category=x_R", "--set", "p=1.5"),
        *("--steps", 5, "--latents", 2, "--batch-size", 8, "--device", "cpu"),
        *("--out", tmp_path / "run"),
    )
    assert trained.returncode == 0, trained.stderr
    objective = unbraid.Run.load(tmp_path / "run").spec.objective
    assert (objective.decoder, objective.category, objective.p) == (False, "x_R", 1.5)
    explored = run_whole(
        *("explore", tmp_path / "run", "--data", data, "-o", tmp_path / "page.html")
    )
    assert explored.returncode == 1
    assert NO_DECODER in explored.stderr
