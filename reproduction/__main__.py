"""Run the papers' tables and figures: ``python -m reproduction --help``."""

import sys

from consilience.cli import main

from .command import make_parser

if __name__ == "__main__":
    sys.exit(main(parser=make_parser()))
