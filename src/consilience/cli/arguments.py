"""The subcommands and their arguments; each subcommand is implemented in a module of its name."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from ..registry import DEFAULT_METHOD, list_estimators
from .terminal import Terminal

Command = Callable[[argparse.Namespace, Terminal], None]
EPILOG = """exit codes: 0 success; 1 an error in the data or files (a sentence says what); 2 an error in the arguments;
3 a bug in consilience (--debug shows where); 130 stopped by Ctrl-C. Results are written completely or not at all."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    parser = argparse.ArgumentParser(
        prog="consilience",
        description="Find groups in data that is described in several ways at once.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for add_command in (_add_cluster, _add_methods, _add_compare, _add_predict, _add_report, _add_datasets):
        add_command(commands)
    return parser


def add_common_options(parser: argparse.ArgumentParser, load_command: Callable[[], Command]) -> None:
    """Add the options of every command, and the function that imports the command."""
    parser.set_defaults(load_command=load_command)
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def parse_path_argument(text: str) -> str:
    """Refuse an empty path, which would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty: name a file or a folder")
    return text


def parse_integer(text: str, minimum: int = 0) -> int:
    """Parse an integer that is not below a minimum."""
    if not text.isdecimal() or int(text) < minimum:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of {minimum} or more")
    return int(text)


parse_positive = partial(parse_integer, minimum=1)


def _parse_n_clusters(text: str) -> str:
    if text not in ("auto", "small-groups") and (not text.isdecimal() or int(text) < 1):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of clusters, auto or small-groups")
    return text


def _parse_outliers(text: str) -> float | str:
    """Parse a share between 0 and 0.5, or auto."""
    if text == "auto":
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a share between 0 and 0.5 nor auto")
    return share


def _parse_dataset(text: str) -> str:
    """Refuse the name of a data set that cannot be written."""
    from ..datasets import FETCHERS

    names = ["word-senses", *FETCHERS]
    if text not in names:
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(map(repr, names))})")
    return text


def _add_command(
    commands: argparse._SubParsersAction, name: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add a subcommand, which imports its module when it runs."""
    subparser = commands.add_parser(
        name,
        help=description,
        description=f"{description[0].upper()}{description[1:]}{'' if description.endswith('?') else '.'}",
        epilog=f"examples:\n{examples}\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def load_command() -> Command:
        from importlib import import_module

        return getattr(import_module(f".{name}", __package__), f"run_{name}")

    add_common_options(subparser, load_command)
    return subparser


def _add_data_options(subparser: argparse.ArgumentParser, required: bool = True, kinds: bool = True) -> None:
    subparser.add_argument(
        "--view",
        action="append",
        default=None if required else [],
        required=required,
        metavar="NAME=FILE[:COLUMNS]",
        help="a view; repeat the option for each view. Formats: CSV, TSV, Parquet, JSONL, NPY, NPZ, Matrix Market, "
        "SVMlight, H5AD, H5MU. Select columns of a table after a colon: names separated by commas, or a pattern such "
        "as pixel_*",
    )
    if kinds:
        subparser.add_argument(
            "--kind",
            action="append",
            default=[],
            metavar="NAME=KIND",
            help="override the detected kind of a view: numbers, counts, text, names (short strings, compared by their "
            "letters), categories, links (an edge list) or similarities",
        )
        subparser.add_argument(
            "--encode",
            action="append",
            default=[],
            metavar="NAME=ENCODING",
            help="how a view of text, names or links becomes numbers. Text and names: words (the default), lsa, "
            "semantic, or the path of a local model. Links: rows of neighbors (the default), graph, or smooth, which "
            "averages the other views along the links. Join several by +",
        )
    subparser.add_argument(
        "--id",
        metavar="COLUMN",
        help="column that identifies the entities and joins the views (default: id); COLUMN,COLUMN if the files call "
        "it differently",
    )
    subparser.add_argument(
        "--mapping",
        action="append",
        default=[],
        type=parse_path_argument,
        metavar="FILE",
        help="table of two columns, called like two views: their ids of the same entity. It joins views with different "
        "ids; repeat the option for each pair of views",
    )
    subparser.add_argument("--delimiter", metavar="CHARACTER", help="field delimiter of CSV files (default: detected)")


def _add_clustering_options(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "-k",
        type=_parse_n_clusters,
        default="auto",
        metavar="N",
        help="number of clusters; auto (the default) chooses the number with the most support; small-groups finds "
        "duplicates and other groups of a few entities",
    )
    subparser.add_argument("--seed", type=parse_integer, default=0, help="random seed (default: %(default)s)")
    subparser.add_argument(
        "--labels",
        metavar="COLUMN",
        help="known classes, for scoring only: a column of a view's file, or FILE, or FILE:COLUMN",
    )


def _add_output_options(subparser: argparse.ArgumentParser, default: str | None, description: str) -> None:
    subparser.add_argument("--out", type=parse_path_argument, default=default, metavar="PATH", help=description)
    subparser.add_argument("--force", action="store_true", help="overwrite existing results")


def _add_cluster(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "cluster",
        "cluster files that describe the same entities, and write labels, a model and a report",
        "  consilience cluster --view text=papers.csv:abstract --view links=citations.csv --id paper -k 7\n"
        "  consilience cluster --view clinic=clinic.csv --view genes=genes.parquet --id patient --out run1\n"
        "  consilience cluster --view a=all.csv:a_* --view b=all.csv:b_* --labels class --method co-em\n"
        "  consilience cluster --view a=all.csv:a_* --view b=all.csv:b_* -k 3 --method co-em --set eta=1\n"
        "  consilience cluster --view cells.h5mu --labels cell_type -k 9\n"
        "  consilience cluster --view text=text.npz --view same=similarity.npy --kind same=similarities -k 5",
    )
    _add_data_options(subparser)
    _add_clustering_options(subparser)
    methods = list_estimators()
    titles = "; ".join(f"{name}: {method.title}" for name, method in methods.items())
    subparser.add_argument(
        "--method",
        choices=["auto", *methods],
        default="auto",
        help=f"{titles} (default: auto, which is {DEFAULT_METHOD})",
    )
    subparser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the method, or NAME.VIEW=VALUE for one view; repeat --set for more options (`consilience "
        "methods METHOD` lists them)",
    )
    subparser.add_argument(
        "--constraints",
        metavar="FILE",
        help="table of two ids, must or cannot, and optionally a weight and the view in which the constraint was given "
        "(methods consilience and constrained)",
    )
    subparser.add_argument(
        "--seeds",
        metavar="COLUMN",
        help="known classes of some entities, which the fit uses; named like --labels, empty where unknown "
        f"(methods {', '.join(name for name, method in methods.items() if method.takes_seeds)}, and those that take "
        "constraints)",
    )
    subparser.add_argument(
        "--outliers",
        type=_parse_outliers,
        metavar="SHARE",
        help="share of the entities to leave out of all clusters (label -1), or auto (default: none is left out)",
    )
    subparser.add_argument(
        "--no-assess",
        dest="assess",
        action="store_false",
        help="skip the assessment of how reliable the clusters are, which takes about as long as the fit",
    )
    subparser.add_argument("--title", help="title of the report")
    _add_output_options(
        subparser,
        "consilience-out",
        "folder for labels.csv, summary.json, model.zip, report.html (default: %(default)s)",
    )


def _add_methods(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "methods",
        "list the methods, or the options of one method for --set",
        "  consilience methods\n  consilience methods co-em",
    )
    subparser.add_argument("method", nargs="?", choices=list(list_estimators()), metavar="METHOD", help="the method")


def _add_compare(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "compare",
        "compare all suitable methods and baselines: do several views help, and which method is best?",
        "  consilience compare --view text=papers.csv:abstract --view links=citations.csv --labels field -k 7",
    )
    _add_data_options(subparser)
    _add_clustering_options(subparser)
    subparser.add_argument(
        "--refits",
        type=parse_integer,
        default=5,
        help="fits on random samples that measure stability (default: %(default)s)",
    )
    subparser.add_argument(
        "--assess",
        action="store_true",
        help="assess how reliable each result is, which takes further fits of each method",
    )
    subparser.set_defaults(method="auto", settings=[], constraints=None, seeds=None)
    _add_output_options(subparser, None, "JSON file for the table and its description")


def _add_predict(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "predict",
        "assign new entities to the clusters of a model",
        "  consilience predict consilience-out/model.zip --view text=new.csv:abstract > labels.csv",
    )
    subparser.add_argument("model", metavar="MODEL", help="model.zip, or the folder that contains it")
    _add_data_options(subparser, kinds=False)
    _add_output_options(subparser, None, "file for the labels (default: standard output)")


def _add_report(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "report",
        "write the report of a run again, without fitting again",
        "  consilience report consilience-out --labels class --force",
    )
    subparser.add_argument("folder", metavar="FOLDER", help="folder written by `consilience cluster`")
    _add_data_options(subparser, required=False)
    subparser.add_argument("--labels", metavar="COLUMN", help="known classes, to add scores to the report")
    subparser.add_argument("--title", help="title of the report")
    _add_output_options(subparser, None, "file for the report (default: report.html in the folder)")


def _add_datasets(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "datasets",
        "list the data sets that are included or can be downloaded, or write one as ordinary files",
        "  consilience datasets\n"
        "  consilience datasets word-senses --out senses\n"
        "  CONSILIENCE_DATA=folder consilience datasets cora --out cora",
    )
    subparser.add_argument("name", nargs="?", type=_parse_dataset, metavar="NAME", help="the data set to write")
    _add_output_options(subparser, None, "folder to write to (default: the name of the data set)")
