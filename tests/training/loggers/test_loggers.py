import sys
from types import ModuleType, SimpleNamespace

import pytest

from unbraid.training.loggers import (
    LOGGERS,
    MLflowLogger,
    TensorBoardLogger,
    WandbLogger,
    choose_logger,
)

RECORD = {"step": 5, "total": 2.0, "kl_per_latent": [0.5, 1.5], "active_latents": 2}
SETTINGS = {"steps": 5, "objective": {"name": "vae"}}
POINTS = {"total": 2.0, "kl/0": 0.5, "kl/1": 1.5, "active_latents": 2}


def report(logger, folder=None):
    logger.start(SETTINGS, step=0, folder=folder)
    logger.log(RECORD)
    logger.close()


@pytest.mark.parametrize("name", LOGGERS)
def test_a_missing_extra_is_an_error_with_the_line_that_helps(name, monkeypatch):
    for module in (name, f"torch.utils.{name}"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'unbraid\[{name}\]'"):
        choose_logger(name).start({}, step=0, folder=None)
    choose_logger(name).close()  # before it was started


def test_unknown_loggers_are_refused():
    with pytest.raises(
        ValueError, match="'mlflow', 'tensorboard' or 'wandb', got 'visdom'"
    ):
        choose_logger("visdom")


def test_tensorboard_gets_every_number(monkeypatch, tmp_path):
    seen = {}

    class SummaryWriter:
        def __init__(self, folder, purge_step):
            seen["opened"] = (folder, purge_step)

        def add_scalar(self, name, value, step):
            seen[name] = (value, step)

        def close(self):
            seen["closed"] = True

    module = ModuleType("tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    report(TensorBoardLogger(tmp_path / "elsewhere"), tmp_path)
    assert seen["opened"] == (str(tmp_path / "elsewhere"), 0)
    report(TensorBoardLogger(), tmp_path)
    assert seen.pop("opened") == (str(tmp_path / "tensorboard"), 0)
    assert seen.pop("closed")
    assert seen == {name: (value, 5) for name, value in POINTS.items()}


def test_wandb_gets_every_number(monkeypatch):
    seen = []
    run = SimpleNamespace(
        log=lambda numbers, step: seen.append((numbers, step)),
        finish=lambda: seen.append("finished"),
    )
    module = ModuleType("wandb")
    module.init = lambda **options: seen.append(options) or run
    monkeypatch.setitem(sys.modules, "wandb", module)
    report(WandbLogger("mine", tags=["a"]))
    options = {"project": "mine", "config": SETTINGS, "tags": ["a"]}
    assert seen == [options, (POINTS, 5), "finished"]


def test_mlflow_gets_every_number(monkeypatch):
    seen = []
    module = ModuleType("mlflow")
    module.set_tracking_uri = lambda uri: seen.append(uri)
    module.set_experiment = lambda name: seen.append(name)
    module.start_run = lambda: seen.append("started")
    module.log_params = lambda params: seen.append(params)
    module.log_metrics = lambda numbers, step: seen.append((numbers, step))
    module.end_run = lambda: seen.append("ended")
    monkeypatch.setitem(sys.modules, "mlflow", module)
    report(MLflowLogger("mine", tracking_uri="file:here"))
    params = {"steps": 5, "objective.name": "vae"}
    assert seen == ["file:here", "mine", "started", params, (POINTS, 5), "ended"]
