"""Networks in ONNX files that never end."""

import os
import signal
import threading

import numpy as np
import pytest

from consilience.files import networks
from waiting import HANG_LIMIT


def write_endless_network(path):
    """Write a network with a loop whose condition is always true."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    names = [("goes_on", kinds.BOOL, []), ("values", kinds.INT64, ["rows"])]
    inputs = [helper.make_tensor_value_info(*name) for name in [("step", kinds.INT64, []), *names]]
    outputs = [helper.make_tensor_value_info(f"next_{name}", kind, shape) for name, kind, shape in names]
    copies = [helper.make_node("Identity", [name], [f"next_{name}"]) for name, *_ in names]
    body = helper.make_graph(copies, "body", inputs, outputs)
    graph = helper.make_graph(
        [helper.make_node("Loop", ["", "yes", "start"], ["end"], body=body)],
        "endless",
        [helper.make_tensor_value_info("start", kinds.INT64, ["rows"])],
        [helper.make_tensor_value_info("end", kinds.INT64, ["rows"])],
        [onnx.numpy_helper.from_array(np.array(True), "yes")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


class WatchedSession:
    """A session that says when it begins to run, and when it has ended."""

    def __init__(self, session):
        self.session, self.has_begun, self.has_ended = session, threading.Event(), threading.Event()

    def run(self, *arguments):
        self.has_begun.set()
        try:
            return self.session.run(*arguments)
        finally:
            self.has_ended.set()


@pytest.fixture
def interruptible():
    """Handle SIGINT as usual, also if the tests run in the background, where shells ignore it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("interruptible")
def test_interrupt_ends_an_endless_network(tmp_path):
    path = write_endless_network(tmp_path / "endless.onnx")
    session = WatchedSession(networks.open_network(path))

    def interrupt():
        session.has_begun.wait(HANG_LIMIT)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        networks.run_network(path, session, "end", {"start": np.zeros(3, np.int64)}, "three numbers")
    thread.join()
    assert session.has_ended.wait(HANG_LIMIT)
