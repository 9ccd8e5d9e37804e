"""Published sweeps, a file per paper: plain data of study files, by scale."""

from ._dlib_2019 import dlib_2019
from ._estermann_2020 import (
    estermann_2020_fig1,
    estermann_2020_fig2,
    estermann_2020_fig4,
    estermann_2020_fig4_plain,
    estermann_2020_fig5,
    estermann_2020_fig6,
)
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
    "estermann_2020_fig1",
    "estermann_2020_fig2",
    "estermann_2020_fig4",
    "estermann_2020_fig4_plain",
    "estermann_2020_fig5",
    "estermann_2020_fig6",
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
