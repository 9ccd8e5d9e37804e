"""Log-density of codes under the aggregate posterior, estimated from a batch."""

import math
from typing import Any, cast

import torch
from torch.autograd.function import once_differentiable

from unbraid.models._posterior import DiagonalGaussian


def mean_log_densities(
    posterior: DiagonalGaussian, codes: torch.Tensor, log_weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    r"""Mean log-densities of codes under their own and under the aggregate posterior.

    .. math::
        \frac{1}{n} \sum_i \log \prod_j q(z_{ij} \mid x_i), \quad
        \frac{1}{n} \sum_i \log \sum_k w_{ik} \prod_j q(z_{ij} \mid x_k), \quad
        \frac{1}{n} \sum_i \log \prod_j \sum_k w_{ik} \, q(z_{ij} \mid x_k)

    Args:
        posterior: Posteriors of the batch, ``(batch, n_latents)``.
        codes: Codes :math:`z`, of the same shape.
        log_weights: Log-weights :math:`\log w`, broadcast to ``(batch, batch)``: the
            weight of the posterior in a column for the code in a row.

    Returns:
        The conditional density, the joint density of all latents, and the product of
        the densities of single latents, three scalars. They can be differentiated
        once, in the codes and in both parts of the posterior.
    """
    conditional, joint, single = cast(
        "tuple[torch.Tensor, ...]",
        _MeanLogDensities.apply(
            codes, posterior.mean, posterior.log_variance, log_weights
        ),
    )
    return conditional, joint, single


class _MeanLogDensities(torch.autograd.Function):
    """Forward and backward pass, written by hand for speed.

    The densities of all codes under all posteriors are ``n_latents * batch**2``
    numbers, which take much of a training step if the network is small. Autograd would
    create about ten tensors of this size; here there are four, reduced over contiguous
    memory.
    """

    @staticmethod
    def forward(
        ctx: Any,
        codes: torch.Tensor,
        mean: torch.Tensor,
        log_variance: torch.Tensor,
        log_weights: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        # (n_latents, code, posterior), so that sums over posteriors are contiguous.
        code = codes.T.contiguous()[:, :, None]
        mean, log_variance = (
            each.T.contiguous()[:, None] for each in (mean, log_variance)
        )
        precision_root = (-0.5 * log_variance).exp()
        deviations = (code - mean).mul_(precision_root)
        constant = -0.5 * (log_variance + math.log(2 * math.pi))
        single = torch.addcmul(constant, deviations, deviations, value=-0.5)
        own_sum = single.diagonal(dim1=1, dim2=2).sum()
        joint = single.sum(dim=0).add_(log_weights)
        single += log_weights
        joint, joint_sum = _softmax(joint)
        single, single_sum = _softmax(single)
        ctx.save_for_backward(deviations, precision_root, joint, single)
        n = len(codes)
        return own_sum / n, joint_sum / n, single_sum / n

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *grad_outputs: torch.Tensor
    ) -> Any:
        deviations, precision_root, joint, single = ctx.saved_tensors
        to_own, to_joint, to_single = (each / len(joint) for each in grad_outputs)
        # Gradient of each log-density, which is -(deviation**2 + log_variance) / 2
        # plus a constant.
        gradient = single * to_single
        gradient += joint * to_joint
        gradient.diagonal(dim1=1, dim2=2).add_(to_own)
        total = gradient.sum(dim=1)
        gradient *= deviations
        to_mean = gradient.sum(dim=1) * precision_root[:, 0]
        to_codes = -torch.bmm(gradient, precision_root.mT)[:, :, 0]
        gradient *= deviations
        to_log_variance = 0.5 * (gradient.sum(dim=1) - total)
        return to_codes.T, to_mean.T, to_log_variance.T, None


def _softmax(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the softmax of each row, and the sum of the rows' log-sum-exp."""
    weights = logits.softmax(dim=-1)
    # At the highest logit, the softmax is exp(highest - log-sum-exp).
    return weights, (logits.amax(dim=-1) - weights.amax(dim=-1).log()).sum()
