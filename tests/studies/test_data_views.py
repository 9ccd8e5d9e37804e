"""Studies whose data are views by name: each is trained on and scored as it says."""

import pytest

import unbraid
from unbraid.data import open_dataset
from unbraid.metrics import evaluate
from unbraid.studies import study_table

NAME = "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false"
DATA = [
    NAME,
    f"{NAME}+noise:p=0.3",
    f"{NAME}+labels:n=40",
    f"{NAME}+correlate:first=x_R,second=y_R,width=0.3",
    f"{NAME}+without:x_R=[0,1],y_R=0",
]


@pytest.mark.parametrize("data", DATA, ids=lambda text: text.partition("+")[2])
def test_a_study_file_takes_a_view(run_here, tmp_path, data):
    run_here(data=data)
    table = study_table(tmp_path / "study")
    assert table["data"].tolist() == [data]
    folder = next((tmp_path / "study" / "runs").iterdir())
    card = evaluate(
        unbraid.load(folder),
        open_dataset(data),
        metrics=["mig"],
        rows=64,
        intervals=False,
        levels=False,
        progress=False,
    )
    assert table["score.mig"].tolist() == [float(card["mig"])]


def test_views_are_swept_over_as_other_data_are(run_here, tmp_path):
    run_here(grid={"data": DATA})
    table = study_table(tmp_path / "study").set_index("data")
    assert sorted(table.index) == sorted(DATA)
    assert table["id"].nunique() == len(DATA)
    scores = table["score.mig"]
    # The same images and another eye: noise changes the score and not the model.
    assert scores[DATA[1]] < scores[DATA[0]]
