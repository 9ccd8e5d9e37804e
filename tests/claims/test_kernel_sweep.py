"""The sweep over learned kernels of Table A.6."""

import itertools
import json

import pytest

from unbraid.perception import learn_loss
from unbraid_claims import CLAIMS, reproduce
from unbraid_claims.claims import michlo_figure_6_1 as sweep

NAME = "michlo-figure-6-1"
KERNEL = {"name": "kernel_augmented", "kernel": [[1.0]], "weight": 2.0}


class Kept:
    """Evidence with a result for every kernel at the published size."""

    def __init__(self, rank):
        self.rank, self.names = rank, []

    def at(self, *, smoke, mini, paper):
        return paper

    def cached(self, name, compute):
        self.names.append(name)
        if name.endswith("pixels"):
            return 0.5
        _, radius, rate = (part.split()[-1] for part in name.split(", "))
        return {"loss": KERNEL, "rank": self.rank(int(radius), float(rate))}


def test_the_published_sweep_has_the_32_kernels_of_table_a_6():
    size = sweep._PAPER
    expected = itertools.product((8, 4, 2, 1), (15, 31, 47, 64), (1e-3, 5e-4))
    assert set(size.cells()) == set(expected)
    assert (size.steps, size.batch_size, size.n_pairs) == (28_800, 512, 4_096)
    evidence = Kept(lambda radius, rate: 0.9)
    CLAIMS[NAME].measure(evidence)
    assert len([name for name in evidence.names if "radius" in name]) == 32


@pytest.mark.parametrize(
    ("rank", "failed"),
    [
        (lambda radius, rate: 0.6 + radius / 1000 + rate, set()),
        (lambda radius, rate: 0.6 - radius / 1000 + rate, {"by the largest"}),
        (lambda radius, rate: 0.4 + radius / 1000 + rate, {"over squared error"}),
        (lambda radius, rate: 0.6 + radius / 1000 - rate, {"learning rate"}),
    ],
)
def test_the_claim_holds_if_its_parts_do(rank, failed):
    checks = CLAIMS[NAME].measure(Kept(rank)).checks
    assert len(checks) == 9
    broken = [check.quantity for check in checks if check.verdict != "holds"]
    assert all(any(part in quantity for part in failed) for quantity in broken)
    assert bool(broken) == bool(failed)


def test_the_sweep_continues_where_it_was_interrupted(tmp_path, monkeypatch):
    radii = []

    def learn_some(dataset, **options):
        if len(radii) == 3:
            raise KeyboardInterrupt
        radii.append(options["radius"])
        return learn_loss(dataset, **options)

    monkeypatch.setattr(sweep, "learn_loss", learn_some)
    with pytest.raises(KeyboardInterrupt):
        reproduce(NAME, "smoke", out=tmp_path)
    folder = tmp_path / "smoke" / NAME
    kept = {path.name: path.read_bytes() for path in folder.glob("*radius*")}
    assert len(kept) == 3
    radii[:] = [None] * 4
    finding = reproduce(NAME, "smoke", out=tmp_path)
    assert len(radii) == 4 + 8 - 3
    assert all((folder / name).read_bytes() == kept[name] for name in kept)
    assert (folder / "figure.png").is_file()
    loss = json.loads((folder / sorted(kept)[0]).read_text())["result"]["loss"]
    assert loss["name"] == "kernel_augmented"
    assert finding.verdict == "cannot be told"
