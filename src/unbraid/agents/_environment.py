"""An environment in which sprites are clicked and pushed into clusters."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data import SPRITE_SHAPES, draw_masks, hues, paint
from unbraid.foundation import (
    check_integer,
    check_number,
    check_option,
    numpy_generator,
)

from ._spaces import Box
from ._task import SUCCESS, clustering_quality, clustering_reward

ClusterBy = Literal["color", "shape"]
_MARGIN = 0.1


class ClusteringEnvironment:
    """Bring the sprites of each kind together, away from those of other kinds.

    The interface is that of ``gymnasium.Env``; the package itself is not needed. An
    observation is an image ``(3, image_size, image_size)`` of bytes. An action is four
    numbers from 0 to 1: where to click (x to the right, y down), and how far to push
    the sprite that is visible there, from ``-push / 2`` (at 0) to ``push / 2`` (at 1)
    along x and y. A click on the background does nothing. Centers stay between 0.1 and
    0.9. The reward rises from -10 to 0, where the episode ends with success: see
    :func:`clustering_quality`.

    ``info`` has the true ``"masks"`` of background and sprites ``(1 + n_sprites,
    height, width)``, their ``"positions"`` and ``"kinds"``, the ``"quality"`` and
    ``"is_success"``.

    Args:
        n_sprites: Number of sprites, at least two for each kind.
        n_kinds: Number of kinds, 2 or 3.
        cluster_by: Property that the sprites of a kind share, ``"color"`` or
            ``"shape"``. The other one is drawn anew for each sprite and episode.
        image_size: Side of the image in pixels.
        size: Size of the sprites, as in ``SpriteScenes``.
        n_colors: Number of hues.
        push: Range of motions along each axis, relative to the side of the image.
        max_steps: Steps after which an episode is truncated.
        seed: Seed of the episodes.

    Example:
        >>> environment = ClusteringEnvironment(image_size=16)
        >>> observation, info = environment.reset(seed=1)
        >>> observation.shape, info["kinds"].tolist()
        ((3, 16, 16), [0, 1, 0, 1])
        >>> action = environment.action_space.sample()
        >>> observation, reward, terminated, truncated, info = environment.step(action)
        >>> reward <= 0, terminated, truncated
        (True, False, False)

    References:
        Watters et al. (2019), COBRA, https://arxiv.org/abs/1905.09275, and Spriteworld,
        https://github.com/deepmind/spriteworld: task, reward and actions.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}  # noqa: RUF012
    render_mode = "rgb_array"

    def __init__(
        self,
        *,
        n_sprites: int = 4,
        n_kinds: int = 2,
        cluster_by: ClusterBy = "color",
        image_size: int = 32,
        size: float = 0.13,
        n_colors: int = 6,
        push: float = 0.5,
        max_steps: int = 20,
        seed: int = 0,
    ) -> None:
        check_integer("n_kinds", n_kinds, least=2, most=3)
        check_integer("n_sprites", n_sprites, least=2 * n_kinds)
        check_option("cluster_by", cluster_by, ClusterBy)
        check_integer("image_size", image_size, least=8)
        check_number("size", size, above=0.0, most=0.5)
        check_integer("n_colors", n_colors, least=n_kinds)
        check_number("push", push, above=0.0)
        check_integer("max_steps", max_steps, least=1)
        self.n_sprites, self.n_kinds, self.cluster_by = n_sprites, n_kinds, cluster_by
        self.image_size, self.size, self.n_colors = image_size, size, n_colors
        self.push, self.max_steps = push, max_steps
        shape = (3, image_size, image_size)
        self.observation_space = Box(0, 255, shape, np.uint8, seed)
        self.action_space = Box(0, 1, (4,), np.float32, seed)
        self._generator = numpy_generator(seed, "clustering environment")
        self._kinds = np.arange(n_sprites) % n_kinds
        self._positions: NDArray[np.float64] | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin an episode with sprites in random positions.

        Args:
            seed: Restart the random numbers from this seed.
            options: Not used.

        Returns:
            Observation and ``info``.
        """
        del options
        if seed is not None:
            self._generator = numpy_generator(seed, "clustering environment")
        generator = self._generator
        self._n_steps = 0
        kinds = self._kinds
        shapes = generator.integers(len(SPRITE_SHAPES), size=self.n_sprites)
        colors = generator.integers(self.n_colors, size=self.n_sprites)
        if self.cluster_by == "color":
            colors = kinds * self.n_colors // self.n_kinds
        else:
            shapes = kinds
        self._shapes, self._colors = shapes, hues(self.n_colors)[colors]
        quality = SUCCESS
        while quality >= SUCCESS:
            shape = (self.n_sprites, 2)
            self._positions = generator.uniform(_MARGIN, 1 - _MARGIN, shape)
            quality = clustering_quality(self._positions, kinds)
        return self._observe()

    def step(
        self, action: ArrayLike
    ) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Click and push.

        Args:
            action: Four numbers from 0 to 1.

        Returns:
            Observation, reward, whether the task is solved, whether the episode is too
            long, and ``info``.
        """
        if self._positions is None:
            raise RuntimeError("Call reset() before step().")
        action = np.asarray(action, np.float64)
        if action not in self.action_space:
            raise ValueError(
                f"An action must be four numbers from 0 to 1, got {action.tolist()}."
            )
        clicked = self._sprite_at(action[:2])
        if clicked is not None:
            moved = self._positions[clicked] + self.push * (action[2:] - 0.5)
            self._positions = self._positions.copy()
            self._positions[clicked] = np.clip(moved, _MARGIN, 1 - _MARGIN)
        self._n_steps += 1
        observation, info = self._observe()
        is_truncated = self._n_steps >= self.max_steps
        reward = clustering_reward(info["quality"])
        return observation, reward, info["is_success"], is_truncated, info

    def render(self) -> NDArray[np.uint8]:
        """Current image, ``(image_size, image_size, 3)``."""
        if self._positions is None:
            raise RuntimeError("Call reset() before render().")
        return self._observe()[0].transpose(1, 2, 0)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _sprite_at(self, click: NDArray[np.float64]) -> int | None:
        """Sprite that is most visible in the clicked pixel, if any is."""
        pixel = np.minimum((click * self.image_size).astype(int), self.image_size - 1)
        visible = int(self._masks[:, pixel[1], pixel[0]].argmax())
        return visible - 1 if visible else None

    def _observe(self) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        assert self._positions is not None
        self._masks = draw_masks(
            self._positions[None],
            self._shapes[None],
            np.full((1, self.n_sprites), self.size),
            image_size=self.image_size,
        )[0]
        quality = clustering_quality(self._positions, self._kinds)
        info = {
            "masks": self._masks,
            "positions": self._positions,
            "kinds": self._kinds.copy(),
            "quality": quality,
            "is_success": quality >= SUCCESS,
        }
        return paint(self._masks[None], self._colors[None])[0], info
