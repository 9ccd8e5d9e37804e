"""Images per second of training with disent; runs in disent's environment.

As its README trains: Lightning, its BetaVae, its 64x64 networks, its DataLoader with a
worker per core. Arguments: ``conv`` or ``mini``, batch size, seconds, threads (0 leaves
torch's choice). Prints one JSON object with images per second.
"""

import json
import logging
import math
import os
import sys
import time
import warnings

warnings.simplefilter("ignore")

import lightning  # noqa: E402  (must look for torchvision before it is stood in)
import torch  # noqa: E402
from data_disent import stand_in_for_torchvision  # noqa: E402
from torch import nn  # noqa: E402

WARM_UP_STEPS = 10


class Stopwatch(lightning.Callback):
    """Counts steps after the first few, and stops the trainer in time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.n_steps, self.start = seconds, -WARM_UP_STEPS, 0.0

    def on_train_batch_end(self, trainer, *_) -> None:
        """Count a step."""
        self.n_steps += 1
        if self.n_steps == 0:
            self.start = time.perf_counter()
        self.spent = time.perf_counter() - self.start
        if self.n_steps > 0 and self.spent > self.seconds:
            trainer.should_stop = True


def dense_networks(shape, n_latents):
    """The dense network of our miniatures, in disent's wrappers."""
    from disent.model import DisentDecoder, DisentEncoder

    n_pixels = math.prod(shape)

    class Encoder(DisentEncoder):
        def __init__(self):
            super().__init__(x_shape=shape, z_size=n_latents, z_multiplier=2)
            self.layers = nn.Sequential(
                nn.Flatten(), nn.Linear(n_pixels, 256), nn.ReLU(), nn.Linear(256, 256),
                nn.ReLU(), nn.Linear(256, 2 * n_latents),
            )  # fmt: skip

        def encode(self, x):
            return self.layers(x)

    class Decoder(DisentDecoder):
        def __init__(self):
            super().__init__(x_shape=shape, z_size=n_latents, z_multiplier=1)
            self.layers = nn.Sequential(
                nn.Linear(n_latents, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                nn.Linear(256, n_pixels), nn.Unflatten(1, shape),
            )  # fmt: skip

        def decode(self, z):
            return self.layers(z)

    return Encoder(), Decoder()


def main() -> None:
    """Train for a while."""
    kind, batch, seconds, threads = sys.argv[1], *map(float, sys.argv[2:5])
    if threads:
        torch.set_num_threads(int(threads))
    stand_in_for_torchvision()
    from disent.dataset import DisentDataset
    from disent.dataset.data import XYObjectData, XYSquaresData
    from disent.dataset.sampling import SingleSampler
    from disent.dataset.transform import ToImgTensorF32
    from disent.frameworks.vae import BetaVae
    from disent.model import AutoEncoder
    from disent.model.ae import DecoderConv64, EncoderConv64

    logging.getLogger("lightning").setLevel(logging.ERROR)
    if kind == "conv":
        data = XYObjectData()
        encoder = EncoderConv64(x_shape=data.x_shape, z_size=10, z_multiplier=2)
        decoder = DecoderConv64(x_shape=data.x_shape, z_size=10)
    else:
        data = XYSquaresData(square_size=1, image_size=8)
        encoder, decoder = dense_networks(data.x_shape, 10)
    dataset = DisentDataset(data, SingleSampler(), transform=ToImgTensorF32())
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=int(batch), shuffle=True, num_workers=os.cpu_count()
    )
    framework = BetaVae(
        model=AutoEncoder(encoder=encoder, decoder=decoder),
        cfg=BetaVae.cfg(optimizer="adam", optimizer_kwargs={"lr": 1e-3}, beta=0.01),
    )
    watch = Stopwatch(seconds)
    trainer = lightning.Trainer(
        max_steps=-1,
        max_epochs=-1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[watch],
        accelerator="cpu",
    )
    trainer.fit(framework, loader)
    print(json.dumps({"rate": watch.n_steps * batch / watch.spent}))


if __name__ == "__main__":
    main()
