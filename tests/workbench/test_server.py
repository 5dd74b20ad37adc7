"""The web server of the workbench: who is answered, what is answered, and what is refused."""

import errno
import http.client
import json
import logging
import random
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import pytest

from consilience.workbench import server as server_module
from consilience.workbench.decisions import ReadOnlyError
from consilience.workbench.errors import Contradiction, NotReadyError, OutdatedError
from consilience.workbench.server import MAX_BODY_BYTES, ROUTES, WorkbenchServer
from waiting import HANG_LIMIT, wait_until

SOURCE = Path(server_module.__file__).parents[2]
JSON_TYPE = "application/json"
VALUES = {  # a valid value of every field
    "after": 0, "clustering": 3, "row": 5, "number": 2, "q": "word", "n": 2, "skip": "1-2,5-7", "decision": 4,
    "first": 1, "second": -1, "name": "a name", "version": 6, "folder": "saved",
}  # fmt: skip


class StubWorkbench:
    """Records the calls of the server; returns `result`, or raises `error` if there is one."""

    def __init__(self):
        self.calls, self.result, self.error = [], {"is_stub": True}, None
        self.revision, self.n_waiting, self.changed = 1, 0, threading.Condition()

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, *arguments))
            if self.error is not None:
                raise self.error
            return self.result

        return call

    def export_constraints(self):
        return "id_a,id_b,kind\nä,b,must\n"

    def wait_for_change(self, after, seconds):
        with self.changed:
            self.n_waiting += 1
            self.changed.wait_for(lambda: self.revision != after, seconds)
            self.n_waiting -= 1

    def change(self):
        with self.changed:
            self.revision += 1
            self.changed.notify_all()


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Sends requests to a server, with its key if it has one."""

    def __init__(self, server):
        self.server, self.key = server, None

    @property
    def host(self):
        return f"127.0.0.1:{self.server.port}"

    def log_in(self):
        token = self.server.url.partition("#token=")[2]
        self.key = self.send("POST", "/api/session", {"token": token}).json["key"]
        return self

    def send(self, method, path, body=None, **headers):
        """Send a request. Headers replace the usual ones (`_` stands for `-`); None removes one."""
        content = body if type(body) in (bytes, type(None)) else json.dumps(body).encode()
        usual = {"Host": self.host, "Authorization": self.key and f"Bearer {self.key}"}
        if content is not None:
            usual |= {"Content-Type": JSON_TYPE, "Content-Length": str(len(content))}
        chosen = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=HANG_LIMIT)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in chosen.items():
                for single in value if type(value) is list else [value]:
                    if single is not None:
                        connection.putheader(name, single)
            connection.endheaders(content)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=HANG_LIMIT)

    def exchange(self, content):
        """Send bytes, and return all bytes that are answered."""
        with self.connect() as connection:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            return connection.makefile("rb").read()

    def write_head(self, request, *lines):
        """Return the head of a request with the right Host and key, and other lines."""
        head = [request, f"Host: {self.host}", f"Authorization: Bearer {self.key}", *lines, "", ""]
        return "\r\n".join(head).encode("latin-1")


@contextmanager
def run_server(workbench=None):
    with WorkbenchServer(workbench or StubWorkbench()) as server:
        server.start()
        yield Client(server)


@pytest.fixture(scope="module")
def shared():
    with run_server() as client:
        yield client.log_in()


@pytest.fixture
def client(shared):
    """A client with a key, whose stub has no calls yet."""
    shared.server.workbench.__init__()
    return shared


@pytest.fixture
def stub(client):
    return client.server.workbench


@pytest.fixture
def new_client():
    """A client of a server of its own, without a key."""
    with run_server() as client:
        yield client


def read_statuses(content):
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", content)]


# tokens and keys


def test_token_is_hard_to_guess_and_exchanged_for_the_key(client, new_client):
    address, token = new_client.server.url.split("#token=")
    assert address == new_client.server.address == f"http://127.0.0.1:{new_client.server.port}/"
    assert re.fullmatch(r"[\w-]{43}", token)
    assert client.server.url.split("#token=")[1] != token
    assert new_client.send("GET", "/api/items").status == 401
    for key in ("None", "", "x" * 43, client.key):  # the last is that of another server
        assert new_client.send("GET", "/api/items", Authorization=f"Bearer {key}").status == 401
    key = new_client.log_in().key
    assert new_client.send("GET", "/api/items").json == {"is_stub": True}
    assert new_client.server.url.split("#token=")[1] == token
    assert new_client.log_in().key == key  # as a second browser does
    for secret in (token, key):
        assert new_client.send("GET", f"/api/items?token={secret}&key={secret}", Authorization=None).status == 401


def test_token_of_a_launched_browser_is_void_after_use(new_client):
    """Other users of the machine see the arguments of the command that opens a browser."""
    address, token = new_client.server.make_launch_url().split("#token=")
    assert address == new_client.server.address
    assert re.fullmatch(r"[\w-]{43}", token)
    assert token not in new_client.server.url
    key = new_client.send("POST", "/api/session", {"token": token}).json["key"]
    again = new_client.send("POST", "/api/session", {"token": token})
    assert again.status == 403
    assert "the token is wrong or was used before: open the address" in again.json["error"]
    assert new_client.log_in().key == key
    first, token = (new_client.server.make_launch_url().partition("#token=")[2] for _ in range(2))
    assert new_client.send("POST", "/api/session", {"token": first}).status == 403  # only that of the last is valid
    with ThreadPoolExecutor(20) as pool:  # and gives one key to simultaneous requests
        requests = [pool.submit(new_client.send, "POST", "/api/session", {"token": token}) for _ in range(20)]
        statuses = sorted(request.result().status for request in requests)
    assert statuses == [200] + [403] * 19


def test_wrong_token_is_refused_and_leaves_right_one_valid(new_client):
    for token in ("", "x", "é", "\ud800", "None", "x" * 10_000):
        answer = new_client.send("POST", "/api/session", {"token": token})
        assert answer.status == 403
        assert "the token is wrong or was used before: open the address" in answer.json["error"]
    for body, message in (
        ({}, "token is missing"),
        ({"token": 1}, "token must be text, got 1"),
        ({"token": None}, "token must be text, got None"),
        ({"token": ["x"]}, "token must be text"),
        ({"token": "x" * 10_001}, "token may have at most 10000 characters"),
    ):
        answer = new_client.send("POST", "/api/session", body)
        assert answer.status == 400
        assert message in answer.json["error"]
    token, host = new_client.server.url.partition("#token=")[2], f"evil.example:{new_client.server.port}"
    answer = new_client.send("POST", "/api/session", {"token": token}, Host=host, Origin=f"http://{host}")
    assert answer.status == 403
    assert new_client.log_in().send("GET", "/api/items").status == 200


def test_missing_or_wrong_key_is_refused(client, stub):
    wrong = ["", "Bearer", "Bearer ", "Bearer x", "Bearer None"]
    wrong += [f"Basic {client.key}", f"bearer {client.key}", client.key, f"Bearer {client.key}x"]
    requests = [("GET", "/api/items", value) for value in wrong]
    requests += [("GET", "/api/items", None), ("POST", "/api/decide", None), ("GET", "/api/missing", None)]
    for method, path, value in requests:
        answer = client.send(method, path, {} if method == "POST" else None, Authorization=value)
        assert answer.status == 401, value
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json == {
            "error": "the key is missing or wrong: open the address that the workbench showed at its start"
        }
    assert stub.calls == []


# other hosts and other sites


def test_other_host_is_refused(client, stub):
    hosts = [
        None, "", "evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1", "localhost",
        "127.0.0.1:1", "127.0.0.1:{port}0", "127.0.0.1:0{port}", "0.0.0.0:{port}", "[::1]:{port}", "127.1:{port}",
        "2130706433:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}@evil.example", "127.0.0.1:{port}, evil.example",
        "http://127.0.0.1:{port}", "127.0.0.1:{port}.", "localhost.:{port}",
    ]  # fmt: skip
    hosts = [host and host.replace("{port}", str(client.server.port)) for host in hosts]
    for host in [*hosts, [client.host, client.host], [client.host, "evil.example"]]:
        for path in ("/", "/api/items"):
            answer = client.send("GET", path, Host=host)
            assert answer.status == 403, host
            assert answer.json == {"error": f"this is not the address of the workbench: use {client.server.address}"}
    assert stub.calls == []


def test_names_of_this_machine_are_accepted(client):
    for name in ("127.0.0.1", "localhost", "LocalHost"):
        host = f"{name}:{client.server.port}"
        assert client.send("GET", "/", Host=host).status == 200
        assert client.send("GET", "/api/items", Host=host, Origin=f"http://{host.lower()}").status == 200


def test_other_origin_is_refused(client, stub):
    host, port = client.host, client.server.port
    for origin in [
        "null", "", "http://evil.example", f"https://{host}", "http://127.0.0.1", f"http://localhost:{port}",
        "http://127.0.0.1:1", f"http://{host}.evil.example", f"http://{host}/", host, "file://",
        [f"http://{host}", "http://evil.example"], f"http://{host} http://evil.example",
    ]:  # fmt: skip
        for method, path, body in (("GET", "/api/items", None), ("POST", "/api/decide", {}), ("GET", "/", None)):
            answer = client.send(method, path, body, Origin=origin)
            assert answer.status == 403, origin
            assert answer.json == {"error": "requests from other sites are refused"}
    assert stub.calls == []


def test_requests_that_other_sites_cause_are_refused_except_links_to_the_page(client):
    for path in ("/", "/app.js", "/api/items"):
        for site in ("same-origin", "none"):
            assert client.send("GET", path, Sec_Fetch_Site=site).status == 200
        for site in ("cross-site", "same-site", "", "other", ["same-origin", "cross-site"]):
            assert client.send("GET", path, Sec_Fetch_Site=site).status == 403
    for method, path, mode, kind, status in (
        ("GET", "/", "navigate", "document", 200),
        ("GET", "/", "navigate", "iframe", 403),
        ("GET", "/", "no-cors", "document", 403),
        ("GET", "/app.js", "navigate", "document", 403),
        ("GET", "/api/items", "navigate", "document", 403),
        ("POST", "/", "navigate", "document", 403),
    ):
        headers = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": kind}
        assert client.send(method, path, **headers).status == status


def test_preflight_is_refused(client):
    for path in ("/api/decide", "/api/session", "/", "/missing"):
        for origin in ("http://evil.example", f"http://{client.host}"):
            answer = client.send(
                "OPTIONS", path, Origin=origin, Access_Control_Request_Method="POST",
                Access_Control_Request_Headers="authorization", Access_Control_Request_Private_Network="true",
            )  # fmt: skip
            assert answer.status == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_body_that_a_form_can_send_is_refused(client, stub):
    forms = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    for media_type in [*forms, "application/jsonx", "", None]:
        for path in ("/api/decide", "/api/session"):
            answer = client.send("POST", path, {"token": "x"}, Content_Type=media_type)
            assert answer.status == 415, media_type
            assert answer.json == {"error": "the Content-Type must be application/json"}
    assert stub.calls == []
    assert client.send("POST", "/api/decide", {}, Content_Type="Application/JSON; charset=utf-8").status == 200


# routes


def test_route_passes_values_to_workbench(client, stub):
    for (method, path), route in ROUTES.items():
        stub.calls.clear()
        values = {name: VALUES[name] for name in (*route.integers, *route.texts)}
        if method == "GET":
            query = "&".join(f"{name}={value}" for name, value in values.items())
            answer = client.send("GET", f"{path}?{query}&unknown=1")
        else:
            answer = client.send("POST", path, values)
        assert answer.status == 200, path
        if path != "/api/export":
            (call,) = stub.calls
            assert {str(value) for value in values.values()} - {str(value) for value in call} <= {"0", "1-2,5-7"}
            assert answer.json == {"is_stub": True}


def test_other_methods_are_refused(client, stub):
    for method, path in [*ROUTES, ("POST", "/api/session")]:
        answer = client.send("POST" if method == "GET" else "GET", path, {} if method == "GET" else None)
        assert (answer.status, answer.headers["allow"]) == (405, method), path
    for wrong in ("PUT", "DELETE", "PATCH", "HEAD"):
        answer = client.send(wrong, "/api/items")
        assert (answer.status, answer.headers["allow"]) == (405, "GET")
    for wrong in ("TRACE", "CONNECT", "FOO", "get", "request"):
        answer = client.send(wrong, "/api/items")
        assert answer.status == 405
        assert answer.json == {"error": "the request is not valid: method not allowed"}
    assert stub.calls == []


def test_values_are_decoded_and_may_be_missing(client, stub):
    assert client.send("GET", "/api/state").status == 200
    client.send("GET", "/api/questions?n=3&skip=1-2,5-7")
    client.send("GET", "/api/questions")
    client.send("GET", "/api/search?q=a+b%20%26%C3%A9")
    client.send("GET", "/api/search?q=")
    body = {"action": "apart", "rows": [1, 2], "nested": {"a": [None, 1.5, "é"]}}
    client.send("POST", "/api/decide", body)
    assert stub.calls == [
        ("describe_state", -1),
        ("list_questions", 3, [(1, 2), (5, 7)]),
        ("list_questions", 1, []),
        ("search", "a b &é"),
        ("search", ""),
        ("decide", body),
    ]


def test_export_is_a_file(client):
    answer = client.send("GET", "/api/export")
    assert answer.body.decode() == "id_a,id_b,kind\nä,b,must\n"
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="constraints.csv"'


def test_query_that_is_not_valid_is_refused(client, stub):
    for address, message in [
        ("/api/item", "row is missing"),
        ("/api/item?row=", "row must be an integer, got ''"),
        ("/api/item?row=x", "row must be an integer, got 'x'"),
        ("/api/item?row=1.0", "row must be an integer, got '1.0'"),
        ("/api/item?row=1e3", "row must be an integer"),
        ("/api/item?row=1_0", "row must be an integer"),
        ("/api/item?row=%D9%A3", "row must be an integer, got '٣'"),
        ("/api/item?row=%2B1", "row must be an integer"),
        ("/api/item?row=" + "9" * 5000, "row must be an integer, got '9999999999999999999999999999999999999999"),
        ("/api/item?row=1&row=2", "'row' is in the address more than once"),
        ("/api/item?row=%ff", "the query of the address is not valid"),
        ("/api/item?row=1&" + "&".join(f"a{i}=1" for i in range(20)), "the query of the address is not valid"),
        ("/api/search", "q is missing"),
        ("/api/search?q=" + "x" * 10_001, "q may have at most 10000 characters"),
        ("/api/questions?skip=1", "skip must be pairs of rows such as 1-2,5-7, got '1'"),
        ("/api/questions?skip=1-2,", "skip must be pairs of rows"),
        ("/api/questions?skip=1-2%0A", "skip must be pairs of rows"),
        ("/api/questions?skip=" + "1" * 10 + "-2", "skip must be pairs of rows"),
    ]:
        answer = client.send("GET", address)
        assert answer.status == 400
        assert answer.json["error"].startswith(message)
        assert len(answer.json["error"]) < 200
    assert stub.calls == []


def test_body_that_is_not_valid_is_refused(client, stub):
    numbers = [f'{{"number": {value}}}'.encode() for value in ("true", "1.0", '"1"', "null", "[1]")]
    for path, body, message in [
        *[("undo", body, "number must be an integer, got ") for body in numbers],
        ("keep", b"", "the body of the request is not JSON"),
        ("keep", b"{", "the body of the request is not JSON"),
        ("keep", b"{} {}", "the body of the request is not JSON"),
        ("keep", b"\xff", "the body of the request is not JSON"),
        ("keep", '{"name": "é"}'.encode("utf-16"), "the body of the request is not JSON"),
        ("keep", b"[" * 100_000, "the body of the request is not JSON"),
        ("keep", b'{"a":' * 100_000, "the body of the request is not JSON"),
        ("keep", b'{"name": ' + b"9" * 10_000 + b"}", "the body of the request is not JSON"),
        ("keep", b"[]", "the body of the request is not a JSON object"),
        ("keep", b"null", "the body of the request is not a JSON object"),
        ("keep", b'"name"', "the body of the request is not a JSON object"),
        ("keep", b"{}", "name is missing"),
        ("keep", b'{"name": 1}', "name must be text, got 1"),
        ("keep", b'{"name": ["' + b"x" * 1000 + b'"]}', "name must be text, got ['xxxxxxxx"),
    ]:
        answer = client.send("POST", f"/api/{path}", body)
        assert answer.status == 400
        assert answer.json["error"].startswith(message)
        assert len(answer.json["error"]) < 200
    assert stub.calls == []


# files


def test_address_that_is_not_served_gives_404(client, stub):
    for path in [
        "/decisions.jsonl", "/../decisions.jsonl", "/../../../etc/passwd", "/%2e%2e/server.py", "/..%2fdecisions.jsonl",
        "/..%5cserver.py", "/..\\server.py", "/\\etc\\passwd", "//etc/passwd", "///etc/passwd", "/etc/passwd",
        "/app.js/../../server.py", "/./app.js", "/app.js/", "/app.js%00", "/app.js\x00.css", "/\x00", "/app.js\xff",
        "/APP.JS", "/app%2ejs", "/app.js#", "/web/app.js", "/web", "/.", "/..", "/server.py", "/C:/x", "/C:\\x",
        "app.js", "index.html", "..", "*", "?", "#", "http://{host}/", "http://{host}/app.js", "http://evil.example/",
        "file:///etc/passwd", "http://{host}/api/items", "/API/items", "/%61pi/items", "/favicon.ico",
        "/" + "a" * 60_000,
    ]:  # fmt: skip
        content = client.exchange(
            client.write_head(f"GET {path.format(host=client.host)} HTTP/1.1", "Connection: close")
        )
        assert read_statuses(content) == [404], path
        assert content.endswith(b'{"error":"there is nothing at this address"}')
    assert stub.calls == []


def test_route_that_does_not_exist_gives_404_with_key_only(client, stub):
    missing = ["", "missing", "items/", "../app.js", "/items", "items%00", "%69tems"]
    for name in missing:
        head = client.write_head(f"GET /api/{name} HTTP/1.1", "Connection: close")
        assert read_statuses(client.exchange(head)) == [404], name
        assert read_statuses(client.exchange(head.replace(b"Bearer ", b"Bearer x"))) == [401]
    assert stub.calls == []


def test_slashes_at_start_of_address_count_as_one(client):
    page = client.send("GET", "/").body
    for path in ("//", "///", "//index.html"):
        content = client.exchange(client.write_head(f"GET {path} HTTP/1.1", "Connection: close"))
        assert content.endswith(page)


def test_files_are_served_without_key_and_use_no_other_site_and_no_inline_code(client):
    for path, content in client.server.static_files.items():
        answer = client.send("GET", path, Authorization=None)
        assert answer.status == 200
        assert answer.body == content.body
        assert answer.headers["content-type"] == content.media_type
        head = client.send("HEAD", path, Authorization=None)
        assert head.body == b""
        assert head.headers["content-length"] == str(len(content.body))
        assert client.send("GET", f"{path}?x=1", Authorization=None).body == content.body
        text = content.body.decode()
        assert not re.search(r"(?:https?|wss?|ftp)://|[\"'(=]\s*//\w", text), path
        assert not re.search(r"\beval\(|new Function|document\.write|insertAdjacentHTML|javascript:", text), path
        assert not re.search(r"setAttribute\(\s*[\"'](?:style|on\w+)[\"']|cssText|importScripts", text), path
        assert not re.search(r"@import|url\(\s*[\"']?(?!data:|#)", text), path


def test_files_of_page_are_served(client):
    files = client.server.static_files
    web = SOURCE / "consilience/workbench/web"
    assert files["/"].body == files["/index.html"].body == (web / "index.html").read_bytes()
    assert {f"/{path.name}" for path in web.iterdir() if path.is_file()} <= set(files)
    assert files["/report.css"].body == (SOURCE / "consilience/report/style.css").read_bytes()
    assert not [path for path in files if path.endswith(".py")]


def test_page_has_no_code_of_its_own_and_refers_to_served_files_only(client):
    files = client.server.static_files
    page = files["/"].body.decode()
    assert not re.search(r"<[^>]*\s(?:on\w+|style|srcdoc|nonce)\s*=|<(?:style|base|iframe|object|embed|form)\b", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)|<script[^>]*>\s*[^<\s]", page)
    addresses = re.findall(r'\s(?:href|src|action|data)="([^"#][^"]*)"', page)
    assert "/app.js" in addresses
    assert {address for address in addresses if not address.startswith("data:")} <= set(files)


def test_what_scripts_import_is_served(client):
    files = client.server.static_files
    for name in server_module.SHARED_NAMES:
        assert re.search(rf"^(?:const|let|function|class) {name}\b", files["/shared.js"].body.decode(), re.MULTILINE), (
            name
        )
    for path in (path for path in files if path.endswith(".js")):
        script = files[path].body.decode()
        assert not re.search(r"\bimport\s*\(", script), path
        for address in re.findall(r"""^import\s[^;"']*["']([^"']+)["']""", script, re.MULTILINE):
            assert f"/{address.removeprefix('./').removeprefix('/')}" in files, (path, address)


# headers of responses


def iterate_answers(client):
    """Yield an answer of every kind."""
    served = ("", "app.js", "workbench.css", "api/items", "api/export", "missing", "api/missing", "api/item")
    yield from (client.send("GET", f"/{path}") for path in served)
    yield client.send("HEAD", "/")
    yield client.send("GET", "/api/items", Authorization=None)
    yield client.send("GET", "/", Host="evil.example")
    yield client.send("OPTIONS", "/", Origin="http://evil.example")
    yield client.send("POST", "/api/decide", b"{")
    yield client.send("FOO", "/")


def test_every_response_has_safe_headers_and_no_token_or_key(client):
    token = client.server.url.partition("#token=")[2]
    for answer in iterate_answers(client):
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert not re.search(r"https?:|\*", answer.headers["content-security-policy"])
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["server"] == "consilience"
        assert "set-cookie" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]
        content = answer.body + str(answer.headers).encode()
        assert token.encode() not in content
        assert client.key.encode() not in content


# requests that are not HTTP, or not one request


SMUGGLED = (
    b"POST /api/cancel HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
)
SMUGGLED += b"Content-Length: 2\r\n\r\n{}"


def test_body_of_unclear_length_is_refused_and_nothing_after_it_is_answered(client, stub):
    for lines, status in [
        (["Transfer-Encoding: chunked"], 411),
        (["Transfer-Encoding: chunked", "Content-Length: 4"], 411),
        (["Transfer-Encoding: identity", "Content-Length: 4"], 411),
        (["Transfer-Encoding:\tchunked", "Content-Length: 4"], 411),
        (["Content-Length: 4", "Content-Length: 5"], 400),
        (["Content-Length: 4, 4"], 400),
        (["Content-Length: -1"], 400),
        (["Content-Length: +4"], 400),
        (["Content-Length: 0x4"], 400),
        (["Content-Length: 4.0"], 400),
        (["Content-Length: ٤".encode().decode("latin-1")], 400),
        (["Content-Length: "], 400),
        (["Content-Length: 1e3"], 400),
        (["Content-Length: 99999999999999999999"], 400),
        (["Content-Length: 999999999999"], 413),
        (["Content-Length : 4"], 400),
        (["Transfer-Encoding : chunked", "Content-Length: 4"], 400),
        (["X", "Content-Length: 4"], 400),
        ([" folded", "Content-Length: 4"], 403),  # a continuation of the Host
        ([": no name", "Content-Length: 4"], 400),
    ]:
        head = client.write_head("POST /api/decide HTTP/1.1", "Content-Type: application/json")
        for line in reversed(lines):
            head = head.replace(
                f"Host: {client.host}\r\n".encode(), f"Host: {client.host}\r\n{line}\r\n".encode("latin-1")
            )
        smuggled = SMUGGLED.replace(b"{host}", client.host.encode()).replace(b"{key}", client.key.encode())
        if status == 403:
            smuggled = b""
        content = client.exchange(head + b"0\r\n\r\n" + smuggled)
        assert read_statuses(content)[0] == status, lines
    assert stub.calls == []


def test_missing_length_and_short_body_are_refused_and_equal_lengths_count_as_one(client, stub):
    head = "POST /api/decide HTTP/1.1", "Content-Type: application/json"
    content = client.exchange(client.write_head(*head))
    assert read_statuses(content) == [411]
    assert b"the request must have a Content-Length" in content
    content = client.exchange(client.write_head(*head, "Content-Length: 10") + b"{}")
    assert read_statuses(content) == [400]
    assert b"the request ended before its body was complete" in content
    assert stub.calls == []
    assert read_statuses(client.exchange(client.write_head(*head, *["Content-Length: 2"] * 2) + b"{}")) == [200]
    assert stub.calls == [("decide", {})]


def test_body_of_get_is_not_taken_for_next_request(client):
    for path in ("/", "/api/items"):
        for lines in (["Content-Length: 5"], ["Transfer-Encoding: chunked"]):
            content = client.exchange(client.write_head(f"GET {path} HTTP/1.1", *lines) + b"0\r\n\r\n" + SMUGGLED)
            assert read_statuses(content) == [200]
            assert b"Connection: close" in content


def test_body_of_refused_request_is_not_taken_for_next_requests_which_are_answered_in_order(client, stub):
    refused = client.write_head(
        "POST /api/decide HTTP/1.1", "Content-Type: text/plain", f"Content-Length: {len(SMUGGLED)}"
    )
    heads = [client.write_head(f"GET /api/item?row={row} HTTP/1.1") for row in range(5)]
    assert read_statuses(client.exchange(b"".join([refused, SMUGGLED, *heads]))) == [415] + [200] * 5
    assert stub.calls == [("describe_item", row) for row in range(5)]


def test_oversize_body_is_refused_with_reason(client, stub):
    answer = client.send("POST", "/api/decide", b" " * (MAX_BODY_BYTES + 1))
    assert answer.status == 413
    assert (
        answer.json["error"] == f"the request has {MAX_BODY_BYTES + 1} bytes, and at most {MAX_BODY_BYTES} are allowed"
    )
    assert stub.calls == []
    assert client.send("POST", "/api/decide", b"{}" + b" " * (MAX_BODY_BYTES - 2)).status == 200


def test_garbage_is_refused(client, stub):
    for content, statuses in [
        (b"", []),
        (b"\r\n", []),
        (b"\x00" * 100, [400]),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", [400]),  # the start of TLS
        (b"GET\r\n\r\n", [400]),
        (b"GET / x\r\n\r\n", [400]),
        (b"GET / HTTP/1.1 x\r\n\r\n", [400]),
        (b"GET /a b HTTP/1.1\r\n\r\n", [400]),
        (b"GET / HTTP/x.y\r\n\r\n", [400]),
        (b"GET / HTTP/1.1.1\r\n\r\n", [400]),
        (b"GET / HTTP/\xb2.1\r\n\r\n", [400]),
        (b"GET / HTTP/2.0\r\n\r\n", [505]),
        (b"POST /api/decide\r\n\r\n", [400]),
        (b"GET /" + b"a" * (65_537 - 5), [414]),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * (65_537 - 3), [431]),
        (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", [431]),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
    ]:
        answer = client.exchange(content)
        assert read_statuses(answer) == statuses, content[:25]
        if statuses:
            assert b"Content-Security-Policy: default-src 'none'" in answer
            assert b"Connection: close" in answer
            assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"].startswith("the request is not valid: ")
    assert stub.calls == []


def test_http_0_9_is_refused_and_1_0_answered_and_closed(client, stub):
    for request_line in ("GET /", "GET /api/items", "GET / HTTP/0.9"):
        assert read_statuses(client.exchange(f"{request_line}\r\n\r\n".encode())) == [403]
    assert stub.calls == []
    assert read_statuses(client.exchange(client.write_head("GET /api/items HTTP/1.0") * 2)) == [200]


def test_server_answers_after_garbage(client):
    rng = random.Random(0)
    for _ in range(30):
        client.exchange(rng.randbytes(rng.randrange(1, 300)))
        client.exchange(client.write_head("GET /api/items HTTP/1.1")[: rng.randrange(120)] + rng.randbytes(20))
    assert client.send("GET", "/api/items").status == 200


# many connections


def test_slow_clients_do_not_block_others(client):
    connections = [client.connect() for _ in range(30)]
    try:
        for number, connection in enumerate(connections):
            connection.sendall(client.write_head("POST /api/decide HTTP/1.1", "Content-Length: 9")[: 10 * number])
        assert client.send("GET", "/api/items").status == 200
    finally:
        for connection in connections:
            connection.close()


def test_idle_connection_is_ended(client, monkeypatch):
    monkeypatch.setattr(server_module.RequestHandler, "timeout", 0.05)
    head = client.write_head("POST /api/decide HTTP/1.1", "Content-Type: application/json", "Content-Length: 10")
    for content in (b"", b"GET / HT", head, head + b"{"):
        with client.connect() as connection, suppress(ConnectionError):  # if it was ended before all was sent
            connection.sendall(content)
            assert connection.recv(100) == b""


def test_parallel_requests_are_all_answered(client, stub):
    with ThreadPoolExecutor(50) as pool:
        requests = [pool.submit(client.send, "GET", f"/api/item?row={row}") for row in range(50)]
        assert {request.result().status for request in requests} == {200}
    assert sorted(stub.calls) == [("describe_item", row) for row in range(50)]


def test_client_that_leaves_before_answer_does_no_harm(client, stub):
    stub.result = ["x" * 1000] * 3000
    for _ in range(5):
        connection = client.connect()
        connection.sendall(client.write_head("GET /api/items HTTP/1.1"))
        connection.close()
    assert client.send("GET", "/api/items").json == stub.result


def test_state_is_answered_when_it_changes(client, stub, tune):
    with ThreadPoolExecutor(1) as pool:
        request = pool.submit(client.send, "GET", "/api/state?after=1&clustering=7")
        wait_until(lambda: stub.n_waiting == 1)
        assert client.send("GET", "/api/items").status == 200
        assert not request.done()
        stub.change()
        assert request.result().status == 200
    assert stub.calls[-1] == ("describe_state", 7)
    assert client.send("GET", "/api/state?after=1").status == 200  # at once, because it has changed
    tune("workbench.server", poll_seconds=0.01)
    assert client.send("GET", "/api/state?after=2").status == 200  # without a change, after some seconds


# listening


def test_only_this_machine_can_connect(client):
    assert client.server._listener.socket.getsockname() == ("127.0.0.1", client.server.port)
    for address in ("127.0.0.2", "::1", socket.gethostname()):
        try:
            resolved = socket.gethostbyname(address) if ":" not in address else address
        except OSError:
            continue
        if resolved == "127.0.0.1":
            continue
        family = socket.AF_INET6 if ":" in resolved else socket.AF_INET
        with pytest.raises(OSError, match=r"\w"), socket.socket(family) as connection:
            connection.connect((resolved, client.server.port))


def test_port_in_use_or_that_does_not_exist_is_named_with_remedy(client):
    for port in (client.server.port, -1, 65536, 10**10):
        with pytest.raises(OSError, match=f"cannot listen on port {port}: .*; choose another port, or 0") as error:
            WorkbenchServer(None, port)
        assert (error.value.errno == errno.EADDRINUSE) == (port == client.server.port)


def test_port_can_be_chosen_and_used_again():
    with run_server() as client:
        port = client.server.port
        client.send("GET", "/")
    with WorkbenchServer(StubWorkbench(), port) as server:
        server.start()
        assert server.port == port
        assert Client(server).send("GET", "/").status == 200


# closing


def test_close_ends_connections_long_polls_and_waiting():
    with run_server() as client:
        client.log_in()
        waiting = threading.Thread(target=client.server.wait)
        waiting.start()
        with client.connect() as idle, ThreadPoolExecutor(1) as pool:
            idle.sendall(b"GET / HTTP")
            request = pool.submit(client.send, "GET", "/api/state?after=1")
            wait_until(lambda: client.server.workbench.n_waiting == 1)
            client.server.close()
            with pytest.raises((ConnectionError, http.client.HTTPException), match=r"."):
                request.result()
            assert idle.recv(100) == b""
        client.server.workbench.change()
        waiting.join(HANG_LIMIT)
        assert not waiting.is_alive()
        with pytest.raises(ConnectionRefusedError, match="refused"):
            client.connect()


def test_start_and_close_can_be_repeated(new_client):
    thread = new_client.server._thread
    new_client.server.start()
    assert new_client.server._thread is thread
    assert new_client.send("GET", "/").status == 200
    server = WorkbenchServer(StubWorkbench())
    server.close()
    server.close()
    with pytest.raises(RuntimeError, match="the server has been closed: create another one"):
        server.start()


def test_serving_ends_after_keyboard_interrupt_and_closes(new_client, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(new_client.server._is_closed, "wait", interrupt)
    new_client.server.serve()
    with pytest.raises(ConnectionRefusedError, match="refused"):
        new_client.connect()


# errors of the workbench


def test_error_of_workbench_has_status(client, stub):
    for error, status, sentence in [
        (ValueError("rows are missing"), 400, "rows are missing"),
        (TypeError("secret"), 500, "an unexpected error occurred (TypeError): the log has the details"),
        (KeyError("secret"), 500, "an unexpected error occurred (KeyError): the log has the details"),
        (OutdatedError("the groups have just changed"), 409, "the groups have just changed"),
        (NotReadyError("the run is still being opened"), 503, "the run is still being opened"),
        (ReadOnlyError("another workbench has it open"), 403, "another workbench has it open"),
        (OSError(errno.ENOSPC, "the decision was not saved: full"), 507, "the decision was not saved: full"),
        (OSError(errno.EDQUOT, "the decision was not saved: quota"), 507, "the decision was not saved: quota"),
        (OSError(errno.EIO, "the decision was not saved: error"), 500, "the decision was not saved: error"),
        (PermissionError(errno.EACCES, "Permission denied", "/secret"), 500, "Permission denied"),
    ]:
        stub.error = error
        for answer in (client.send("POST", "/api/decide", {}), client.send("GET", "/api/items")):
            assert answer.status == status
            assert answer.json == {"error": sentence}
            assert answer.headers.get("retry-after") == ("1" if status == 503 else None)
            assert answer.headers["content-type"] == JSON_TYPE


def test_contradiction_is_explained(client, stub):
    choices = [[(3, "“a” is not in 2."), (5, "“b” is in 2.")]]
    stub.error = Contradiction("“a” and “b” cannot be together.", [5], choices)
    answer = client.send("POST", "/api/decide", {})
    assert answer.status == HTTPStatus.CONFLICT
    assert answer.json == {
        "error": "“a” and “b” cannot be together.",
        "contradiction": {
            "sentence": "“a” and “b” cannot be together.",
            "replaced": [5],
            "choices": [[{"number": 3, "sentence": "“a” is not in 2."}, {"number": 5, "sentence": "“b” is in 2."}]],
        },
    }


def test_unexpected_error_is_logged_and_hides_details(client, stub, caplog):
    for error in (RuntimeError("secret"), IndexError("secret"), OSError("secret"), MemoryError("secret")):
        caplog.clear()
        stub.error = error
        answer = client.send("POST", "/api/decide", {})
        reason = f"an unexpected error occurred ({type(error).__name__}): the log has the details"
        assert (answer.status, answer.json) == (500, {"error": reason})
        assert [record.exc_info[1] for record in caplog.records if record.levelno == logging.ERROR] == [error]
    stub.error = None
    for value in ({1, 2}, float("nan"), object()):
        caplog.clear()
        stub.result = {"value": value}
        answer = client.send("GET", "/api/items")
        assert answer.status == 500
        assert "the log has the details" in answer.json["error"]
        assert "an answer of the workbench is not JSON" in caplog.text


def test_empty_answer_is_empty_object_and_text_is_escaped(client, stub):
    stub.result = None
    assert client.send("POST", "/api/cancel", {}).json == {}
    stub.result = {"name": "</script>\u2028é\ud800"}
    answer = client.send("GET", "/api/items")
    assert answer.body == answer.body.decode("ascii").encode()
    assert answer.json == stub.result


def test_requests_write_nothing_to_terminal(client, capfd):
    client.send("GET", "/api/items")
    client.send("GET", "/missing")
    client.exchange(b"garbage\r\n\r\n")
    assert capfd.readouterr() == ("", "")
