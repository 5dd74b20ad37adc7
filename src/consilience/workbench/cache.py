"""Clusterings on disk by the decisions that lead to them, so that a run opens again at once.

The files are copies of what can be computed again from the run and its decisions: losing them costs time only.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._tuning import Tuning
from .._version import __version__
from .decisions import compute_check
from .knowledge import Entry

FOLDER = ".workbench"
tuning = Tuning(
    max_files=60,
    max_memory=100,  # clusterings
)


def compute_key(run_key: str, entries: Sequence[Entry]) -> str:
    """Return a name for the clustering after some decisions, which another version may compute otherwise."""
    digest = hashlib.sha256(f"{__version__} {run_key}".encode())
    for entry in entries:
        digest.update(f"{entry['number']} {compute_check(entry)};".encode())
    return digest.hexdigest()[:24]


class StoredClustering(NamedTuple):
    """What a clustering is restored from."""

    labels: np.ndarray  # (n,)
    effects: tuple[str, ...]  # of the last decision, in sentences
    without_effect: tuple[int, ...]  # numbers of the decisions that have no effect


class ClusteringCache:
    """Stored clusterings by key, in memory and in a folder.

    Parameters
    ----------
    folder : Path or None
        Folder of the run; None to keep clusterings in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = None if folder is None else folder / FOLDER
        self._memory: dict[str, StoredClustering] = {}
        self._mutex = threading.Lock()

    def get(self, key: str, n_items: int) -> StoredClustering | None:
        """Return a clustering, or None if it is not stored or damaged."""
        with self._mutex:
            return self._read(key, n_items)

    def _read(self, key: str, n_items: int) -> StoredClustering | None:
        if key in self._memory:
            return self._memory[key]
        if self.folder is None:
            return None
        try:
            content = BytesIO((self.folder / f"{key}.npz").read_bytes())
            with np.load(content, allow_pickle=False) as archive:
                labels = archive["labels"]
                effects = json.loads(str(archive["effects"]))
                without_effect = json.loads(str(archive["without_effect"]))
        except Exception:  # a damaged archive raises errors of many kinds
            return None
        if labels.shape != (n_items,) or labels.dtype != np.int32 or labels.min(initial=0) < -1:
            return None
        if type(effects) is not list or any(type(effect) is not str for effect in effects):
            return None
        if type(without_effect) is not list or any(type(number) is not int for number in without_effect):
            return None
        self._remember(key, StoredClustering(labels.astype(np.int64), tuple(effects), tuple(without_effect)))
        return self._memory[key]

    def put(self, key: str, clustering: StoredClustering) -> None:
        """Store a clustering; if the disk is full, it is kept in memory only."""
        with self._mutex:
            self._write(key, clustering)

    def _write(self, key: str, clustering: StoredClustering) -> None:
        self._remember(key, clustering)
        if self.folder is None:
            return
        temporary = self.folder / f"{key}.{os.getpid()}.tmp"
        try:
            self.folder.mkdir(exist_ok=True)
            archive = BytesIO()
            np.savez_compressed(
                archive,
                labels=clustering.labels.astype(np.int32),
                effects=json.dumps(clustering.effects),
                without_effect=json.dumps(clustering.without_effect),
            )
            temporary.write_bytes(archive.getvalue())
            os.replace(temporary, self.folder / f"{key}.npz")
            self._remove_oldest()
        except OSError:
            with suppress(OSError):
                temporary.unlink()

    def _remember(self, key: str, clustering: StoredClustering) -> None:
        self._memory[key] = clustering
        if len(self._memory) > tuning.max_memory:
            del self._memory[next(iter(self._memory))]

    def _remove_oldest(self) -> None:
        assert self.folder is not None
        files = list(self.folder.glob("*.npz"))
        if len(files) > tuning.max_files:
            ordered = sorted(files, key=lambda file: file.stat().st_mtime)
            for file in [*ordered[: len(files) - tuning.max_files], *self.folder.glob("*.tmp")]:
                with suppress(OSError):
                    file.unlink()
