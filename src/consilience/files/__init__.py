"""From files to views, and files written whole or not at all."""

from .content import KINDS, Content
from .encoders import (
    CategoriesEncoder,
    CountsEncoder,
    LinksEncoder,
    NumbersEncoder,
    SimilaritiesEncoder,
    TextEncoder,
    Weighting,
)
from .formats import InputFiles
from .prepare import Part, Prepared, classes_for, encode, entities, prepare
from .read import Reading, read_files
from .spec import ViewSpec, parse_view
from .write import check_complete, check_folder, check_free, whole_file, whole_folder

__all__ = [
    "KINDS",
    "CategoriesEncoder",
    "Content",
    "CountsEncoder",
    "InputFiles",
    "LinksEncoder",
    "NumbersEncoder",
    "Part",
    "Prepared",
    "Reading",
    "SimilaritiesEncoder",
    "TextEncoder",
    "ViewSpec",
    "Weighting",
    "check_complete",
    "check_folder",
    "check_free",
    "classes_for",
    "encode",
    "entities",
    "parse_view",
    "prepare",
    "read_files",
    "whole_file",
    "whole_folder",
]
