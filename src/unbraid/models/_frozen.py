"""Networks that are used without being taught."""

from typing import Any

import torch
from torch import nn
from torch.func import functional_call


def apply_frozen(network: nn.Module, inputs: torch.Tensor) -> Any:
    """What a network gives, differentiable in its inputs and not in its weights.

    Args:
        network: Is not changed, and gets no gradients.
        inputs: What it takes.

    Example:
        >>> network, inputs = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
        >>> apply_frozen(network, inputs).sum().backward()
        >>> network.weight.grad is None, inputs.grad is None
        (True, False)
    """
    weights = {name: weight.detach() for name, weight in network.named_parameters()}
    return functional_call(network, weights, (inputs,))
