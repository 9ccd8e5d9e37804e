import agent as benchmark
import pytest
import torch

from unbraid.agents import LearningSettings
from unbraid.data import float_images

TINY = benchmark.Length(
    train=2,
    train_monet=1,
    explored=20,
    updates=2,
    learning=LearningSettings(max_steps=10, every=5, n_tests=2, n_candidates=4),
)


def test_the_ideal_encoder_reads_position_and_color():
    rows = range(50)
    codes = benchmark.encode_ideally(float_images(benchmark.OBJECTS, rows))
    factors = benchmark.OBJECTS.factors(rows)
    # A triangle is not symmetric, and may be cut off at the border.
    is_disc = factors[:, 2] == 2
    expected = torch.from_numpy(factors[is_disc, :2])
    found = (codes[is_disc, :2] * 15 / 16 + 1) / 2
    assert (found - expected).abs().max() < 0.02


def test_a_rotation_lowers_the_mig():
    ideal = benchmark.measure_mig(benchmark.encode_ideally)
    rotated = benchmark.measure_mig(benchmark.encode_rotated)
    assert rotated < ideal - 0.1


@pytest.mark.parametrize("name", ["rotated", "vae"])
def test_a_result_is_kept_and_summarized(tmp_path, name):
    row = benchmark.measure(name, TINY, 2, tmp_path)
    assert len(row["curves"]) == 2
    kept = (tmp_path / f"{name}.json").stat().st_mtime_ns
    assert benchmark.measure(name, TINY, 2, tmp_path) == row
    assert (tmp_path / f"{name}.json").stat().st_mtime_ns == kept
    table = benchmark.summarize([row])
    assert table.splitlines()[2].startswith(f"| {name} | {row['mig']:.2f} | ")
    benchmark.draw_curves([row], tmp_path / "agent.png")
    assert (tmp_path / "agent.png").read_bytes().startswith(b"\x89PNG")


def test_the_correlation_is_over_runs():
    def row(mig, *steps):
        curves = [{"steps": [each], "success_rates": [1.0]} for each in steps]
        return {"mig": mig, "curves": curves}

    rows = [row(0.1, 300, 200), row(0.5, 100), row(None, 7)]
    # Ranks 1.5, 1.5, 3 and 3, 2, 1.
    assert benchmark.correlate_with_mig(rows) == pytest.approx(-(3**0.5) / 2)


def test_the_masks_of_monet_are_drawn(tmp_path):
    model = benchmark.make_encoder("monet", TINY, tmp_path)
    benchmark.draw_masks_of(model, tmp_path / "masks.png")
    assert (tmp_path / "masks.png").read_bytes().startswith(b"\x89PNG")
