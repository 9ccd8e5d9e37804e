"""placeholder until the branch is merged."""

PRESETS = {}


def preset(name, scale="mini"):
    raise ValueError(name)
