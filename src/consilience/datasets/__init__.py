"""Data sets: some are part of the package, some are downloaded, and some are synthetic."""

from .dataset import Dataset
from .digits import load_digits_views
from .fetch.linqs import fetch_citeseer, fetch_cora, fetch_webkb_linqs
from .fetch.registry import FETCHERS, where
from .fetch.texts import fetch_bbc, fetch_bbcsport, fetch_cluto, fetch_newsgroups, fetch_reuters
from .fetch.uci import fetch_digits_views, fetch_internet_ads, fetch_letters, fetch_pendigits
from .fetch.webkb import fetch_webkb
from .synthetic import (
    make_corrupted_views,
    make_four_quadrants,
    make_gaussian_views,
    make_overlapping_views,
    make_paired_views,
    make_random_splits,
    make_text_views,
)
from .word_senses import WordSenses, load_word_senses, read_word_senses

__all__ = [
    "FETCHERS",
    "Dataset",
    "WordSenses",
    "fetch_bbc",
    "fetch_bbcsport",
    "fetch_citeseer",
    "fetch_cluto",
    "fetch_cora",
    "fetch_digits_views",
    "fetch_internet_ads",
    "fetch_letters",
    "fetch_newsgroups",
    "fetch_pendigits",
    "fetch_reuters",
    "fetch_webkb",
    "fetch_webkb_linqs",
    "load_digits_views",
    "load_word_senses",
    "make_corrupted_views",
    "make_four_quadrants",
    "make_gaussian_views",
    "make_overlapping_views",
    "make_paired_views",
    "make_random_splits",
    "make_text_views",
    "read_word_senses",
    "where",
]
