"""A file per published claim."""

from .locatello_total_correlation import CLAIM as LOCATELLO_TOTAL_CORRELATION
from .michlo_figure_3_7 import CLAIM as MICHLO_FIGURE_3_7
from .michlo_figure_3_10 import CLAIM as MICHLO_FIGURE_3_10
from .michlo_figure_3_12 import CLAIM as MICHLO_FIGURE_3_12
from .michlo_figure_4_4 import CLAIM as MICHLO_FIGURE_4_4
from .michlo_figure_5_1 import CLAIM as MICHLO_FIGURE_5_1
from .michlo_figure_5_4 import CLAIM as MICHLO_FIGURE_5_4
from .michlo_figure_5_5 import CLAIM as MICHLO_FIGURE_5_5
from .michlo_figure_5_7 import CLAIM as MICHLO_FIGURE_5_7
from .michlo_figure_6_4 import CLAIM as MICHLO_FIGURE_6_4
from .michlo_figure_7_3 import CLAIM as MICHLO_FIGURE_7_3
from .michlo_figure_7_6 import CLAIM as MICHLO_FIGURE_7_6
from .michlo_table_3_1 import CLAIM as MICHLO_TABLE_3_1
from .michlo_table_4_1 import CLAIM as MICHLO_TABLE_4_1
from .michlo_table_4_2 import CLAIM as MICHLO_TABLE_4_2
from .michlo_table_6_1 import CLAIM as MICHLO_TABLE_6_1

ALL = (
    LOCATELLO_TOTAL_CORRELATION,
    MICHLO_TABLE_3_1,
    MICHLO_FIGURE_3_7,
    MICHLO_FIGURE_3_10,
    MICHLO_FIGURE_3_12,
    MICHLO_TABLE_4_1,
    MICHLO_TABLE_4_2,
    MICHLO_FIGURE_4_4,
    MICHLO_FIGURE_5_1,
    MICHLO_FIGURE_5_4,
    MICHLO_FIGURE_5_5,
    MICHLO_FIGURE_5_7,
    MICHLO_TABLE_6_1,
    MICHLO_FIGURE_6_4,
    MICHLO_FIGURE_7_3,
    MICHLO_FIGURE_7_6,
)
