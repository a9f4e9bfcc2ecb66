"""What the runner adds to the A2A TCK, as a plug-in of pytest.

The suite tests every binding at once, knows no credentials, uses one message id for different messages and ends some
tests as skipped although what they needed has failed. This keeps to one binding, puts credentials and ids in, gives each
test a limit, and writes one line of JSON per test; whether a result is right is for the runner to judge.

Settings come as JSON in CONFORMANCE_RUN: binding, token (or null), extension (or null), origin, limitSeconds, results.
"""

import copy
import itertools
import json
import os
import re
import signal
import sys
import types

import httpx
import pytest

RUN = json.loads(os.environ["CONFORMANCE_RUN"])
BINDINGS = {"jsonrpc": ("jsonrpc",), "http_json": ("http_json", "rest"), "grpc": ("grpc",)}
NUMBERS = itertools.count(1)
# The tests of what happens to callers that do not know the required extension.
WITHOUT_EXTENSION = "TestCapabilityExtensionRequired"
# What the suite collects for its tests of JSON, from every binding but gRPC.
JSON_ANSWERS = "send_message_responses"
REQUIREMENT = re.compile(r"\b[A-Z][A-Z_]*(?:-[A-Z]+)+-\d{3}[a-z]?\b")

current = {"test": None}


def fresh(message_id):
    """The agent goes by the beginning of an id, so that stays."""
    return f"{message_id}-{next(NUMBERS)}"


def extensions(present):
    """The value of A2A-Extensions for the running test, or None when it stays as it is."""
    test = current["test"]
    if not RUN["extension"] or (test is not None and WITHOUT_EXTENSION in test):
        return None
    return f"{present},{RUN['extension']}" if present else RUN["extension"]


# --- JSON-RPC and HTTP+JSON: httpx.get and httpx.post go through a client too ---

build_request = httpx.Client.build_request
send = httpx.Client.send


def build_with_fresh_id(self, *args, json=None, **kwargs):
    body = copy.deepcopy(json)
    holder = body.get("params", body) if isinstance(body, dict) else None
    message = holder.get("message") if isinstance(holder, dict) else None
    if isinstance(message, dict) and message.get("messageId"):
        message["messageId"] = fresh(message["messageId"])
    return build_request(self, *args, json=body, **kwargs)


def send_as_caller(self, request, **kwargs):
    # The public card has to be there for everybody.
    if str(request.url).startswith(RUN["origin"] + "/") and "/.well-known/" not in request.url.path:
        if RUN["token"]:
            request.headers.setdefault("Authorization", f"Bearer {RUN['token']}")
        activated = extensions(request.headers.get("A2A-Extensions"))
        if activated:
            request.headers["A2A-Extensions"] = activated
    return send(self, request, **kwargs)


httpx.Client.build_request = build_with_fresh_id
httpx.Client.send = send_as_caller


# --- gRPC: an interceptor on every channel, or modules that only can be imported ---


class Nothing(type):
    """Classes that have every attribute, for modules that are imported and never used."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name, (Exception,), {})


class Hollow(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name, (Exception,), {})


GRPC_MODULES = (
    "grpc",
    "google",
    "google.protobuf",
    "google.protobuf.descriptor",
    "google.protobuf.json_format",
    "google.rpc",
    "google.rpc.error_details_pb2",
    "google.rpc.status_pb2",
    "specification.generated",
    "specification.generated.a2a_pb2",
    "specification.generated.a2a_pb2_grpc",
)


def pretend_grpc():
    """The suite imports gRPC whichever binding it is asked for."""
    for name in GRPC_MODULES:
        sys.modules[name] = Hollow(name)
    for name in GRPC_MODULES:
        parent, _, child = name.rpartition(".")
        if parent in GRPC_MODULES:
            setattr(sys.modules[parent], child, sys.modules[name])


def intercept_grpc():
    import grpc

    class Caller(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
        def _go_on(self, continuation, details, request):
            metadata = list(details.metadata or ())
            if RUN["token"] and not any(key == "authorization" for key, _ in metadata):
                metadata.append(("authorization", f"Bearer {RUN['token']}"))
            present = next((value for key, value in metadata if key == "a2a-extensions"), None)
            activated = extensions(present)
            if activated:
                metadata = [pair for pair in metadata if pair[0] != "a2a-extensions"]
                metadata.append(("a2a-extensions", activated))
            if request.DESCRIPTOR.name == "SendMessageRequest" and request.message.message_id:
                changed = type(request)()
                changed.CopyFrom(request)
                changed.message.message_id = fresh(request.message.message_id)
                request = changed
            return continuation(details._replace(metadata=metadata), request)

        intercept_unary_unary = _go_on
        intercept_unary_stream = _go_on

    insecure_channel = grpc.insecure_channel
    grpc.insecure_channel = lambda *args, **kwargs: grpc.intercept_channel(
        insecure_channel(*args, **kwargs), Caller()
    )


if RUN["binding"] == "grpc":
    intercept_grpc()
else:
    pretend_grpc()


# --- The tests of one binding ---


def is_about(item, binding):
    if JSON_ANSWERS in item.fixturenames:
        return binding != "grpc"
    return binding_of(item) in (None, binding)


def binding_of(item):
    """The binding that a test is about; None: it is about all of them."""
    parameter = getattr(getattr(item, "callspec", None), "params", {}).get("transport")
    if parameter is not None:
        return parameter
    marked = [name for name in BINDINGS if item.get_closest_marker(name)]
    if marked:
        return marked[0]
    name = getattr(item, "originalname", None) or item.name
    for binding, endings in BINDINGS.items():
        if name.endswith(tuple(f"_{ending}" for ending in endings)):
            return binding
    return None


def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[item for item in items if not is_about(item, RUN["binding"])])
    items[:] = [item for item in items if is_about(item, RUN["binding"])]


class OutOfTime(BaseException):
    """Not an Exception, because the suite ignores those while it reads a stream."""


def on_alarm(signum, frame):
    raise OutOfTime(f"the test took longer than {RUN['limitSeconds']} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    current["test"] = item.nodeid
    yield
    current["test"] = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(RUN["limitSeconds"])
    try:
        yield
    finally:
        signal.alarm(0)


# --- What came of them ---


def requirement_of(item, text):
    """What a test is about: says its parameter, else its message, else a docstring."""
    parameter = getattr(getattr(item, "callspec", None), "params", {}).get("requirement")
    if parameter is not None:
        return parameter.id
    for source in (text, item.function.__doc__, getattr(item.cls, "__doc__", None)):
        found = REQUIREMENT.search(source or "")
        if found:
            return found.group(0)
    return item.name


def outcome_of(report, call):
    """The outcome of a phase and why, or None when it says nothing."""
    if hasattr(report, "wasxfail"):
        return ("unmet" if report.skipped else "passed"), str(report.wasxfail)
    if report.failed:
        return "failed", f"{call.excinfo.exconly()}" if call.excinfo else str(report.longrepr)
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        return "skipped", reason.removeprefix("Skipped: ")
    return ("passed", "") if report.when == "call" else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    found = outcome_of(report, call)
    if found is None:
        return
    outcome, reason = found
    line = {
        "test": item.nodeid,
        "requirement": requirement_of(item, reason if outcome in ("failed", "unmet") else ""),
        "outcome": outcome,
        "reason": " ".join(reason.split())[:400],
    }
    with open(RUN["results"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
