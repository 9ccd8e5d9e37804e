"""Seconds of disentanglement_lib's metrics; runs in disentanglement_lib's environment.

Reads arrays from the file given: ``codes`` and ``factors`` (the first 10,000 rows to
learn from, the rest to test on), ``grid`` (codes of every combination of factors) and
``sizes``. Prints one JSON object: ``times``, name of the metric -> wall and processor
seconds, ``scores``, and ``images``, name of the metric -> images that it encodes.
"""

import json
import sys
import time
import warnings

import gin

# It asks for gin's TensorFlow module, of which these metrics use the plain part only.
sys.modules["gin.tf"] = gin
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
from disentanglement_lib.data.ground_truth.ground_truth_data import (  # noqa: E402
    GroundTruthData,
)
from disentanglement_lib.evaluation.metrics import (  # noqa: E402
    beta_vae,
    dci,
    factor_vae,
    irs,
    mig,
    modularity_explicitness,
    sap_score,
    utils,
)

N_TRAIN, N_TEST, BATCH = 10_000, 5_000, 64


class Table(GroundTruthData):
    """A grid of codes as a dataset whose observations are row numbers."""

    observation_shape = (1,)

    def __init__(self, grid, sizes):
        self.grid, self.sizes, self.n_encoded = grid, sizes, 0

    num_factors = property(lambda self: len(self.sizes))
    factors_num_values = property(lambda self: self.sizes)

    def sample_factors(self, num, random_state):
        """Factors of random cells."""
        return random_state.randint(self.sizes, size=(num, len(self.sizes)))

    def sample_observations_from_factors(self, factors, random_state):
        """Rows of the cells."""
        return np.ravel_multi_index(tuple(factors.T), self.sizes)

    def encode(self, observations):
        """The representation: look the codes up, and count."""
        self.n_encoded += len(observations)
        return self.grid[observations]


def set_options():
    """Settings of the 2019 study."""
    gin.bind_parameter("discretizer.discretizer_fn", utils._histogram_discretize)
    gin.bind_parameter("discretizer.num_bins", 20)
    gin.bind_parameter("histogram_discretizer.num_bins", 20)
    gin.bind_parameter("prune_dims.threshold", 0.05)


def modularity_and_explicitness(codes, factors, test_codes, test_factors):
    """Its function draws rows itself; these are the calls that follow the drawing."""
    information = utils.discrete_mutual_info(utils.make_discretizer(codes), factors)
    normal, mean, spread = utils.normalize_data(codes)
    test_normal, _, _ = utils.normalize_data(test_codes, mean, spread)
    explicitness = modularity_explicitness.explicitness_per_factor
    areas = [
        explicitness(normal, labels, test_normal, test_labels)
        for labels, test_labels in zip(factors, test_factors, strict=True)
    ]
    return {
        "modularity": modularity_explicitness.modularity(information),
        "explicitness": np.mean([area[1] for area in areas]),
    }


def measure(table, codes, factors):
    """Wall and processor seconds of each metric, and its scores."""
    train = codes[:N_TRAIN].T, factors[:N_TRAIN].T
    test = codes[N_TRAIN:].T, factors[N_TRAIN:].T
    state = np.random.RandomState(0)
    sizes = {"batch_size": BATCH, "num_train": N_TRAIN, "num_eval": N_TEST}
    calls = {
        "beta_vae_score": lambda: beta_vae.compute_beta_vae_sklearn(
            table, table.encode, state, **sizes
        ),
        "factor_vae_score": lambda: factor_vae.compute_factor_vae(
            table, table.encode, state, num_variance_estimate=N_TRAIN, **sizes
        ),
        "mig": lambda: mig._compute_mig(*train),
        "sap": lambda: sap_score._compute_sap(*train, *test, False),
        "modularity, explicitness": lambda: modularity_and_explicitness(*train, *test),
        "irs": lambda: {
            "irs": irs.scalable_disentanglement_score(
                utils.make_discretizer(train[1]).T, train[0].T
            )["avg_score"]
        },
        "dci": lambda: dci._compute_dci(*train, *test),
    }
    times, scores = {}, {}
    for name, call in calls.items():
        wall, processor = time.perf_counter(), time.process_time()
        scores[name] = call()
        times[name] = time.perf_counter() - wall, time.process_time() - processor
        print(name, times[name], scores[name], file=sys.stderr, flush=True)
    return times, scores


def count(table):
    """Images that each metric encodes, with nothing learned from their codes."""
    dci._compute_dci = sap_score._compute_sap = mig._compute_mig = lambda *_: {}
    modularity_explicitness.explicitness_per_factor = lambda *_: (0.0, 0.0)
    state = np.random.RandomState(0)
    many = {"num_train": N_TRAIN, "num_test": N_TEST}
    groups = {"batch_size": BATCH, "num_train": N_TRAIN, "num_eval": N_TEST}
    calls = {
        "beta_vae_score": (beta_vae.compute_beta_vae_sklearn, groups),
        "factor_vae_score": (
            factor_vae.compute_factor_vae,
            {**groups, "num_variance_estimate": N_TRAIN},
        ),
        "mig": (mig.compute_mig, {"num_train": N_TRAIN}),
        "sap": (sap_score.compute_sap, {**many, "continuous_factors": False}),
        "modularity, explicitness": (
            modularity_explicitness.compute_modularity_explicitness,
            many,
        ),
        "irs": (irs.compute_irs, {"num_train": N_TRAIN, "batch_size": BATCH}),
        "dci": (dci.compute_dci, many),
    }
    images = {}
    for name, (function, options) in calls.items():
        table.n_encoded = 0
        function(table, table.encode, state, **options)
        images[name] = table.n_encoded
    return images


if __name__ == "__main__":
    arrays = np.load(sys.argv[1])
    table = Table(arrays["grid"], tuple(arrays["sizes"]))
    set_options()
    times, scores = measure(table, arrays["codes"], arrays["factors"])
    print(json.dumps({"times": times, "scores": scores, "images": count(table)},
                     default=float))  # fmt: skip
