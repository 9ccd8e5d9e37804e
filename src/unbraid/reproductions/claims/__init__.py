"""A file per published claim."""

from .locatello_total_correlation import CLAIM as LOCATELLO_TOTAL_CORRELATION
from .michlo_figure_3_12 import CLAIM as MICHLO_FIGURE_3_12
from .michlo_table_3_1 import CLAIM as MICHLO_TABLE_3_1

ALL = (
    LOCATELLO_TOTAL_CORRELATION,
    MICHLO_TABLE_3_1,
    MICHLO_FIGURE_3_12,
)
