"""Networks that are used without being trained."""

from typing import Any

import torch
from torch import nn
from torch.func import functional_call


def apply_frozen(network: nn.Module, *inputs: torch.Tensor) -> Any:
    """Apply a network, differentiably in its inputs but not in its weights.

    Args:
        network: Network to apply; its weights get no gradients.
        inputs: Arguments of the network.

    Example:
        >>> network, inputs = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
        >>> apply_frozen(network, inputs).sum().backward()
        >>> network.weight.grad is None, inputs.grad is None
        (True, False)
    """
    weights = {name: weight.detach() for name, weight in network.named_parameters()}
    return functional_call(network, weights, inputs)
