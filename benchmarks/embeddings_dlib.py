"""Seconds of disentanglement_lib on a table; runs in disentanglement_lib's environment.

Reads arrays from the file given: ``codes``, ``factors`` (whole numbers from 0), and
``split``, the number of rows to learn from and to test on. DCI, SAP and explicitness
learn from the first rows and are tested on the next; the others use all rows. Its
BetaVAE and FactorVAE scores need a dataset that draws images for given factors, which
a table is not. Prints one JSON object: ``times``, name of the metric -> wall and
processor seconds, and ``scores``.
"""

import json
import sys
import time

import numpy as np
from metrics_dlib import modularity_and_explicitness, set_options

# After metrics_dlib, which stands in for a module that these ask for.
from disentanglement_lib.evaluation.metrics import (  # isort: skip
    dci,
    irs,
    mig,
    sap_score,
    utils,
)


def measure(codes, factors, n_train, n_test):
    """Wall and processor seconds of each metric, and its scores."""
    train = codes[:n_train].T, factors[:n_train].T
    stop = n_train + n_test
    test = codes[n_train:stop].T, factors[n_train:stop].T
    calls = {
        "mig": lambda: mig._compute_mig(codes.T, factors.T),
        "sap": lambda: sap_score._compute_sap(*train, *test, False),
        "modularity, explicitness": lambda: modularity_and_explicitness(*train, *test),
        "irs": lambda: {
            "irs": irs.scalable_disentanglement_score(
                utils.make_discretizer(factors.T).T, codes
            )["avg_score"]
        },
        "dci": lambda: dci._compute_dci(*train, *test),
    }
    times, scores = {}, {}
    for name, call in calls.items():
        wall, processor = time.perf_counter(), time.process_time()
        scores[name] = call()
        times[name] = time.perf_counter() - wall, time.process_time() - processor
        print(name, times[name], file=sys.stderr, flush=True)
    return times, scores


if __name__ == "__main__":
    arrays = np.load(sys.argv[1])
    set_options()
    times, scores = measure(arrays["codes"], arrays["factors"], *arrays["split"])
    print(json.dumps({"times": times, "scores": scores}, default=float))
