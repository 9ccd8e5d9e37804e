"""Names of configurations, for people."""

from pathlib import Path

from unbraid.studies import RunSpec

_STRENGTHS = {
    "beta_vae": "beta",
    "beta_tc_vae": "beta",
    "factor_vae": "gamma",
    "dip_vae": "lambda_off_diagonal",
}
"""Hyperparameter that sets the strength of each objective."""


def name_configuration(spec: RunSpec) -> str:
    """Name the configuration of a run: its objective and how strong it is.

    Example:
        >>> spec = RunSpec.read({"data": "xy_squares", "objective": "beta_vae"}, "")
        >>> name_configuration(spec)
        'beta_vae beta=4'
    """
    plain = spec.to_plain()["objective"]
    if spec.evolution is not None:
        how = "recursively" if spec.evolution.method == "recursive" else "by agreement"
        return f"{plain['name']} bred {how}"
    name = Path(plain["name"]).name  # of an objective in a file of the user
    strength = _STRENGTHS.get(name, "beta")
    if strength not in plain:
        return name
    return f"{name} {strength}={plain[strength]:g}"
