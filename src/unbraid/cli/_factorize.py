"""``unbraid factorize``: the factors of a product manifold, from points on it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import print_json, print_table
from ._data import JsonOption, open_data, open_for_model

if TYPE_CHECKING:
    from unbraid.geometry import Geomancer

_MANY_COORDINATES = 256
"""From so many coordinates on, points are taken for images."""

_RAW_PIXELS = (
    "Warning: these look like raw pixels. Distances of pixels are not those of the "
    "manifold behind the images, and what is found in them is not to be trusted; give "
    "codes whose metric means something."
)


def factorize(
    points: Annotated[
        Path | None,
        typer.Argument(
            metavar="[POINTS]",
            help="Points, one row each: .npy, .npz (array 'points' or the only one) or "
            ".csv.",
        ),
    ] = None,
    dimension: Annotated[
        int | None,
        typer.Option(
            "--dimension",
            "-k",
            min=1,
            help="Dimension of the manifold (default: estimated).",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a run or model; the codes of --data are the points."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Images whose codes (with --model) or pixels are the points."
        ),
    ] = None,
    rows: Annotated[
        int,
        typer.Option(
            min=1, help="Largest number of images; drawn at random if there are more."
        ),
    ] = 10_000,
    neighbors: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of neighbors of each point (default: twice the dimension, at "
            "least 8).",
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Threshold: eigenvalues below it count as those of parallel fields, "
            "and a product is reported without further tests (default: eigenvalues "
            "below the largest gap, and a product only if it passes the tests).",
        ),
    ] = None,
    eigenvalues: Annotated[
        int, typer.Option(min=2, help="Number of eigenvalues to compute.")
    ] = 10,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the eigenvalue solver and of the drawn images."
        ),
    ] = 0,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File for the plot of the spectrum: .png, .svg or .pdf."
        ),
    ] = Path("spectrum.png"),
    bases: Annotated[
        Path | None,
        typer.Option(help="Also write the factors' tangent spaces to this .npz file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say whether points lie on a product of manifolds, and on which.

    Example: unbraid factorize points.npy --dimension 4

    Example: unbraid factorize --model run --data sprites2d --json
    """
    _check_usage(points, model, data, out, bases)
    table = _points(points, model, data, rows, seed)
    if table.ndim > 2 or table.shape[-1:] >= (_MANY_COORDINATES,):
        typer.echo(_RAW_PIXELS, err=True)
    from unbraid.foundation import naming

    with naming(str(points or data)):
        fitted = _fit(
            table, dimension=dimension, neighbors=neighbors, gamma=gamma,
            eigenvalues=eigenvalues, seed=seed,
        )  # fmt: skip
    from unbraid.reports import draw_manifold_spectrum, manifold_spectrum
    from unbraid.reports.figures import save_figure

    figure = draw_manifold_spectrum(manifold_spectrum(fitted))
    save_figure(figure, out)
    if bases is not None:
        _write_bases(fitted, bases)
    if json:
        print_json(_facts(fitted, len(table), out))
        return
    _print_findings(fitted)
    typer.echo(f"Spectrum: {out}")
    if bases is not None:
        typer.echo(f"Tangent spaces of the factors: {bases}")


def _check_usage(
    points: Path | None,
    model: Path | None,
    data: str | None,
    out: Path,
    bases: Path | None,
) -> None:
    if (points is None) == (data is None):
        raise typer.BadParameter(
            "Give a file of POINTS, or --data (with --model for its codes), but not "
            "both."
        )
    if model is not None and data is None:
        raise typer.BadParameter("--model needs --data.")
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise typer.BadParameter(
            f"The name must end in .png, .svg or .pdf, got {str(out)!r}.",
            param_hint="--out",
        )
    if bases is not None and bases.suffix.lower() != ".npz":
        raise typer.BadParameter(
            f"The name must end in .npz, got {str(bases)!r}.", param_hint="--bases"
        )
    for option, path in (("--out", out), ("--bases", bases)):
        if path is not None and not path.absolute().parent.is_dir():
            raise typer.BadParameter(
                f"The folder of {str(path)!r} does not exist.",
                param_hint=option,
            )
    from unbraid.foundation import require_own_file
    from unbraid.reports.figures import require_own_figure

    require_own_figure(out)
    if bases is not None:
        require_own_file(bases, _is_bases, "a file of tangent spaces")


def _points(
    points: Path | None, model: Path | None, data: str | None, n_rows: int, seed: int
) -> Any:
    import numpy as np

    if points is not None:
        from ._tables import read_points

        return read_points(points, "POINTS")
    assert data is not None
    table = _codes(model, data, n_rows, seed) if model else _pixels(data, n_rows, seed)
    distinct = np.unique(table, axis=0)
    if len(distinct) < len(table):
        typer.echo(
            f"{len(table) - len(distinct):,} of {len(table):,} images repeat others, "
            "and are left out.",
            err=True,
        )
    return distinct


def _codes(model: Path, data: str, n_rows: int, seed: int) -> Any:
    from unbraid import load
    from unbraid.metrics import encode_some

    network = load(model)
    dataset = open_for_model(network, data, model)
    if tuple(dataset.image_shape) != network.image_shape:
        raise ValueError(
            f"factorize: the model takes images of shape {network.image_shape}, but "
            f"the data have shape {tuple(dataset.image_shape)}."
        )
    return encode_some(network, dataset, n_rows, seed).codes


def _pixels(data: str, n_rows: int, seed: int) -> Any:
    import numpy as np

    from unbraid.foundation import numpy_generator

    dataset = open_data(data)
    rows = np.arange(len(dataset))
    if len(rows) > n_rows:
        generator = numpy_generator(seed, "factorize")
        rows = np.sort(generator.choice(len(rows), n_rows, replace=False))
    return dataset.images(rows)


def _fit(
    table: Any,
    *,
    dimension: int | None,
    neighbors: int | None,
    gamma: float | None,
    eigenvalues: int,
    seed: int,
) -> "Geomancer":
    from unbraid.foundation import format_duration
    from unbraid.geometry import Geomancer, check_points, geomancer_cost
    from unbraid.geometry import intrinsic_dimension as estimate

    # Images in a file become rows; everything else that is wrong is said.
    table = check_points(table.reshape(len(table), -1) if table.ndim > 2 else table)
    n_points, n_ambient = table.shape
    if dimension is None and n_points > 2:
        dimension = max(1, min(n_ambient, round(estimate(table, seed=seed))))
        typer.echo(f"Estimated dimension: {dimension}", err=True)
    # What is refused at once costs nothing.
    if (dimension or 1) <= n_ambient and (neighbors or 1) < n_points:
        cost = geomancer_cost(
            n_points,
            n_ambient,
            dimension or 1,
            n_neighbors=neighbors,
            n_eigenvectors=eigenvalues,
        )
        typer.echo(
            f"{n_points:,} points of {n_ambient} coordinates: about "
            f"{format_duration(cost.seconds)} and {max(cost.megabytes, 1):,.0f} MB on "
            "one core",
            err=True,
        )
    return Geomancer(
        dimension, neighbors, gamma, n_eigenvectors=eigenvalues, seed=seed
    ).fit(table)


def _facts(fitted: "Geomancer", n_points: int, out: Path) -> dict[str, Any]:
    return {
        "n_points": n_points,
        "n_coordinates": fitted.n_features_in_,
        "dimension": fitted.dimension_,
        "n_neighbors": fitted.n_neighbors_,
        "is_product": fitted.is_product_,
        "summary": fitted.summary(),
        "dimensions": list(fitted.dimensions_),
        "factors": [
            {"dimension": size, "is_flat": is_flat}
            for size, is_flat in zip(fitted.dimensions_, fitted.is_flat_, strict=True)
        ],
        "confidence": fitted.confidence_,
        "gap": fitted.gap_,
        "coherence": fitted.coherence_,
        "agreement": fitted.agreement_,
        "n_parallel": fitted.n_parallel_,
        "spectrum": [float(value) for value in fitted.spectrum_],
        "scale": fitted.scale_,
        "picture": str(out),
    }


def _print_findings(fitted: "Geomancer") -> None:
    summary = fitted.summary()
    typer.echo(f"Found: {summary}.")
    print_table(
        ("factor", "dimension", "holonomy"),
        [
            (str(number), str(size), "none (flat)" if is_flat else "yes")
            for number, (size, is_flat) in enumerate(
                zip(fitted.dimensions_, fitted.is_flat_, strict=True), start=1
            )
        ],
    )
    if fitted.dimension_ == 1:
        return
    values = "  ".join(f"{value:.4g}" for value in fitted.spectrum_)
    typer.echo(f"eigenvalues  {values}")
    typer.echo(
        f"confidence {fitted.confidence_:.2f} (gap {fitted.gap_:.2f}, from 0.50 on; "
        f"coherence {fitted.coherence_:.2f}, from 0.90 on)"
    )


def _is_bases(content: bytes) -> bool:
    """Whether a file is one that ``--bases`` wrote."""
    import io
    import zipfile

    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False
    return bool(names) and all(name.startswith("factor_") for name in names)


def _write_bases(fitted: "Geomancer", path: Path) -> None:
    import numpy as np

    from unbraid.foundation import atomic_write

    arrays: dict[str, Any] = {
        f"factor_{number}": part
        for number, part in enumerate(fitted.components_, start=1)
    }
    with atomic_write(path, follow=True) as file:
        np.savez(file, **arrays)
