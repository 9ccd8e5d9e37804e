"""Scores of a finished run: metrics of its codes, and how well it fits the data."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import numpy_generator, torch_generator
from unbraid.metrics import (
    Score,
    encode_some,
    encode_traversals,
    evaluate,
    gaussian_total_correlation,
    gaussian_wasserstein_correlation,
    resolve_metrics,
)
from unbraid.models import Autoencoder, DiagonalGaussian
from unbraid.representation import Representation
from unbraid.training import ACTIVE

from ._specification import Evaluation

_BATCH = 256
# Images on which the fit is measured, at the most: enough for three digits.
_FIT_ROWS = 2_048


def score_run(
    model: Autoencoder, dataset: AbstractDataset, evaluation: Evaluation
) -> dict[str, Any]:
    """Return the scores of a model as plain data, equal whenever they are computed.

    The scores are those of :func:`unbraid.evaluate` with the same model, dataset,
    metrics, rows and seed. Metrics look at the means of the codes. Of a variational
    model, total correlation and Wasserstein correlation are also measured on samples,
    as ``sampled_gaussian_total_correlation`` and ``sampled_gaussian_wasserstein``. The
    fit (``reconstruction``, ``kl``, ``elbo`` in nats per image, and
    ``active_latents``) is that of the trained model on rows of the dataset.

    Args:
        model: Trained model.
        dataset: Data that it was trained on.
        evaluation: Metrics, number of rows, and seed.
    """
    seed = evaluation.seed
    codes = encode_some(model, dataset, evaluation.rows, seed, progress=False)
    have_factors = codes.factors is not None
    metrics = resolve_metrics(evaluation.metrics, have_factors=have_factors).values()
    traversals = None
    if any(metric.rows == "traversals" for metric in metrics):
        traversals = encode_traversals(
            model, dataset, seed, known=codes, progress=False
        )
    card = evaluate(
        codes,
        metrics=evaluation.metrics,
        traversals=traversals,
        observations=dataset,
        seed=seed,
        intervals=False,
        levels=False,
        n_jobs=1,
        progress=False,
    )
    sampled, failures = _sampled_scores(codes, seed)
    rows = _choose_rows(dataset, evaluation)[:_FIT_ROWS]
    return {
        "scores": {score.name: _plain(score) for score in (*card.values(), *sampled)},
        "failures": {**card.failures, **failures},
        "fit": measure_fit(model, dataset, rows, seed=seed),
    }


def measure_fit(
    model: Autoencoder, dataset: AbstractDataset, rows: NDArray[np.int64], *, seed: int
) -> dict[str, float]:
    """Measure how well a model explains rows of a dataset, in nats per image.

    Without a decoder, there is neither ``reconstruction`` nor ``elbo``.
    """
    generator = torch_generator(seed, "fit")
    device = next(model.parameters()).device
    losses, divergences = [], []
    with torch.no_grad():
        for start in range(0, len(rows), _BATCH):
            images = float_images(dataset, rows[start : start + _BATCH]).to(device)
            posterior = model.encode(images)
            # Drawn on the CPU, so that every device sees the same noise.
            codes = posterior.mean
            if isinstance(posterior, DiagonalGaussian):
                noise = torch.empty(codes.shape).normal_(generator=generator)
                codes = codes + posterior.variance.sqrt() * noise.to(device)
                divergences.append(posterior.kl_to_prior().double().cpu())
            if model.has_decoder:
                losses.append(model.reconstruction_loss(images, codes).double().cpu())
    fit: dict[str, float] = {}
    if losses:
        fit["reconstruction"] = float(torch.cat(losses).mean())
    if divergences:
        per_latent = torch.cat(divergences).mean(dim=0)
        fit["kl"] = float(per_latent.sum())
        if losses:
            fit["elbo"] = -fit["reconstruction"] - fit["kl"]
        fit["active_latents"] = int((per_latent > ACTIVE).sum())
    return fit


def _choose_rows(dataset: AbstractDataset, evaluation: Evaluation) -> NDArray[np.int64]:
    if len(dataset) <= evaluation.rows:
        return np.arange(len(dataset))
    generator = numpy_generator(evaluation.seed, "evaluated rows")
    return generator.choice(len(dataset), evaluation.rows, replace=False)


def _sampled_scores(
    codes: Representation, seed: int
) -> tuple[list[Score], dict[str, str]]:
    """Scores of codes drawn from the posteriors, and reasons for those without one."""
    if codes.log_variances is None or len(codes.codes) < 2:
        return [], {}
    noise = numpy_generator(seed, "sampled codes").standard_normal(codes.codes.shape)
    sampled = codes.codes + np.exp(0.5 * codes.log_variances) * noise
    scores, failures = [], {}
    for name, metric in (
        ("sampled_gaussian_total_correlation", gaussian_total_correlation),
        ("sampled_gaussian_wasserstein", gaussian_wasserstein_correlation),
    ):
        try:
            scores.append(metric(sampled).replace(name=name, variant="samples"))
        except ValueError as error:
            failures[name] = str(error)
    return scores, failures


def _plain(score: Score) -> dict[str, Any]:
    facts: dict[str, Any] = {"value": _number(score), "variant": score.variant}
    if score.per_factor:
        facts["per_factor"] = {
            name: _number(value) for name, value in score.per_factor.items()
        }
    if score.details:
        facts["details"] = {
            name: _number(value) for name, value in score.details.items()
        }
    if score.factors_used:
        facts["factors_used"] = list(score.factors_used)
    if score.note:
        facts["note"] = score.note
    return facts


def _number(value: float) -> float | None:
    """Return a value that JSON can hold: ``None`` for infinity and NaN."""
    return float(value) if np.isfinite(value) else None
