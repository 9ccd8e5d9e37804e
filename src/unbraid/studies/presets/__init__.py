"""Published sweeps, a file per paper: plain data of study files, by scale."""

from ._dlib_2019 import dlib_2019
from ._holtz_2022 import holtz_2022
from ._michlo_2022_adaptive import (
    michlo_2022_a5_1,
    michlo_2022_a5_2,
    michlo_2022_a5_3,
)
from ._michlo_2022_distances import (
    michlo_2022_a3_1,
    michlo_2022_a3_2,
    michlo_2022_a3_3,
    michlo_2022_a4,
    michlo_2022_a6,
    michlo_2022_a7_1,
    michlo_2022_a7_2,
)
from ._scales import SCALES, Plain

__all__ = [
    "SCALES",
    "Plain",
    "dlib_2019",
    "holtz_2022",
    "michlo_2022_a3_1",
    "michlo_2022_a3_2",
    "michlo_2022_a3_3",
    "michlo_2022_a4",
    "michlo_2022_a5_1",
    "michlo_2022_a5_2",
    "michlo_2022_a5_3",
    "michlo_2022_a6",
    "michlo_2022_a7_1",
    "michlo_2022_a7_2",
]
