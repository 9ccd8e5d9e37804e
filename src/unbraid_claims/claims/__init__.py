"""A file per published claim."""

from .estermann_figure_1 import CLAIM as ESTERMANN_FIGURE_1
from .estermann_figure_2 import CLAIM as ESTERMANN_FIGURE_2
from .estermann_figure_4 import CLAIM as ESTERMANN_FIGURE_4
from .estermann_figure_5 import CLAIM as ESTERMANN_FIGURE_5
from .estermann_figure_6 import CLAIM as ESTERMANN_FIGURE_6
from .holtz_figure_4a import CLAIM as HOLTZ_FIGURE_4A
from .holtz_table_1 import CLAIM as HOLTZ_TABLE_1
from .holtz_table_3 import CLAIM as HOLTZ_TABLE_3
from .holtz_table_4 import CLAIM as HOLTZ_TABLE_4
from .locatello_capacity_order import CLAIM as LOCATELLO_CAPACITY_ORDER
from .locatello_downstream import CLAIM as LOCATELLO_DOWNSTREAM
from .locatello_impossibility import CLAIM as LOCATELLO_IMPOSSIBILITY
from .locatello_metric_agreement import CLAIM as LOCATELLO_METRIC_AGREEMENT
from .locatello_missing_factor import CLAIM as LOCATELLO_MISSING_FACTOR
from .locatello_selection import CLAIM as LOCATELLO_SELECTION
from .locatello_total_correlation import CLAIM as LOCATELLO_TOTAL_CORRELATION
from .locatello_transfer import CLAIM as LOCATELLO_TRANSFER
from .locatello_variance import CLAIM as LOCATELLO_VARIANCE
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
from .ottlik_compute import CLAIM as OTTLIK_COMPUTE
from .ottlik_encoder_size import CLAIM as OTTLIK_ENCODER_SIZE
from .ottlik_geomancer import CLAIM as OTTLIK_GEOMANCER

ALL = (
    HOLTZ_TABLE_1,
    HOLTZ_FIGURE_4A,
    HOLTZ_TABLE_3,
    HOLTZ_TABLE_4,
    LOCATELLO_IMPOSSIBILITY,
    LOCATELLO_TOTAL_CORRELATION,
    LOCATELLO_METRIC_AGREEMENT,
    LOCATELLO_VARIANCE,
    LOCATELLO_SELECTION,
    LOCATELLO_TRANSFER,
    LOCATELLO_DOWNSTREAM,
    LOCATELLO_CAPACITY_ORDER,
    LOCATELLO_MISSING_FACTOR,
    ESTERMANN_FIGURE_1,
    ESTERMANN_FIGURE_2,
    ESTERMANN_FIGURE_4,
    ESTERMANN_FIGURE_5,
    ESTERMANN_FIGURE_6,
    OTTLIK_COMPUTE,
    OTTLIK_ENCODER_SIZE,
    OTTLIK_GEOMANCER,
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
