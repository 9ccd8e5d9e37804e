"""Show why unsupervised disentanglement needs inductive biases.

python examples/impossibility.py [--rows 6000] [--latents 8]
"""

import argparse

import numpy as np
from scipy.stats import ks_2samp, uniform

import unbraid
from unbraid.foundation import numpy_generator
from unbraid.geometry import EntanglingMap


def main() -> None:
    """Entangle perfect codes, and compare them with and without labels."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--latents", type=int, default=8)
    arguments = parser.parse_args()

    shape = (arguments.rows, arguments.latents)
    factors = numpy_generator(0, "factors").random(shape)
    codes = factors  # each factor has a latent of its own
    entangle = EntanglingMap(marginals=[uniform()] * arguments.latents)
    mixed = entangle(codes)

    print("What can be seen without labels")
    fresh = numpy_generator(1, "factors").random(shape)
    for name, others in (("two samples", fresh), ("entangled", mixed)):
        # The largest difference of distribution functions, over all latents.
        columns = zip(codes.T, others.T, strict=True)
        gap = max(ks_2samp(*pair).statistic for pair in columns)
        between = np.abs(np.corrcoef(others, rowvar=False) - np.eye(shape[1])).max()
        print(f"  {name:12} marginals differ by {gap:.3f}, correlation {between:.3f}")
    smallest = np.abs(entangle.jacobian(codes)).min()
    print(f"  each latent depends on each factor: smallest slope {smallest:.1e}")

    print("What labels tell")
    for name, seen in (("perfect", codes), ("entangled", mixed)):
        scores = unbraid.evaluate(seen, factors, metrics="mig,dci", intervals=False)
        found = ", ".join(
            f"{score} {float(scores[score]):.3f}"
            for score in ("mig", "dci_disentanglement", "dci_completeness")
        )
        print(f"  {name:12} {found}")


if __name__ == "__main__":
    main()
