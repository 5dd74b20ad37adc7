"""Read files as views, and write files completely or not at all."""

from .descriptions import DescriptionColumn
from .encoding import EncodedData, ViewEncoding, encode, fit_and_encode, match_classes
from .formats import FORMATS, FileCollection, FileFormat, FileMatrix, FileTable, InputFiles, read_file, register_format
from .formats.columns import to_column
from .formats.text import open_text, read_lines
from .joining import Entities, collect_ids, join_contents
from .kinds import KINDS, ViewContent
from .mapping import read_table
from .new_data import ModelViews
from .read import InputData, KnownClasses, read_files
from .spec import ViewSpec, parse_view
from .text_encoders import advise_semantic, list_text_candidates
from .write import check_complete, check_output_file, check_output_folder, reserve_folder, stage_file, stage_folder

__all__ = [
    "FORMATS",
    "KINDS",
    "DescriptionColumn",
    "EncodedData",
    "Entities",
    "FileCollection",
    "FileFormat",
    "FileMatrix",
    "FileTable",
    "InputData",
    "InputFiles",
    "KnownClasses",
    "ModelViews",
    "ViewContent",
    "ViewEncoding",
    "ViewSpec",
    "advise_semantic",
    "check_complete",
    "check_output_file",
    "check_output_folder",
    "collect_ids",
    "encode",
    "fit_and_encode",
    "join_contents",
    "list_text_candidates",
    "match_classes",
    "open_text",
    "parse_view",
    "read_file",
    "read_files",
    "read_lines",
    "read_table",
    "register_format",
    "reserve_folder",
    "stage_file",
    "stage_folder",
    "to_column",
]
