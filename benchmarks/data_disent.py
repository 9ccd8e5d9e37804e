"""Images per second of disent's DataLoader pipeline; runs in disent's environment.

Prints one JSON object: name of the setting -> images per second.
"""

import importlib.machinery
import json
import sys
import time
import types
import warnings

warnings.simplefilter("ignore")

import lightning  # noqa: E402, F401  (must look for torchvision before it is stood in)
import torch  # noqa: E402

BATCH = 256


def stand_in_for_torchvision() -> None:
    """Modules that disent imports; only ``to_tensor`` is called on our way."""
    names = ("", ".datasets", ".models", ".transforms", ".transforms.functional")
    modules = {}
    for name in names:
        module = types.ModuleType("torchvision" + name)
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
        sys.modules[module.__name__] = modules[name] = module
    modules[""].transforms = modules[".transforms"]
    modules[".transforms"].functional = modules[".transforms.functional"]
    modules[".datasets"].ImageFolder = object
    modules[".models"].vgg19_bn = None

    def to_tensor(image):
        return torch.from_numpy(image.transpose(2, 0, 1)).contiguous().float().div(255)

    modules[".transforms.functional"].to_tensor = to_tensor


def measure(data, workers: int, seconds: float) -> float:
    """Images per second of shuffled batches, after the first."""
    from disent.dataset import DisentDataset
    from disent.dataset.sampling import SingleSampler
    from disent.dataset.transform import ToImgTensorF32

    dataset = DisentDataset(data, SingleSampler(), transform=ToImgTensorF32())
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=BATCH, shuffle=True, num_workers=workers
    )
    batches = iter(loader)
    next(batches)
    n_images, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        n_images += len(next(batches)["x_targ"][0])
    return n_images / (time.perf_counter() - start)


if __name__ == "__main__":
    stand_in_for_torchvision()
    from disent.dataset.data import XYObjectData, XYSquaresData

    seconds = float(sys.argv[1])
    rates = {}
    for name, data in (("XYSquares", XYSquaresData), ("XYObject", XYObjectData)):
        for workers in (0, 2):
            rates[f"{name}, peer with {workers} workers"] = measure(
                data(), workers, seconds
            )
    print(json.dumps(rates))
