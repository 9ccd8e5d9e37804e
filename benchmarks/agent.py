"""Does an agent learn faster with an encoder of higher MIG?

Trains encoders of single sprites that differ in their objective, lets agents learn to
cluster sprites with each of them (see ``docs/agent.md``), and compares the steps that
they need with the MIG of the encoder. ``ideal`` is computed from the pixels (center
and color), and ``rotated`` is the same with its latents mixed by a random rotation.

    python benchmarks/agent.py OUT [--encoders ideal vae ...] [--runs 5] [--quick]
    python benchmarks/agent.py OUT --encoders monet

Results are written to OUT as they come, one file per encoder; what is there is not run
again. The last lines are a table, and OUT/agent.png has the learning curves. With
``monet``, OUT/masks.png shows images and masks.
"""

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import unbraid
from unbraid.agents import (
    SUCCESS_RATE,
    ClusteringEnvironment,
    Encoder,
    LearningSettings,
    agent_sample_efficiency,
    read_slots,
)
from unbraid.data import SpriteScenes, float_images
from unbraid.foundation import torch_generator
from unbraid.metrics import mutual_information_gap
from unbraid.models.objectives import AE, AbstractObjective, BetaTCVAE, BetaVAE, MONet

SIZE = 0.13
OBJECTS = SpriteScenes(n_sprites=1, image_size=16, smallest=SIZE, largest=SIZE)
SCENES = replace(OBJECTS, n_sprites=4)
OBJECTIVES: dict[str, AbstractObjective] = {
    "ae": AE(),
    "vae": BetaVAE(beta=1.0),
    "beta_vae": BetaVAE(beta=4.0),
    "beta_tc_vae": BetaTCVAE(beta=8.0),
    "monet": MONet(n_slots=5, n_filters=16),
}
FIXED = ("ideal", "rotated")
ENCODERS = (*FIXED, "ae", "vae", "beta_vae", "beta_tc_vae")


@dataclass(frozen=True)
class Length:
    """How long everything takes.

    Attributes:
        train: Training steps of an encoder.
        train_monet: Training steps of MONet.
        explored: Steps of exploration.
        updates: Updates of the transition model.
        learning: Settings of the agents.
    """

    train: int = 20_000
    train_monet: int = 20_000
    explored: int = 3000
    updates: int = 2000
    learning: LearningSettings = LearningSettings()


FULL = Length()
QUICK = Length(
    train=1000,
    train_monet=600,
    explored=1000,
    updates=400,
    learning=LearningSettings(max_steps=200, every=50, n_tests=10),
)


def encode_ideally(images: torch.Tensor) -> torch.Tensor:
    """Return center and color of single sprites on black."""
    weights = images.amax(dim=1) + 1e-6
    axis = torch.linspace(-1, 1, images.shape[2])
    total = weights.sum(dim=(1, 2))
    x = (weights.sum(dim=1) * axis).sum(dim=1) / total
    y = (weights.sum(dim=2) * axis).sum(dim=1) / total
    colors = images.sum(dim=(2, 3)) / total[:, None]
    return torch.stack([x, y, *colors.T], dim=1)


def encode_rotated(images: torch.Tensor) -> torch.Tensor:
    """Return center and color, mixed by a fixed random rotation."""
    noise = torch.randn(5, 5, generator=torch_generator(0, "rotation"))
    return encode_ideally(images) @ torch.linalg.qr(noise).Q


def make_encoder(name: str, length: Length, out: Path) -> Encoder:
    """Return an encoder, trained if it is not in ``out`` yet."""
    if name in FIXED:
        return {"ideal": encode_ideally, "rotated": encode_rotated}[name]
    is_monet = name == "monet"
    steps = length.train_monet if is_monet else length.train
    options: dict[str, Any] = {"n_latents": 30, "learning_rate": 1e-3}
    if not is_monet:
        options = {"n_latents": 6, "recipe": "small"}
    run = unbraid.fit(
        OBJECTIVES[name],
        SCENES if is_monet else OBJECTS,
        steps=steps,
        batch_size=32 if is_monet else 64,
        device="cpu",
        progress=False,
        out=out / "encoders" / f"{name}-{steps}",
        **options,
    )
    return run.model.eval()


def measure_mig(encoder: Encoder) -> float:
    """MIG of the codes of single sprites, for position, shape and color."""
    rows = np.arange(5000)
    codes = read_slots(encoder, OBJECTS.images(rows), OBJECTS.masks(rows))[:, 0]
    factors = OBJECTS.factors(rows)
    assert factors is not None
    factors = factors[:, [0, 1, 2, 4]]
    factors[:, :2] = np.floor(10 * factors[:, :2])
    return float(mutual_information_gap(codes.numpy(), factors.astype(np.int64)))


def measure(name: str, length: Length, n_runs: int, out: Path) -> dict[str, Any]:
    """Measure one encoder, or read its result."""
    path = out / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text())
    started = time.process_time()
    encoder = make_encoder(name, length, out)
    trained = time.process_time()
    if name == "monet":
        draw_masks_of(encoder, out / "masks.png")
    result = agent_sample_efficiency(
        encoder,
        ClusteringEnvironment(image_size=16, size=SIZE),
        n_runs=n_runs,
        n_explored=length.explored,
        n_updates=length.updates,
        settings=length.learning,
    )
    row = {
        "encoder": name,
        "mig": None if name == "monet" else measure_mig(encoder),
        "steps": float(result.score),
        "n_given_up": result.score.details["n_given_up"],
        "transition_error": result.transition_error,
        "curves": [asdict(curve) for curve in result.curves],
        "seconds_training": trained - started,
        "seconds_agents": time.process_time() - trained,
        "length": asdict(length),
    }
    part = path.with_suffix(".part")
    part.write_text(json.dumps(row, indent=1) + "\n")
    part.replace(path)
    return row


def summarize(rows: list[dict[str, Any]]) -> str:
    """Format results as a Markdown table."""
    lines = ["| encoder | MIG | steps | given up | success | CPU seconds |"]
    lines.append("|---" * 6 + "|")
    for row in rows:
        mig = "" if row["mig"] is None else f"{row['mig']:.2f}"
        last = np.mean([curve["success_rates"][-1] for curve in row["curves"]])
        seconds = row["seconds_training"] + row["seconds_agents"]
        given_up = f"{row['n_given_up']} of {len(row['curves'])}"
        lines.append(
            f"| {row['encoder']} | {mig} | {row['steps']:.0f} | {given_up} "
            f"| {last:.0%} | {seconds:.0f} |"
        )
    return "\n".join(lines)


def correlate_with_mig(rows: list[dict[str, Any]]) -> float:
    """Spearman correlation of MIG and steps over all runs (negative is expected)."""
    pairs = [
        (row["mig"], curve["steps"][-1])
        for row in rows
        if row["mig"] is not None
        for curve in row["curves"]
    ]
    return float(spearmanr(*np.transpose(pairs)).statistic)


def draw_curves(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw learning curves, and the steps of each run against MIG."""
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for index, row in enumerate(rows):
        color = f"C{index}"
        for run, curve in enumerate(row["curves"]):
            label = row["encoder"] if run == 0 else None
            left.plot(
                [0, *curve["steps"]],
                [np.nan, *curve["success_rates"]],
                color=color,
                marker=".",
                linewidth=0.8,
                label=label,
            )
        if row["mig"] is not None:
            steps = [curve["steps"][-1] for curve in row["curves"]]
            right.plot([row["mig"]] * len(steps), steps, ".", color=color)
    left.axhline(SUCCESS_RATE, color="gray", linewidth=0.5)
    left.set(xlabel="steps", ylabel="solved episodes", ylim=(0, 1.02))
    left.legend(fontsize=7)
    right.set(xlabel="MIG", ylabel="steps until 90% are solved")
    figure.savefig(path, dpi=150)


@torch.no_grad()
def draw_masks_of(model: Any, path: Path) -> None:
    """Draw scenes, their reconstructions and the mask of each slot."""
    images = float_images(SCENES, range(6))
    masks = model.encoder.attend(images).exp()
    n_slots = masks.shape[1]
    figure = Figure(figsize=(n_slots + 2, len(images)), layout="constrained")
    axes = figure.subplots(len(images), n_slots + 2)
    drawn = model(images).clamp(0, 1)
    for i, line in enumerate(axes):
        line[0].imshow(images[i].permute(1, 2, 0).numpy())
        line[1].imshow(drawn[i].permute(1, 2, 0).numpy())
        for k in range(n_slots):
            line[2 + k].imshow(masks[i, k].numpy(), cmap="gray", vmin=0, vmax=1)
        for ax in line:
            ax.set_axis_off()
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run what is missing, and print and draw all results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--encoders", nargs="+", choices=(*ENCODERS, "monet"), default=ENCODERS
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    out = options.out / ("quick" if options.quick else "full")
    out.mkdir(parents=True, exist_ok=True)
    length = QUICK if options.quick else FULL
    for name in options.encoders:
        row = measure(name, length, options.runs, out)
        print(f"{name}: {row['steps']:.0f} steps", flush=True)
    order = (*ENCODERS, "monet")
    paths = [out / f"{name}.json" for name in order if (out / f"{name}.json").exists()]
    rows = [json.loads(path.read_text()) for path in paths]
    print(summarize(rows))
    if len({row["mig"] for row in rows}) > 2:
        print(f"Spearman correlation of MIG and steps: {correlate_with_mig(rows):.2f}")
    draw_curves(rows, out / "agent.png")


if __name__ == "__main__":
    main()
