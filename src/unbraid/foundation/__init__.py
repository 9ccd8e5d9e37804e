"""Shared basics that know nothing about data or models, and do not import torch."""

from ._correlation import Correlation, correlate, is_constant, tied
from ._durations import format_duration, parse_duration
from ._errors import (
    CheckpointFormatError,
    DataFormatError,
    DatasetNotFoundError,
    DownloadError,
    FolderInUseError,
    NewerFormatError,
    NotEnoughMemoryError,
    TrainingDivergedError,
    UnbraidError,
    naming,
)
from ._extensions import Catalog, Joined, PackageCatalog, class_reader, import_extra
from ._figures import label_of, new_figure, tidy
from ._files import (
    atomic_write,
    cache_folder,
    delete_own_files,
    is_part,
    printable_name,
    require_own_file,
    require_regular,
    require_space,
    set_aside,
)
from ._html import html_table
from ._interruption import deferred_interruption
from ._json_files import (
    FORMAT,
    is_our_json,
    parse_record,
    read_checked_json,
    read_json,
    write_json,
)
from ._locks import is_locked, locked
from ._memory import format_bytes, require_memory
from ._n_jobs import count_jobs
from ._paths import MOST_TEXT_BYTES, expand_user, read_text, require_regular_file
from ._randomness import check_seed, hashed_bytes, numpy_generator, torch_generator
from ._sections import Section, Whole, suggest
from ._settings import OMIT_NONE, from_plain, make_record, to_plain
from ._validation import (
    are_whole,
    check_finite,
    check_integer,
    check_integers,
    check_number,
    check_option,
    check_positive,
    check_sequence,
    check_shape,
    is_number,
    is_whole,
)
from ._yaml import MOST_CHARACTERS, read_yaml, write_yaml

__all__ = [
    "Catalog",
    "CheckpointFormatError",
    "Correlation",
    "DataFormatError",
    "DatasetNotFoundError",
    "DownloadError",
    "FORMAT",
    "FolderInUseError",
    "Joined",
    "MOST_CHARACTERS",
    "MOST_TEXT_BYTES",
    "NewerFormatError",
    "NotEnoughMemoryError",
    "OMIT_NONE",
    "PackageCatalog",
    "Section",
    "TrainingDivergedError",
    "UnbraidError",
    "Whole",
    "are_whole",
    "cache_folder",
    "check_finite",
    "check_integer",
    "check_integers",
    "check_number",
    "check_option",
    "check_positive",
    "check_seed",
    "check_sequence",
    "check_shape",
    "class_reader",
    "correlate",
    "count_jobs",
    "deferred_interruption",
    "delete_own_files",
    "import_extra",
    "read_checked_json",
    "expand_user",
    "format_bytes",
    "from_plain",
    "hashed_bytes",
    "format_duration",
    "html_table",
    "is_constant",
    "is_locked",
    "is_number",
    "is_our_json",
    "is_part",
    "is_whole",
    "label_of",
    "locked",
    "make_record",
    "naming",
    "suggest",
    "new_figure",
    "numpy_generator",
    "printable_name",
    "parse_duration",
    "read_json",
    "read_text",
    "parse_record",
    "read_yaml",
    "require_memory",
    "require_own_file",
    "require_regular",
    "require_regular_file",
    "require_space",
    "set_aside",
    "tidy",
    "tied",
    "to_plain",
    "torch_generator",
    "write_json",
    "write_yaml",
    "atomic_write",
]
