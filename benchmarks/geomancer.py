"""GeoManCEr: speed and errors beside a literal implementation, and what it refuses.

The literal implementation follows the choices of the published code: exact neighbours
by sorting all distances, one point and one edge at a time in Python, tangent spaces
from all neighbours of the symmetric graph without regard to curvature, matrices in the
lower triangle with the last diagonal entry left out, the Lanczos method for the
eigenvalues of smallest magnitude, and FFDIAG from the identity with up to 10,000 rounds
per point.

    python benchmarks/geomancer.py speed [--points 5000] [--factors S2xS3] [--json F]
    python benchmarks/geomancer.py errors [--literal] [--factors S2xS2] [--neighbors 8]
    python benchmarks/geomancer.py large [--points 100000] [--factors S2xS2]
    python benchmarks/geomancer.py refusals [--repeats 20]
    python benchmarks/geomancer.py rotating [--steps 2000]

Every result is a line of JSON, also appended to ``--out`` as soon as it is there.
"""

import argparse
import itertools
import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from comparison import Comparison, add_option, tell

from unbraid.geometry import Geomancer, alignment_error, product_manifold

CASES = {
    "S2xS2": 1000,
    "S2xS3": 2000,
    "S2xSO3": 2000,
    "S2xS2xS2": 5000,
    "S2xS4xSO3": 10_000,
}


def literal_neighbours(points: np.ndarray, n_neighbours: int) -> list[list[int]]:
    """Symmetric graph of exact nearest neighbours, row by row."""
    beside: list[set[int]] = [set() for _ in points]
    for start in range(0, len(points), 1000):
        block = points[start : start + 1000]
        squares = (points**2).sum(1)[:, None] - 2 * points @ block.T
        squares += (block**2).sum(1)[None]
        nearest = np.argpartition(squares, n_neighbours, axis=0)[: n_neighbours + 1]
        for column in range(nearest.shape[1]):
            rows = nearest[:, column]
            rows = rows[np.argsort(squares[rows, column])][1:]
            for row in rows:
                beside[start + column].add(int(row))
                beside[int(row)].add(start + column)
    return [sorted(rows) for rows in beside]


def literal_block(rotation: np.ndarray) -> np.ndarray:
    """X -> Q X Q' on the lower triangle, with the last diagonal entry left out."""
    k = len(rotation)
    pairs = [(i, j) for i in range(k) for j in range(i + 1)]
    block = np.zeros((len(pairs), len(pairs)))
    for column, (i, j) in enumerate(pairs):
        unit = np.zeros((k, k))
        unit[i, j] = unit[j, i] = 1
        image = rotation @ unit @ rotation.T
        block[:, column] = [image[pair] for pair in pairs]
    completed = np.eye(len(pairs))[:, :-1]
    for column, (i, j) in enumerate(pairs[:-1]):
        if i == j:
            completed[-1, column] = -1
    return (block @ completed)[:-1]


def literal_ffdiag(matrices: np.ndarray) -> np.ndarray:
    """Orthogonal FFDIAG of one set of matrices, from the identity."""
    current, k = matrices.copy(), matrices.shape[1]
    rotation, before = np.eye(k), np.inf
    for _ in range(10_000):
        step = np.zeros((k, k))
        for i in range(k):
            for j in range(i + 1, k):
                apart = current[:, i, i] - current[:, j, j]
                step[i, j] = (current[:, i, j] * apart).sum() / (apart**2).sum()
        step -= step.T
        step /= max(1.0, np.linalg.norm(step, 2))
        turn = scipy.linalg.expm(step)
        rotation = turn @ rotation
        current = np.stack([turn @ matrix @ turn.T for matrix in current])
        rest = np.stack([matrix - np.diag(np.diag(matrix)) for matrix in current])
        error = np.linalg.norm(rest)
        if 0 <= before - error < 1e-10:
            break
        before = error
    return rotation


def literal_parts(matrices: np.ndarray) -> list[np.ndarray]:
    """Directions of one point, in groups whose cosines are above 0.5."""
    rotation = literal_ffdiag(matrices)
    numbers = np.stack([np.diag(rotation @ one @ rotation.T) for one in matrices])
    lengths = np.linalg.norm(numbers, axis=0)
    alike = numbers.T @ numbers / np.outer(lengths, lengths) > 0.5
    n_parts, part = scipy.sparse.csgraph.connected_components(alike)
    return [rotation[part == number].T for number in range(n_parts)]


def literal(points: np.ndarray, k: int) -> tuple[list[list[np.ndarray]], np.ndarray]:
    """The published algorithm, step by step: parts of each point and the spectrum."""
    n_points, size = len(points), k * (k + 1) // 2 - 1
    graph = literal_neighbours(points, 2 * k)
    tangents = []
    for row, beside in enumerate(graph):
        differences = points[beside] - points[row]
        tangents.append(np.linalg.svd(differences, full_matrices=False)[2][:k].T)
    rotations = {}
    for i, beside in enumerate(graph):
        for j in beside:
            if j > i:
                left, _, right = np.linalg.svd(tangents[j].T @ tangents[i])
                rotations[i, j] = left @ right
                rotations[j, i] = (left @ right).T
    blocks, columns, starts = [], [], [0]
    for i, beside in enumerate(graph):
        blocks.append(len(beside) * np.eye(size))
        columns.append(i)
        for j in beside:
            blocks.append(-literal_block(rotations[j, i]))
            columns.append(j)
        starts.append(len(columns))
    matrix = scipy.sparse.bsr_matrix(
        (np.array(blocks, np.float32), columns, starts), shape=(n_points * size,) * 2
    )
    values, vectors = scipy.sparse.linalg.eigsh(matrix, k=10, which="SM")
    count = int(np.argmax(np.diff(values))) + 1
    vectors = vectors.reshape(n_points, size, 10)
    lower = np.tril_indices(k)
    parts = []
    for row in range(n_points):
        fields = np.zeros((count, k, k))
        for number in range(count):
            half = np.zeros((k, k))
            half[lower] = np.append(vectors[row, :, number], 0.0)
            whole = half + half.T - np.diag(np.diag(half))
            whole[-1, -1] = -np.trace(whole)
            fields[number] = whole
        parts.append([tangents[row] @ part for part in literal_parts(fields)])
    return parts, values


def literal_error(parts: list[list[np.ndarray]], true: list[np.ndarray]) -> float:
    """Mean over points of the mean angle, 90 degrees where the numbers differ."""
    errors = []
    for row, found in enumerate(parts):
        if len(found) != len(true):
            errors.append(np.pi / 2)
            continue
        angles = []
        for order in itertools.permutations(true):
            pairs = [(a, b[row]) for a, b in zip(found, order, strict=True)]
            angles.append(
                np.mean(
                    [
                        np.arccos(min(1, np.linalg.svd(a.T @ b, compute_uv=False)[-1]))
                        if a.shape == b.shape
                        else np.pi / 2
                        for a, b in pairs
                    ]
                )
            )
        errors.append(min(angles))
    return float(np.mean(errors))


def run_ours(factors: str, n_points: int, **options: object) -> dict[str, object]:
    """Fit one sample and describe what was found."""
    sample = product_manifold(factors, n_points, rotated=True)
    start, processor = time.perf_counter(), time.process_time()
    fitted = Geomancer(sample.dimension, **options).fit(sample.points)
    return {
        "who": "unbraid",
        "factors": factors,
        "points": n_points,
        "seconds": round(time.perf_counter() - start, 2),
        "cpu": round(time.process_time() - processor, 2),
        "found": fitted.dimensions_,
        "error": float(alignment_error(fitted.components_, sample.tangents).mean()),
        "gap": fitted.gap_,
        "coherence": fitted.coherence_,
        "spectrum": fitted.spectrum_.round(5).tolist(),
        "scale": fitted.scale_,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def run_literal(factors: str, n_points: int) -> dict[str, object]:
    """The same of the literal implementation."""
    sample = product_manifold(factors, n_points, rotated=True)
    start, processor = time.perf_counter(), time.process_time()
    parts, values = literal(sample.points, sample.dimension)
    sizes = [tuple(sorted(part.shape[1] for part in found)) for found in parts]
    usual = max(set(sizes), key=sizes.count)
    return {
        "who": "literal",
        "factors": factors,
        "points": n_points,
        "seconds": round(time.perf_counter() - start, 2),
        "cpu": round(time.process_time() - processor, 2),
        "found": usual,
        "error": literal_error(parts, sample.tangents),
        "spectrum": values.round(5).tolist(),
    }


def compared(ours: list[dict], theirs: dict) -> list[Comparison]:
    """Time and error of both, as lines of a table."""
    return [
        Comparison(
            what=f"{theirs['points']:,} points of {theirs['factors']}",
            unit=unit,
            peer="literal implementation",
            theirs=[theirs[key]],
            ours=[line[key] for line in ours],
        )
        for key, unit in (
            ("seconds", "seconds"),
            ("cpu", "processor seconds"),
            ("error", "rad of mean error"),
        )
    ]


def structureless(kind: str, seed: int) -> tuple[np.ndarray, int]:
    """Points without a product structure, and the dimension to fit."""
    generator = np.random.default_rng(seed)
    n = 400
    if kind in ("S2", "S3", "S4", "SO3"):
        sample = product_manifold(kind, n, rotated=True, seed=seed)
        return sample.points, sample.dimension
    if kind == "ellipsoid":
        points = product_manifold("S3", n, seed=seed).points
        return points * generator.uniform(0.5, 2, 4), 3
    if kind == "noise":
        return generator.normal(size=(n, 8)), 4
    if kind == "noisy plane":
        points = generator.normal(size=(n, 3)) @ generator.normal(size=(3, 8))
        return points + 0.5 * generator.normal(size=(n, 8)), 3
    # A random network bends four uniform numbers into ten.
    hidden = np.tanh(generator.uniform(-1, 1, (n, 4)) @ generator.normal(size=(4, 32)))
    return np.tanh(hidden @ generator.normal(size=(32, 10)) / 3), 4


KINDS = ("S2", "S3", "S4", "SO3", "ellipsoid", "noise", "noisy plane", "network")


def refusals(repeats: int, keep: Callable[[dict[str, object]], None]) -> None:
    """How often a product is reported where there is none."""
    for kind in KINDS:
        products, gaps, coherences = 0, [], []
        for seed in range(repeats):
            points, dimension = structureless(kind, seed)
            fitted = Geomancer(dimension).fit(points)
            products += fitted.is_product_
            gaps.append(fitted.gap_)
            coherences.append(fitted.coherence_)
        keep(
            {
                "kind": kind,
                "repeats": repeats,
                "products": products,
                "largest_gap": max(gaps),
                "median_gap": float(np.median(gaps)),
                "median_coherence": float(np.median(coherences)),
            }
        )


def rotating(steps: int, keep: Callable[[dict[str, object]], None]) -> None:
    """Raw images and codes of objects that rotate."""
    from unbraid import encode, fit
    from unbraid.data import Room3D, Sprites2D

    sprites = Sprites2D(image_size=32, shapes=("heart",), n_scales=1, n_positions=16)
    room = Room3D(image_size=32, shapes=("cube",))
    generator = np.random.default_rng(0)
    for name, data in (("sprites2d", sprites), ("room3d", room)):
        rows = np.sort(generator.permutation(len(data))[:3000])
        pixels = data.images(rows).reshape(len(rows), -1) / 255.0
        model = fit("beta_vae", data, steps=steps, n_latents=10, seed=0).model
        codes = encode(model, data, rows=rows, progress=False).codes
        for what, points in (("pixels", pixels), ("codes", codes)):
            points = np.unique(points.astype(np.float64), axis=0)
            for dimension in (None, 3, 5):
                line = {"data": name, "what": what, "points": len(points)}
                start = time.perf_counter()
                try:
                    fitted = Geomancer(dimension, 20).fit(points)
                    line |= {
                        "dimension": fitted.dimension_,
                        "says": fitted.summary(),
                        "gap": fitted.gap_,
                        "coherence": fitted.coherence_,
                        "seconds": time.perf_counter() - start,
                    }
                except ValueError as error:
                    line |= {"dimension": dimension, "says": str(error)}
                keep(line)


def main() -> None:
    """Run one of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "what", choices=("speed", "errors", "large", "refusals", "rotating")
    )
    parser.add_argument("--points", type=int)
    parser.add_argument("--factors")
    parser.add_argument("--neighbors", type=int)
    parser.add_argument("--literal", action="store_true")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--out", type=Path)
    add_option(parser)
    arguments = parser.parse_args()

    def keep(line: dict[str, object]) -> None:
        text = json.dumps(line | {"load": round(os.getloadavg()[0], 1)})
        print(text, flush=True)
        if arguments.out is not None:
            with arguments.out.open("a") as file:
                file.write(text + "\n")

    if arguments.what == "speed":
        factors, n_points = arguments.factors or "S2xS3", arguments.points or 5000
        ours = [run_ours(factors, n_points) for _ in range(3)]
        theirs = run_literal(factors, n_points)
        for line in (*ours, theirs):
            keep(line)
        tell(compared(ours, theirs), arguments.json)
    elif arguments.what == "large":
        keep(run_ours(arguments.factors or "S2xS2", arguments.points or 100_000))
    elif arguments.what == "errors":
        for factors in [arguments.factors] if arguments.factors else CASES:
            n_points = arguments.points or CASES[factors]
            keep(run_ours(factors, n_points, n_neighbors=arguments.neighbors))
            if arguments.literal:
                keep(run_literal(factors, n_points))
    elif arguments.what == "refusals":
        refusals(arguments.repeats, keep)
    else:
        rotating(arguments.steps, keep)


if __name__ == "__main__":
    main()
