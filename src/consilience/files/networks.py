"""Networks in ONNX files of strangers, which contain no code but may never end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import numpy as np

ENDING = 5.0  # seconds that a network has to end when it is interrupted

T = TypeVar("T")


def open_network(path: Path) -> Any:
    """Open an ONNX file as a session of onnxruntime."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(f"{path}: ONNX models need onnxruntime: pip install 'consilience[onnx]'") from error
    try:
        return call_in_thread(lambda: onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]))
    except Exception as error:  # onnxruntime has a class per kind of failure, without a common one
        raise ValueError(f"{path} is not an ONNX model that can be run: {error}") from error


def run_network(path: Path, session: Any, output: str, inputs: Mapping[str, np.ndarray], what: str) -> np.ndarray:
    """Return one output of the network that was opened from a file; `what` are its inputs, for messages."""
    from onnxruntime import RunOptions

    options = RunOptions()

    def stop() -> None:
        options.terminate = True

    try:
        return call_in_thread(lambda: session.run([output], dict(inputs), options)[0], stop)
    except Exception as error:  # as above
        raise ValueError(f"{path} fails on {what}: {error}") from error


def call_in_thread(function: Callable[[], T], stop: Callable[[], None] = lambda: None) -> T:
    """Call a function in a thread, so that Ctrl-C ends the wait for it; `stop` tells the function to end.

    Python handles signals in the main thread only, and only between its own instructions.
    """
    outcome: Future[T] = Future()

    def work() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        return outcome.result()
    finally:
        if not outcome.done():
            stop()
            wait([outcome], ENDING)
