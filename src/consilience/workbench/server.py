"""The web server of the workbench, which answers only the person who started it.

It listens on this machine only. The address of the page has a token in its fragment, which no request contains; the
page exchanges the token for a key that accompanies every further request. Other users see the arguments of the command
that opens a browser, so that the address in them has another token, which is valid once. Requests that other sites
cause are refused, and have no key: there are no cookies. Files are served from a table of names, never from a path.
"""

from __future__ import annotations

import errno
import json
import logging
import re
import secrets
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.errors import FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl

from .._tuning import Tuning
from .decisions import DISK_FULL, ReadOnlyError
from .errors import Contradiction, NotReadyError, OutdatedError, abbreviate

logger = logging.getLogger("consilience")

HOST = "127.0.0.1"
MAX_BODY_BYTES = 4_000_000
MAX_DISCARDED_BYTES = 16_000_000  # of a refused body, so that the client can read why it is refused
MAX_TEXT_LENGTH = 10_000
tuning = Tuning(poll_seconds=25)  # how long a request for the state waits for a change
IDLE_SECONDS = 60  # after which a connection without requests is closed
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
}
STATIC_SUFFIXES = (".html", ".js", ".css", ".svg")
SHARED_PARTS = ("unpack", "map_points", "map_labels", "map_lasso")  # of the script of the report
SHARED_NAMES = (
    "nowhere", "Lines", "unpack", "unpackAll", "makeMasks", "makeCurve", "paintPoints", "measureCrowd", "indexPoints",
    "rowsWithin", "drawShape", "placeNames", "drawNames",
)  # fmt: skip
SESSION_PATH = "/api/session"
BAD_HEADERS = {FirstHeaderLineIsContinuationDefect, MissingHeaderBodySeparatorDefect}  # the lines after them are lost


@dataclass(frozen=True)
class Route:
    """What answers a request: a function of the workbench and of the values of the query or of the body.

    Values that are named here are checked, and all are required but the optional ones. The body of a route with
    `takes_any` is checked by the workbench.
    """

    answer: Callable[[Any, dict[str, Any]], Any]
    integers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    takes_any: bool = False


@dataclass(frozen=True)
class Content:
    """The body of a response, and what it is."""

    body: bytes
    media_type: str
    file_name: str | None = None  # under which a browser saves it


class RefusedRequestError(Exception):
    """A request that is answered with an error."""

    def __init__(
        self,
        status: HTTPStatus,
        sentence: str,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, dict(headers or {})
        self.content = encode_json({"error": sentence, **(details or {})})


def answer_state(workbench: Any, values: dict[str, Any]) -> Any:
    """Wait until the state is another than the page has, and describe it."""
    if "after" in values:
        workbench.wait_for_change(values["after"], tuning.poll_seconds)
    return workbench.describe_state(values.get("clustering", -1))


def answer_questions(workbench: Any, values: dict[str, Any]) -> Any:
    """List the next questions, without the pairs that the page names as ``1-2,5-7``."""
    skip = values.get("skip", "")
    if not re.fullmatch(r"(\d{1,9}-\d{1,9}(,\d{1,9}-\d{1,9})*)?", skip, re.ASCII):
        raise ValueError(f"skip must be pairs of rows such as 1-2,5-7, got {abbreviate(skip)}")
    pairs = [pair.split("-") for pair in skip.split(",") if pair]
    return workbench.list_questions(values.get("n", 1), [(int(first), int(second)) for first, second in pairs])


ROUTES = {
    ("GET", "/api/items"): Route(lambda workbench, _: workbench.describe_items()),
    ("GET", "/api/state"): Route(
        answer_state, integers=("after", "clustering"), optional=("after", "clustering")
    ),
    ("GET", "/api/item"): Route(lambda workbench, values: workbench.describe_item(values["row"]), integers=("row",)),
    ("GET", "/api/group"): Route(
        lambda workbench, values: workbench.describe_group(values["number"]), integers=("number",)
    ),
    ("GET", "/api/search"): Route(lambda workbench, values: workbench.search(values["q"]), texts=("q",)),
    ("GET", "/api/questions"): Route(
        answer_questions, integers=("n",), texts=("skip",), optional=("n", "skip")
    ),
    ("GET", "/api/propagation"): Route(
        lambda workbench, values: workbench.describe_propagation(values["decision"]), integers=("decision",)
    ),
    ("GET", "/api/diff"): Route(
        lambda workbench, values: workbench.compare_versions(values["first"], values["second"]),
        integers=("first", "second"),
    ),
    ("GET", "/api/export"): Route(
        lambda workbench, _: Content(workbench.export_constraints().encode(), MEDIA_TYPES[".csv"], "constraints.csv")
    ),
    ("POST", "/api/decide"): Route(lambda workbench, values: workbench.decide(values), takes_any=True),
    ("POST", "/api/answer"): Route(lambda workbench, values: workbench.answer(values), takes_any=True),
    ("POST", "/api/undo"): Route(lambda workbench, values: workbench.undo(values["number"]), integers=("number",)),
    ("POST", "/api/redo"): Route(lambda workbench, values: workbench.redo(values["number"]), integers=("number",)),
    ("POST", "/api/cancel"): Route(lambda workbench, _: workbench.cancel()),
    ("POST", "/api/keep"): Route(lambda workbench, values: workbench.keep_version(values["name"]), texts=("name",)),
    ("POST", "/api/revert"): Route(
        lambda workbench, values: workbench.revert(values["version"]), integers=("version",)
    ),
    ("POST", "/api/save"): Route(lambda workbench, values: workbench.save_as(values["folder"]), texts=("folder",)),
}  # fmt: skip
SESSION_ROUTE = Route(lambda server, values: server.exchange_token(values["token"]), texts=("token",))


class WorkbenchServer:
    """The server of one workbench, on a port of this machine.

    Parameters
    ----------
    workbench : Workbench
        What answers the requests.
    port : int, default=0
        Port to listen on; 0 chooses a free one.

    Examples
    --------
    >>> from consilience.workbench.server import WorkbenchServer
    >>> with WorkbenchServer(workbench=None) as server:
    ...     server.address.startswith("http://127.0.0.1:"), "#token=" in server.url
    (True, True)
    """

    def __init__(self, workbench: Any, port: int = 0) -> None:
        self.workbench = workbench
        self.static_files = read_static_files()
        self._token, self._key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._launch_token: str | None = None  # valid once
        self._mutex = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_closed = threading.Event()
        try:
            self._listener = Listener(self, port)
        except (OSError, OverflowError) as error:
            number = getattr(error, "errno", None) or errno.EADDRNOTAVAIL
            raise OSError(
                number, f"cannot listen on port {port}: {error}; choose another port, or 0 for one that is free"
            ) from error
        self.port: int = self._listener.server_address[1]
        names = [HOST, "localhost"]
        self.hosts = {f"{name}:{self.port}" for name in names} | ({*names} if self.port == 80 else set())

    @property
    def address(self) -> str:
        """Address of the page without a token, for a browser that has a key."""
        return f"http://{HOST}:{self.port}/"

    @property
    def url(self) -> str:
        """Address of the page with a token that is valid until the server is closed, in any number of browsers."""
        return f"{self.address}#token={self._token}"

    def make_launch_url(self) -> str:
        """Return an address of the page with a new token that is valid once, for the command that opens a browser."""
        self._launch_token = secrets.token_urlsafe(32)
        return f"{self.address}#token={self._launch_token}"

    def start(self) -> None:
        """Answer requests in a thread, until `close`."""
        with self._mutex:
            if self._is_closed.is_set():
                raise RuntimeError("the server has been closed: create another one")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._listener.serve_forever, args=(0.1,), name="consilience-server", daemon=True
                )
                self._thread.start()

    def wait(self) -> None:
        """Return after Ctrl-C, which closes the server, or after `close`."""
        with suppress(KeyboardInterrupt):
            while not self._is_closed.wait(0.5):  # without a time limit, Windows does not notice Ctrl-C
                pass
        self.close()

    def serve(self) -> None:
        """Answer requests until Ctrl-C, or until another thread calls `close`."""
        self.start()
        self.wait()

    def close(self) -> None:
        """Stop listening and end all connections."""
        with self._mutex:
            thread, self._thread = self._thread, None
            self._is_closed.set()
        if thread is not None:
            self._listener.shutdown()
            thread.join()
        self._listener.server_close()
        self._listener.end_connections()

    def __enter__(self) -> WorkbenchServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def exchange_token(self, token: str) -> dict[str, str]:
        """Return the key for a token; that of a launched browser is void from then on."""
        with self._mutex:
            if not is_equal_secret(token, self._token):
                if self._launch_token is None or not is_equal_secret(token, self._launch_token):
                    raise RefusedRequestError(
                        HTTPStatus.FORBIDDEN,
                        "the token is wrong or was used before: open the address that the workbench has shown",
                    )
                self._launch_token = None
            return {"key": self._key}

    def accepts_key(self, authorization: str) -> bool:
        """Whether an Authorization header has the key."""
        return is_equal_secret(authorization, f"Bearer {self._key}")


def is_equal_secret(text: str, secret: str) -> bool:
    """Compare a text with a secret in a time that does not tell how much of it is right."""
    return secrets.compare_digest(text.encode("utf-8", "replace"), secret.encode("ascii"))


class Listener(ThreadingHTTPServer):
    """The listening socket, with one thread per connection."""

    daemon_threads = True
    request_queue_size = 32
    allow_reuse_address = sys.platform != "win32"  # on Windows, another program could then listen on the port too

    def __init__(self, owner: WorkbenchServer, port: int) -> None:
        self.owner = owner
        self._connections: set[socket.socket] = set()
        self._mutex = threading.Lock()
        super().__init__((HOST, port), RequestHandler)

    def server_bind(self) -> None:
        """Bind the socket, without the name lookup of HTTPServer, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember a connection and answer it in a thread."""
        with self._mutex:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection and forget it."""
        with self._mutex:
            self._connections.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        """End all connections; their threads close them."""
        with self._mutex:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log an error of a connection, such as one that the browser has ended."""
        logger.debug("a connection to the workbench has failed", exc_info=True)


class RequestHandler(BaseHTTPRequestHandler):
    """Answer the requests of one connection."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    server: Listener

    def handle_request(self) -> None:
        """Check a request, answer it, and answer errors as JSON."""
        try:
            status, content, headers = HTTPStatus.OK, self._answer(), {}
        except RefusedRequestError as error:
            self._discard_body()
            status, content, headers = error.status, error.content, error.headers
        self._send(status, content, headers)

    do_GET = do_HEAD = do_POST = do_OPTIONS = do_PUT = do_DELETE = do_PATCH = handle_request

    def _answer(self) -> Content:
        """Return the content for a request, or raise RefusedRequestError."""
        self._body_is_read = False
        if self._has_bad_headers():
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "a header of the request is not valid")
        owner, method = self.server.owner, self.command
        path, _, query = self.path.partition("?")  # compared as it is, never decoded
        self._check_origin()
        if method == "OPTIONS":
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, "requests from other sites are refused")
        if not path.startswith("/api/"):
            return self._find_file(path)
        if path == SESSION_PATH:
            self._check_method({"POST"})
            return call_route(SESSION_ROUTE, owner, self._read_body())
        if not owner.accepts_key(self.headers.get("Authorization", "")):
            raise RefusedRequestError(
                HTTPStatus.UNAUTHORIZED,
                "the key is missing or wrong: open the address that the workbench showed at its start",
                {"WWW-Authenticate": "Bearer"},
            )
        methods = {method for method, name in ROUTES if name == path}
        if not methods:
            raise RefusedRequestError(HTTPStatus.NOT_FOUND, "there is nothing at this address")
        self._check_method(methods)
        route = ROUTES[method, path]
        if method == "POST":
            return call_route(route, owner.workbench, self._read_body())
        return call_route(route, owner.workbench, parse_query(query, route))

    def _check_origin(self) -> None:
        """Refuse requests of other sites, and those that reach this server under another name."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].strip().lower() not in self.server.owner.hosts:
            raise RefusedRequestError(
                HTTPStatus.FORBIDDEN, f"this is not the address of the workbench: use {self.server.owner.address}"
            )
        origins = {origin.strip().lower() for origin in self.headers.get_all("Origin", [])}
        sites = {site.strip().lower() for site in self.headers.get_all("Sec-Fetch-Site", [])}
        if not origins <= {f"http://{hosts[0].strip().lower()}"}:
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, "requests from other sites are refused")
        if not sites <= {"same-origin", "none"} and not self._is_followed_link():
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, "requests from other sites are refused")

    def _is_followed_link(self) -> bool:
        """Whether a link on another page, such as a notebook, opens the page, which has no secrets, in a tab."""
        mode, kind = self.headers.get_all("Sec-Fetch-Mode", []), self.headers.get_all("Sec-Fetch-Dest", [])
        return self.command == "GET" and self.path == "/" and mode == ["navigate"] and kind == ["document"]

    def _check_method(self, methods: set[str]) -> None:
        if self.command not in methods:
            raise RefusedRequestError(
                HTTPStatus.METHOD_NOT_ALLOWED,
                f"{self.command} is not allowed here: use {' or '.join(sorted(methods))}",
                {"Allow": ", ".join(sorted(methods))},
            )

    def _find_file(self, path: str) -> Content:
        content = self.server.owner.static_files.get(path)
        if content is None:
            raise RefusedRequestError(HTTPStatus.NOT_FOUND, "there is nothing at this address")
        self._check_method({"GET", "HEAD"})
        return content

    def _read_body(self) -> dict[str, Any]:
        """Return the JSON object in the body of a request."""
        lengths = self.headers.get_all("Content-Length", [])
        if not lengths or "Transfer-Encoding" in self.headers:
            raise RefusedRequestError(HTTPStatus.LENGTH_REQUIRED, "the request must have a Content-Length")
        n_bytes = self._get_length()
        if n_bytes is None:
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "the Content-Length must be one number")
        if n_bytes > MAX_BODY_BYTES:
            raise RefusedRequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the request has {n_bytes} bytes, and at most {MAX_BODY_BYTES} are allowed",
            )
        if self.headers.get_content_type() != "application/json":
            raise RefusedRequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json")
        body = self.rfile.read(n_bytes)
        self._body_is_read = True
        if len(body) < n_bytes:
            self.close_connection = True
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "the request ended before its body was complete")
        return parse_body(body)

    def _get_length(self) -> int | None:
        """Return the length of the body; None if it is unknown."""
        lengths = {length.strip() for length in self.headers.get_all("Content-Length", ["0"])}
        length = lengths.pop()
        is_number = not lengths and re.fullmatch(r"[0-9]{1,15}", length) is not None
        is_unknown = "Transfer-Encoding" in self.headers or self._has_bad_headers()
        return int(length) if is_number and not is_unknown else None

    def _has_bad_headers(self) -> bool:
        return not BAD_HEADERS.isdisjoint(map(type, self.headers.defects))

    def _discard_body(self) -> None:
        """Read the body of a refused request, so that it is not taken for the next one."""
        n_bytes = 0 if self._body_is_read else self._get_length()
        if n_bytes is None or n_bytes > MAX_DISCARDED_BYTES:
            self.close_connection = True
            return
        while n_bytes:
            chunk = self.rfile.read(min(n_bytes, 65536))
            if not chunk:
                self.close_connection = True
                return
            n_bytes -= len(chunk)

    def _send(self, status: HTTPStatus, content: Content, headers: Mapping[str, str]) -> None:
        """Send a response with the headers that all responses have."""
        if self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.0"  # responses of HTTP/0.9 have no headers
        if self.command in ("GET", "HEAD") and self._get_length() != 0:
            self.close_connection = True  # the body, which these methods do not have, is not read
        try:
            self.send_response(status)
            for name, value in {**HEADERS, **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Type", content.media_type)
            self.send_header("Content-Length", str(len(content.body)))
            if content.file_name is not None:
                self.send_header("Content-Disposition", f'attachment; filename="{content.file_name}"')
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content.body)
        except (ConnectionError, TimeoutError):  # the browser has ended the connection
            self.close_connection = True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that is not HTTP or has an unknown method."""
        self.close_connection = True
        if code == HTTPStatus.NOT_IMPLEMENTED:
            code = HTTPStatus.METHOD_NOT_ALLOWED
        if "headers" not in self.__dict__:
            self.headers = self.MessageClass()
        status = HTTPStatus(code)
        self._send(status, encode_json({"error": f"the request is not valid: {status.phrase.lower()}"}), {})

    def version_string(self) -> str:
        """Name of the server, without versions."""
        return "consilience"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing: the terminal belongs to the person who started the workbench."""


def call_route(route: Route, workbench: Any, values: dict[str, Any]) -> Content:
    """Return what a route answers; raise RefusedRequestError with the status of the error if it fails."""
    try:
        answer = route.answer(workbench, values if route.takes_any else check_values(values, route))
    except RefusedRequestError:
        raise
    except Exception as error:
        raise build_refusal(error) from error
    if type(answer) is Content:
        return answer
    try:
        return encode_json({} if answer is None else answer)
    except Exception as error:
        logger.exception("an answer of the workbench is not JSON")
        raise RefusedRequestError(HTTPStatus.INTERNAL_SERVER_ERROR, describe_unexpected(error)) from error


def build_refusal(error: Exception) -> RefusedRequestError:
    """Return the response to an error of the workbench."""
    sentence = str(error)
    match error:
        case Contradiction():
            choices = [
                [{"number": number, "sentence": text} for number, text in decisions] for decisions in error.choices
            ]
            contradiction = {"sentence": sentence, "replaced": error.replaced, "choices": choices}
            return RefusedRequestError(HTTPStatus.CONFLICT, sentence, details={"contradiction": contradiction})
        case OutdatedError():
            return RefusedRequestError(HTTPStatus.CONFLICT, sentence)
        case NotReadyError():
            return RefusedRequestError(HTTPStatus.SERVICE_UNAVAILABLE, sentence, {"Retry-After": "1"})
        case ReadOnlyError():
            return RefusedRequestError(HTTPStatus.FORBIDDEN, sentence)
        case ValueError():
            logger.debug("a request to the workbench was not valid", exc_info=error)
            return RefusedRequestError(HTTPStatus.BAD_REQUEST, sentence)
        case OSError() if error.errno in DISK_FULL:
            return RefusedRequestError(HTTPStatus.INSUFFICIENT_STORAGE, error.strerror or sentence)
    logger.error("an unexpected error in the workbench", exc_info=error)
    sentence = getattr(error, "strerror", None) or describe_unexpected(error)
    return RefusedRequestError(HTTPStatus.INTERNAL_SERVER_ERROR, sentence)


def describe_unexpected(error: Exception) -> str:
    """Return a sentence about an error without its details, which are in the log."""
    return f"an unexpected error occurred ({type(error).__name__}): the log has the details"


def encode_json(answer: Any) -> Content:
    """Return an answer as JSON."""
    return Content(json.dumps(answer, allow_nan=False, separators=(",", ":")).encode("ascii"), MEDIA_TYPES[".json"])


def parse_body(body: bytes) -> dict[str, Any]:
    """Return the JSON object in the body of a request."""
    try:
        values = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "the body of the request is not JSON") from error
    if type(values) is not dict:
        raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "the body of the request is not a JSON object")
    return values


def parse_query(query: str, route: Route) -> dict[str, Any]:
    """Return the values of a query, with integers where the route has them."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError as error:
        raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "the query of the address is not valid") from error
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, f"{abbreviate(name)} is in the address more than once")
        is_integer = name in route.integers and re.fullmatch(r"-?[0-9]{1,15}", value) is not None
        values[name] = int(value) if is_integer else value
    return values


def check_values(values: dict[str, Any], route: Route) -> dict[str, Any]:
    """Return the values that a route uses; raise ValueError if one is missing or of another type."""
    checked = {}
    for names, kind, description in ((route.integers, int, "an integer"), (route.texts, str, "text")):
        for name in names:
            if name in values:
                if type(values[name]) is not kind:
                    raise ValueError(f"{name} must be {description}, got {abbreviate(values[name])}")
                if kind is str and len(values[name]) > MAX_TEXT_LENGTH:
                    raise ValueError(f"{name} may have at most {MAX_TEXT_LENGTH} characters")
                checked[name] = values[name]
            elif name not in route.optional:
                raise ValueError(f"{name} is missing")
    return checked


def read_static_files() -> dict[str, Content]:
    """Return all files that the server serves, by the paths of their addresses."""
    package, report = files("consilience.workbench"), files("consilience") / "report"
    table = {}
    for file in (package / "web").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if file.is_file() and suffix in STATIC_SUFFIXES:
            table[f"/{file.name}"] = Content(file.read_bytes(), MEDIA_TYPES[suffix])
    if "/index.html" in table:
        table["/"] = table["/index.html"]
    for path, name in (("/report.css", "style.css"), ("/map.css", "map.css")):
        table[path] = Content((report / name).read_bytes(), MEDIA_TYPES[".css"])
    table["/shared.js"] = Content(build_shared_script().encode("utf-8"), MEDIA_TYPES[".js"])
    return table


def build_shared_script() -> str:
    """Return the parts of the report's script that the workbench uses, as one module."""
    folder = files("consilience") / "report" / "script"
    colors = (folder / "map_colors.js").read_text("utf-8")
    constant = next(line for line in colors.splitlines() if line.startswith("const nowhere ="))
    parts = [(folder / f"{name}.js").read_text("utf-8") for name in SHARED_PARTS]
    return "\n".join([constant, *parts, f"export {{ {', '.join(SHARED_NAMES)} }};", ""])
