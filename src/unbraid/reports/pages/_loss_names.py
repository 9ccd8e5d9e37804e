"""Names of reconstruction losses for the text of a page."""

from unbraid.models import (
    AbstractLikelihood,
    Bernoulli,
    FeatureAugmented,
    Gaussian,
    KernelAugmented,
    Laplace,
)

_NAMES: dict[type[AbstractLikelihood], str] = {
    Bernoulli: "cross-entropy",
    Gaussian: "squared error",
    Laplace: "absolute error",
}


def describe_loss(likelihood: AbstractLikelihood) -> str:
    """Return the name of the loss of a likelihood.

    Args:
        likelihood: Likelihood of a model.

    Example:
        >>> describe_loss(KernelAugmented(kernel="gaussian"))
        'squared error, plus the same through a gaussian kernel'
    """
    if isinstance(likelihood, KernelAugmented):
        kernel = likelihood.kernel if isinstance(likelihood.kernel, str) else "custom"
        return (
            f"{describe_loss(likelihood.base)}, plus the same through a {kernel} kernel"
        )
    if isinstance(likelihood, FeatureAugmented):
        return f"{describe_loss(likelihood.base)}, plus the distance of features"
    return _NAMES.get(type(likelihood), type(likelihood).__name__)
