"""Start the workbench of a run and show it in a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from ..pipeline.result import Result
from .opening import find_folder
from .server import WorkbenchServer
from .workbench import Workbench


class RunningWorkbench:
    """The workbench of a run and its server; as a context manager it is closed at the end.

    Attributes
    ----------
    url : str
        Address of the page. Its token is valid until the workbench is closed.
    workbench : Workbench
        The groups and the decisions.
    folder : Path
        Folder of the run, with the decisions.
    """

    def __init__(self, result: Result, folder: str | Path | None = None, port: int = 0) -> None:
        result._run  # noqa: B018 - reads the data, so that errors are raised here
        self.folder = find_folder(result, folder)
        self.workbench = Workbench(result, self.folder)
        try:
            self._server = WorkbenchServer(self.workbench, port)
        except BaseException:
            self.workbench.close()
            raise
        self.url = self._server.url
        self.workbench.start()
        self._server.start()

    def show(self) -> bool:
        """Open the page in the browser; return whether there is one."""
        return webbrowser.open(self._server.make_launch_url())

    def wait(self) -> None:
        """Return after Ctrl-C or `close`."""
        self._server.wait()

    def close(self) -> None:
        """Stop the server and the work, and release the folder."""
        self._server.close()
        self.workbench.close()

    def __repr__(self) -> str:
        return f"<workbench of {self.folder} at {self.url}>"

    def __enter__(self) -> RunningWorkbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
