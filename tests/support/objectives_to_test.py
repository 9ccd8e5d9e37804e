"""Every objective that has a name, ready to compute."""

from torch import nn

from unbraid.models.objectives import OBJECTIVES, AbstractObjective

NEEDED = {
    "dfc_vae": lambda: {
        "features": nn.Sequential(nn.Flatten(), nn.Tanh()).eval(),
        "weights": (100.0,),
    },
    "semi_supervised": lambda: {"n_labels": 20, "factor_sizes": (4, 4, 4)},
    "semi_supervised_adversarial": lambda: {
        "base": make_objective("factor_vae"),
        "n_labels": 20,
        "factor_sizes": (4, 4, 4),
    },
    "monet": lambda: {"n_slots": 2, "n_filters": 4},
    "factor_vae": lambda: {"discriminator_width": 16, "discriminator_depth": 2},
}
"""What an objective needs to be made, or to be made small enough for a test."""


def make_objective(name: str, **options: object) -> AbstractObjective:
    return OBJECTIVES[name](**{**NEEDED.get(name, dict)(), **options})
