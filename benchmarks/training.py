"""Images per second of training, side by side with disent and with a bare loop.

Same datasets, networks, batch sizes and optimizer; each side in a process of its own,
in turn, medians over rounds. Settings:

- ``conv``: XYObject at 64x64x3, the convolutional network of the dissertation, batches
  of 64 and 256; one process with two threads, and two models in two processes with one
  thread each.
- ``mini``: XYSquares at 8x8x3 with a dense network, batch 64, where overhead rules.
- ``bare``: the same network on one fixed batch in the shortest possible loop.

    python benchmarks/training.py [--rounds 5] [--seconds 8] [--json FILE]
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from comparison import Comparison, add_option, tell
from peers import label_of, run_peer

WARM_UP_STEPS = 10
SETTINGS = (("conv", 64), ("conv", 256), ("mini", 64))


def specification(kind: str, batch: int):
    """Dataset and settings of a run."""
    from unbraid.data import XYObject, XYSquares
    from unbraid.models import Gaussian
    from unbraid.models.networks import Dense, DissertationConvolutional
    from unbraid.models.objectives import BetaVAE
    from unbraid.training import TrainingSpec

    is_conv = kind == "conv"
    dataset = XYObject() if is_conv else XYSquares(square_size=1, image_size=8)
    return dataset, TrainingSpec(
        objective=BetaVAE(beta=0.01, scale="mean"),
        network=DissertationConvolutional() if is_conv else Dense(),
        likelihood=Gaussian(),
        image_shape=dataset.image_shape,
        batch_size=batch,
        learning_rate=1e-3,
    )


def train_ours(kind: str, batch: int, seconds: float) -> float:
    """Images per second of unbraid's loop, with its history and its batches."""
    import torch

    from unbraid.training import TrainingState, train
    from unbraid.training._fit import make_stream

    dataset, spec = specification(kind, batch)
    state = TrainingState.create(spec, device=torch.device("cpu"))
    stream = make_stream(spec, dataset, torch.device("cpu"))
    snapshots = train(state, stream, spec.objective, steps=10**9, every=WARM_UP_STEPS)
    next(snapshots)
    n_images, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        next(snapshots)
        n_images += WARM_UP_STEPS * batch
    return n_images / (time.perf_counter() - start)


def train_bare(kind: str, batch: int, seconds: float) -> float:
    """Images per second of the shortest loop over one fixed batch."""
    import torch

    from unbraid.data import BatchStream
    from unbraid.training import TrainingState

    dataset, spec = specification(kind, batch)
    model = TrainingState.create(spec, device=torch.device("cpu")).model
    images = BatchStream(dataset=dataset, size=batch).batch(0).images
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    n_images, start = -WARM_UP_STEPS * batch, 0.0
    while n_images <= 0 or time.perf_counter() - start < seconds:
        if n_images == 0:
            start = time.perf_counter()
        mean, log_variance = model.encoder(images).chunk(2, dim=1)
        codes = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).mean()
        loss = (model.decoder(codes) - images).square().mean() + 0.01 * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        n_images += batch
    return n_images / (time.perf_counter() - start)


def work(arguments: list[str]) -> None:
    """Measure one side in this process, and print the rate."""
    import torch

    from unbraid.training import keep_freed_memory

    side, kind = arguments[:2]
    batch, seconds, threads = int(arguments[2]), *map(float, arguments[3:])
    torch.set_num_threads(int(threads))
    keep_freed_memory()
    sides = {"ours": train_ours, "bare": train_bare}
    print(json.dumps({"rate": sides[side](kind, batch, seconds)}))


def rate(side: str, kind: str, batch: int, seconds: float, threads: int) -> float:
    """Images per second of one side in a fresh process."""
    options = [kind, str(batch), str(seconds), str(threads)]
    if side == "disent":
        return run_peer("disent", "training_disent.py", *options)["rate"]
    command = [sys.executable, Path(__file__), "--work", side, *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])["rate"]


def rate_of_two(side: str, kind: str, batch: int, seconds: float) -> float:
    """Images per second of two models at once, in two processes of one thread."""
    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(rate, side, kind, batch, seconds, 1) for _ in range(2)]
        return sum(job.result() for job in jobs)


def main() -> None:
    """Measure all sides in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8.0)
    add_option(parser)
    arguments = parser.parse_args()
    cores, seconds = os.cpu_count() or 1, arguments.seconds
    rates: dict[tuple[str, int], dict[str, list[float]]] = {}
    for _ in range(arguments.rounds):
        for kind, batch in SETTINGS:
            measured = {
                "disent": rate("disent", kind, batch, seconds, 0),
                "ours": rate("ours", kind, batch, seconds, cores),
                "bare": rate("bare", kind, batch, seconds, cores),
                "twice": rate_of_two("ours", kind, batch, seconds),
            }
            sides = rates.setdefault((kind, batch), {})
            for side, value in measured.items():
                sides.setdefault(side, []).append(value)
    tell(comparisons(rates, label_of("disent")), arguments.json)


def comparisons(
    rates: dict[tuple[str, int], dict[str, list[float]]], peer: str
) -> list[Comparison]:
    """Each setting once and twice against the peer, and once against the bare loop."""
    return [
        Comparison(
            what=f"{kind}, batch {batch}{suffix}",
            unit="images per second",
            peer=peer if theirs == "disent" else "bare loop",
            theirs=sides[theirs],
            ours=sides[ours],
        )
        for theirs, ours, suffix in (
            ("disent", "ours", ""),
            ("disent", "twice", ", twice"),
            ("bare", "ours", ""),
        )
        for (kind, batch), sides in rates.items()
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2:])
    else:
        main()
