"""The subcommands and their arguments; each subcommand is implemented in a module of its name."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from .._version import __version__
from ..registry import DEFAULT_METHOD, list_estimators
from .parser import CommandParser, parse_choice
from .terminal import Terminal

Command = Callable[[argparse.Namespace, Terminal], None]
SHELLS = ("bash", "zsh", "fish")
DATASETS = (  # a list of its own, because the data sets import numpy
    *("word-senses", "digits", "letters", "pendigits", "internet-ads", "internet-ads-998", "bbc", "bbc-2", "bbcsport"),
    *("reuters", "reuters-600", "webkb", "webkb-linqs", "cora", "citeseer", "newsgroups"),
    *("cluto-re0", "cluto-fbis", "cluto-la1", "cluto-hitech", "cluto-tr11", "cluto-wap"),
)
EXAMPLES = """  consilience cluster products.csv
  consilience cluster --view text=papers.csv:abstract --view links=citations.csv --out run1
  consilience predict run1 --view text=new.csv > labels.csv"""
EPILOG = """exit codes: 0 success; 1 an error in the data or files (a sentence says what); 2 an error in the arguments;
3 a bug in consilience (--debug shows where); 130 stopped by Ctrl-C. Results are written completely or not at all."""


def build_parser() -> CommandParser:
    """Return the parser of all subcommands."""
    parser = CommandParser(
        prog="consilience",
        description="Find groups in data that is described in several ways at once.",
        epilog=f"examples:\n{EXAMPLES}\n\n`consilience COMMAND --help` describes a command.\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "-V", "--version", action="version", version=f"consilience {__version__}", help="print the version"
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=CommandParser)
    parser.commands = commands.choices
    for add_command in (
        *(_add_cluster, _add_open, _add_predict, _add_update, _add_diff, _add_report, _add_figure, _add_compare),
        _add_methods,
        _add_datasets,
        _add_completion,
    ):
        add_command(commands)
    for name, subparser in parser.commands.items():
        add_common_options(subparser, partial(_load_command, name))
    return parser


def _load_command(name: str) -> Command:
    """Import the function that runs a command."""
    from importlib import import_module

    return getattr(import_module(f".{name}", __package__), f"run_{name}")


def add_common_options(parser: argparse.ArgumentParser, load_command: Callable[[], Command]) -> None:
    """Add the options of every command, and the function that imports the command."""
    parser.set_defaults(load_command=load_command, json=False)
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


def _parse_port(text: str) -> int:
    port = parse_integer(text)
    if port > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return port


parse_positive = partial(parse_integer, minimum=1)


def _parse_n_clusters(text: str) -> int | str:
    if text in ("auto", "small-groups"):
        return text
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of clusters, auto or small-groups")
    return int(text)


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


def _parse_kind(text: str) -> str:
    """Refuse a kind of view that does not exist."""
    from ..files.kinds import KINDS
    from ..files.spec import split_pair

    name, kind = split_pair(text)
    if not (name and kind):
        raise argparse.ArgumentTypeError(f"{text!r} does not have the form NAME=KIND")
    parse_choice("kind", KINDS, kind)
    return text


def _add_command(
    commands: argparse._SubParsersAction[CommandParser], name: str, description: str, examples: str
) -> CommandParser:
    """Add a subcommand."""
    return commands.add_parser(
        name,
        help=description,
        description=f"{description[0].upper()}{description[1:]}{'' if description.endswith('?') else '.'}",
        epilog=f"examples:\n{examples}\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_data_options(subparser: CommandParser, files: bool = True, kinds: bool = True) -> None:
    if files:  # added to the values of --view
        subparser.takes_files = True
        subparser.add_argument(
            "view",
            nargs="*",
            action="extend",
            default=[],
            metavar="FILE",
            help="a file; a table is split into views by the kinds of its columns. Formats: CSV, TSV, Excel, ODS, "
            "Parquet, JSONL, NPY, NPZ, Matrix Market, SVMlight, H5AD, H5MU",
        )
    subparser.add_argument(
        "--view",
        action="append",
        default=[],
        metavar="NAME=FILE[:COLUMNS]",
        help="a view; repeat the option for each view. Select columns of a table after a colon: names separated by "
        "commas, or a pattern such as pixel_*; -NAME leaves a column out. FILE.xlsx#SHEET is a sheet of a workbook",
    )
    if kinds:
        subparser.add_argument(
            "--kind",
            action="append",
            default=[],
            type=_parse_kind,
            metavar="NAME=KIND",
            help="override the detected kind of a view, or of a column of a table that is split: "
            "numbers, counts, text, names (short strings, compared by their letters), "
            "categories, links (an edge list), similarities, images (paths of image files), expression or proteins "
            "(raw counts per cell)",
        )
        subparser.add_argument(
            "--encode",
            action="append",
            default=[],
            metavar="NAME=ENCODING",
            help="how a view becomes numbers; join several by +. Text and names: words, lsa, semantic, or the path of "
            "a local model. Links: rows (of neighbors), graph, or smooth, which averages the other views along the "
            "links. Images: light (shape+texture+color), pixels, or the path of an .onnx file. By default the best "
            "is chosen",
        )
    subparser.add_argument(
        "--id",
        metavar="COLUMN",
        help="column that identifies the entities and joins the views (default: id, or else a column that identifies "
        "the rows); COLUMN,COLUMN if the files call it differently",
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


def _add_describe_option(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "--describe",
        action="append",
        default=[],
        metavar="COLUMNS",
        help="columns that describe the clusters and are not used to find them: names separated by commas, TIME/EVENT "
        "for survival (months/event), or FILE:COLUMNS of another table, joined by its ids",
    )


def _add_output_options(subparser: argparse.ArgumentParser, description: str) -> None:
    subparser.add_argument("--out", type=parse_path_argument, metavar="PATH", help=description)
    subparser.add_argument("--force", action="store_true", help="overwrite existing results")


def _add_names_option(subparser: argparse.ArgumentParser) -> None:
    subparser.add_argument(
        "--names",
        type=parse_path_argument,
        metavar="FILE",
        help="names of clusters in place of the automatic ones: a table with the columns cluster (a number or the "
        "present name) and name, or a JSON object",
    )


def _add_json_option(subparser: argparse.ArgumentParser, content: str) -> None:
    subparser.add_argument("--json", action="store_true", help=f"print {content} as JSON, and nothing else")


def _add_cluster(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "cluster",
        "cluster files that describe the same entities, and write labels, a model and a report",
        "  consilience cluster products.csv\n"
        "  consilience cluster products.xlsx photos.npy links.csv --out run1\n"
        "  consilience cluster --view text=papers.csv:abstract --view links=citations.csv --id paper -k 7\n"
        "  consilience cluster --view clinic=clinic.csv --view genes=genes.parquet --id patient --out run1\n"
        "  consilience cluster patients.csv --describe age,months/event\n"
        "  consilience cluster --view a=all.csv:a_* --view b=all.csv:b_* --labels class --method co-em\n"
        "  consilience cluster --view a=all.csv:a_* --view b=all.csv:b_* -k 3 --method co-em --set eta=1\n"
        "  consilience cluster --view cells.h5mu --labels cell_type -k 9\n"
        "  consilience cluster --view text=text.npz --view same=similarity.npy --kind same=similarities -k 5",
    )
    subparser.usage = (
        "consilience cluster FILE ... [options]\n       consilience cluster --view NAME=FILE[:COLUMNS] ... [options]"
    )
    subparser.description = f"{subparser.description}\nThe simplest use: consilience cluster products.csv"
    _add_data_options(subparser)
    _add_clustering_options(subparser)
    subparser.add_argument(
        "--config",
        type=parse_path_argument,
        metavar="FILE",
        help="settings of an earlier run: the run.toml of its folder. Options of the command line replace its "
        "settings, and add to its lists",
    )
    methods = list_estimators()
    names = ["auto", *methods]
    subparser.add_argument(
        "--method",
        type=partial(parse_choice, "method", names),
        choices=names,
        default="auto",
        metavar="METHOD",
        help=f"{', '.join(names)} (default: auto, which is {DEFAULT_METHOD}); `consilience methods` describes them",
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
    _add_describe_option(subparser)
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
    _add_names_option(subparser)
    subparser.add_argument(
        "--write-back",
        type=parse_path_argument,
        metavar="FILE",
        help="also write a copy of the .h5ad or .h5mu file of the views, with clusters, confidence and a joint "
        "embedding in its obs, obsm and uns",
    )
    _add_output_options(
        subparser,
        "folder for labels, summary, model and report (default: consilience-out, or consilience-out-2 if that exists "
        "...)",
    )
    _add_json_option(subparser, "the summary of the run and its folder")


def _add_open(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "open",
        "look at the groups of a run in the browser, and correct them",
        "  consilience open consilience-out\n  consilience open consilience-out --no-browser --port 8765",
    )
    subparser.add_argument("folder", metavar="RUN", help="folder written by `consilience cluster`")
    subparser.add_argument(
        "--port", type=_parse_port, default=0, help="port of this machine to listen on (default: a free one)"
    )
    subparser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="print the address without opening it"
    )
    _add_data_options(subparser, files=False, kinds=False)
    subparser.add_argument("--labels", metavar="COLUMN", help="known classes, to show how the score changes")
    _add_json_option(subparser, "the address of the page")


def _add_methods(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "methods",
        "list the methods, or the options of one method for --set",
        "  consilience methods\n  consilience methods co-em",
    )
    names = list(list_estimators())
    subparser.add_argument(
        "method",
        nargs="?",
        type=partial(parse_choice, "method", names),
        choices=names,
        metavar="METHOD",
        help="the method whose options to list",
    )
    _add_json_option(subparser, "the list")


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
    _add_output_options(subparser, "JSON file for the table and its description")
    _add_json_option(subparser, "the table and its description")


def _add_predict(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "predict",
        "assign new entities to the clusters of a model",
        "  consilience predict consilience-out new.csv > labels.csv\n"
        "  consilience predict consilience-out/model.zip --view text=new.csv:abstract > labels.csv",
    )
    subparser.add_argument("model", metavar="MODEL", help="model.zip, or the folder that contains it")
    _add_data_options(subparser, kinds=False)
    _add_output_options(subparser, "CSV file for the labels (default: standard output)")
    _add_json_option(subparser, "the labels")


def _add_update(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "update",
        "cluster new data with the settings of an earlier run, keep its numbers and names of clusters, and say what "
        "changed",
        "  consilience update consilience-out june.csv\n"
        "  consilience update consilience-out                      # reads the files of the run again\n"
        "  consilience update may --view text=june.csv:abstract --view links=june-links.csv --out june",
    )
    subparser.add_argument("folder", metavar="RUN", help="folder of the earlier run, which stays as it is")
    _add_data_options(subparser, kinds=False)
    subparser.needs_files = False
    subparser.add_argument(
        "-k", type=_parse_n_clusters, metavar="N", help="number of clusters, or auto, in place of that of RUN"
    )
    subparser.add_argument("--labels", metavar="COLUMN", help="known classes of the new data, for scoring only")
    subparser.add_argument(
        "--seeds", metavar="COLUMN", help="known classes that the fit uses, in place of those of RUN"
    )
    subparser.add_argument("--constraints", metavar="FILE", help="pairs of ids, in place of those of RUN")
    subparser.add_argument("--title", help="title of the report")
    _add_names_option(subparser)
    _add_output_options(
        subparser, "folder for the results (default: consilience-out, or consilience-out-2 if that exists ...)"
    )
    _add_json_option(subparser, "the summary of the run and its folder")


def _add_diff(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "diff",
        "compare the clusters of two runs: what was kept, split, merged, appeared or vanished, and what moved",
        "  consilience diff may june\n  consilience diff may june --out moved.csv",
    )
    subparser.add_argument("first", metavar="RUN1", help="folder of the earlier run")
    subparser.add_argument("second", metavar="RUN2", help="folder of the later run")
    _add_output_options(subparser, "CSV file for the entities that moved")
    _add_json_option(subparser, "the changes")


def _add_report(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "report",
        "write the report of a run again, without fitting again",
        "  consilience report consilience-out --labels class --force\n"
        "  consilience report consilience-out --names names.csv --force",
    )
    subparser.add_argument("folder", metavar="FOLDER", help="folder written by `consilience cluster`")
    _add_data_options(subparser, files=False)
    subparser.add_argument("--labels", metavar="COLUMN", help="known classes, to add scores to the report")
    _add_describe_option(subparser)
    subparser.add_argument("--title", help="title of the report")
    _add_names_option(subparser)
    _add_output_options(
        subparser,
        "file for the report (default: report.html in the folder; with --names, all files of the folder get the names)",
    )


def _parse_groups(text: str) -> list[int]:
    """Parse numbers of groups, separated by commas; repeated ones count once."""
    numbers = [parse_integer(number.strip()) for number in text.split(",")]
    return list(dict.fromkeys(numbers))


def _add_figure(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "figure",
        "draw a figure of a run for a paper, and print its caption",
        "  consilience figure consilience-out --out figure.pdf\n"
        "  consilience figure consilience-out --kind groups --groups 0,3,5 --out groups.svg\n"
        "  consilience figure consilience-out --kind map --width 90 --dpi 600 --out map.png",
    )
    subparser.add_argument("folder", metavar="FOLDER", help="folder written by `consilience cluster`")
    kinds = ("all", "map", "groups", "verdict", "survival", "hierarchy", "described")
    subparser.add_argument(
        "--kind",
        dest="content",
        type=partial(parse_choice, "kind", kinds),
        choices=kinds,
        default="all",
        metavar="KIND",
        help="what to draw: map, groups (what marks each), verdict, survival, hierarchy, described (columns that "
        "describe the groups), or all, the panels of a paper (default: %(default)s)",
    )
    subparser.add_argument(
        "--groups",
        type=_parse_groups,
        metavar="N,N",
        help="numbers of the groups to draw, and to name on the map (default: the largest)",
    )
    subparser.add_argument(
        "--width", type=parse_positive, default=180, metavar="MM", help="width in mm (default: %(default)s)"
    )
    subparser.add_argument(
        "--dpi", type=parse_positive, default=300, help="dots per inch of PNG files and dense points (default: 300)"
    )
    _add_data_options(subparser, files=False, kinds=False)
    _add_output_options(subparser, "file for the figure: .pdf, .svg or .png (default: figure.pdf in the folder)")


def _add_datasets(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "datasets",
        "list the data sets that are included or can be downloaded, or write one as ordinary files",
        "  consilience datasets\n"
        "  consilience datasets word-senses --out senses\n"
        "  CONSILIENCE_DATA=folder consilience datasets cora --out cora",
    )
    subparser.add_argument(
        "name",
        nargs="?",
        type=partial(parse_choice, "data set", DATASETS),
        choices=DATASETS,
        metavar="NAME",
        help="the data set to write",
    )
    _add_output_options(subparser, "folder to write to (default: the name of the data set)")
    _add_json_option(subparser, "the list, or the names of the files")


def _add_completion(commands: argparse._SubParsersAction) -> None:
    subparser = _add_command(
        commands,
        "completion",
        "print a script with which a shell completes commands, options and their values",
        '  eval "$(consilience completion bash)"           # in ~/.bashrc\n'
        '  eval "$(consilience completion zsh)"            # in ~/.zshrc, after compinit\n'
        "  consilience completion fish | source            # in ~/.config/fish/config.fish",
    )
    subparser.add_argument(
        "shell", type=partial(parse_choice, "shell", SHELLS), choices=SHELLS, metavar="SHELL", help="bash, zsh or fish"
    )
    subparser.add_argument("--line", help=argparse.SUPPRESS)  # the line to complete, as the script passes it
