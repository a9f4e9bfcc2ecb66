"""The Python client of A2A 0.3 on the scenarios.

Takes one ClientInput (see ../scenarios.ts) as JSON, prints one ClientLine per line.
"""

import asyncio
import hashlib
import json
import platform
import sys
import uuid
from importlib.metadata import version

import httpx
from a2a import types as a2a
from a2a.client import A2ACardResolver, ClientCallInterceptor, ClientConfig, ClientFactory

INPUT = json.loads(sys.argv[1])
RUNNING = (a2a.TaskState.submitted, a2a.TaskState.working)
# What somebody has to tell it: without the version it would be handed a card of 1.0.
CARD_REQUEST = {"headers": {"A2A-Version": "0.3"}}


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: {seen!r} instead of {wanted!r}")


def text_of(parts):
    return "".join(part.root.text for part in parts if part.root.kind == "text")


def artifact_text(task):
    return "".join(text_of(artifact.parts) for artifact in task.artifacts or [])


def status_text(task):
    return text_of(task.status.message.parts) if task.status.message else ""


class Credentials(ClientCallInterceptor):
    """Headers of one call, asked anew for each."""

    def __init__(self, http):
        self._http = http

    async def intercept(self, method_name, request_payload, http_kwargs, agent_card, context):
        headers = (await self._http.get(INPUT["headersUrl"])).json()
        return request_payload, {**http_kwargs, "headers": {**http_kwargs.get("headers", {}), **headers}}


class Told:
    """What a stream has told so far. `task` is the one that the client itself put together from the frames."""

    def __init__(self, task):
        self.task = task
        self.chunks = 0
        self.frames = 0

    @property
    def text(self):
        return artifact_text(self.task)


async def follow(stream, enough=None):
    """Reads to the end, or until `enough` says so; then the connection is dropped."""
    told = None
    try:
        async for task, update in stream:
            if told is None:
                expect(update is None, f"the first frame is {update}")
                told = Told(task)
            told.task = task
            told.frames += 1
            told.chunks += isinstance(update, a2a.TaskArtifactUpdateEvent)
            if enough and await enough(told):
                break
    finally:
        await stream.aclose()
    expect(told is not None, "the stream was empty")
    return told


async def refused_with(call, code):
    try:
        await call
    except Exception as error:  # noqa: BLE001
        detail = getattr(error, "error", None)
        expect(detail is not None and detail.code == code, repr(error))
        return
    raise AssertionError("it was not refused")


class Session:
    def __init__(self, card, http):
        # The streams' timeout is the client's own default, 5 s.
        streaming, single = (ClientConfig(streaming=streams, httpx_client=http) for streams in (True, False))
        self._streaming = ClientFactory(streaming).create(card, interceptors=[Credentials(http)])
        self._single = ClientFactory(single).create(card, interceptors=[Credentials(http)])

    @staticmethod
    def _ask(text, task=None):
        ids = {"task_id": task.id, "context_id": task.context_id} if task else {}
        parts = [a2a.Part(root=a2a.TextPart(text=text))]
        return a2a.Message(message_id=str(uuid.uuid4()), role=a2a.Role.user, parts=parts, **ids)

    async def send(self, text, task=None, now=False):
        configuration = a2a.MessageSendConfiguration(blocking=not now)
        async for answer in self._single.send_message(self._ask(text, task), configuration=configuration):
            expect(isinstance(answer, tuple), "the answer is no task")
            return answer[0]
        raise AssertionError("there was no answer")

    async def get(self, task_id, history_length=None):
        return await self._single.get_task(a2a.TaskQueryParams(id=task_id, history_length=history_length))

    async def settle(self, task):
        """Polls until the task waits for somebody or is over."""
        for _ in range(200):
            if task.status.state not in RUNNING:
                return task
            await asyncio.sleep(0.025)
            task = await self.get(task.id)
        raise AssertionError(f"still {task.status.state}")

    async def cancel(self, task_id):
        return await self._single.cancel_task(a2a.TaskIdParams(id=task_id))

    def stream(self, text):
        return self._streaming.send_message(self._ask(text))

    def subscribe(self, task_id):
        return self._streaming.resubscribe(a2a.TaskIdParams(id=task_id))


async def read_card(http):
    return await A2ACardResolver(http, INPUT["cardBase"]).get_agent_card(http_kwargs=CARD_REQUEST)


async def card(_):
    async with httpx.AsyncClient() as http:
        found = await read_card(http)
    shown = f"{found.preferred_transport} {found.protocol_version}"
    expect(shown.startswith("JSONRPC 0.3"), shown)
    return shown


async def send(session):
    task = await session.send("hello Ada")
    seen = [task.status.state, artifact_text(task), status_text(task)]
    equal(seen, [a2a.TaskState.completed, "Hello, Ada", "Said hello"], "task")
    return task.status.state.value


async def poll(session):
    task = await session.send("hold", now=True)
    expect(task.status.state in RUNNING, f"answered {task.status.state}")
    again = await session.send("go", task=task, now=True)
    equal(again.id, task.id, "task of the second message")
    done = await session.settle(task)
    equal([done.status.state, artifact_text(done)], [a2a.TaskState.completed, "before after"], "task")
    return f"{task.status.state.value}, then {done.status.state.value}"


async def stream(session):
    told = await follow(session.stream("hello Ada"))
    equal([told.task.status.state, told.text], [a2a.TaskState.completed, "Hello, Ada"], "stream")
    return f"{told.frames} frames"


async def resubscribe(session):
    async def first_half(told):
        return told.text == "before "

    async def release(told):
        if told.frames == 1:
            await session.send("go", task=told.task, now=True)
        return False

    dropped = await follow(session.stream("hold"), first_half)
    told = await follow(session.subscribe(dropped.task.id), release)
    seen = [told.task.id, told.task.status.state, told.text]
    equal(seen, [dropped.task.id, a2a.TaskState.completed, "before after"], "subscription")
    return f"{told.frames} frames after the drop"


async def get(session):
    sent = await session.send("hello Ada")
    none, one = await session.get(sent.id, 0), await session.get(sent.id, 1)
    equal([len(none.history or []), len(one.history)], [0, 1], "history")
    equal([one.id, artifact_text(one)], [sent.id, "Hello, Ada"], "task")
    return one.status.state.value


async def cancel(session):
    task = await session.send("wait", now=True)
    canceled = await session.cancel(task.id)
    seen = await session.get(task.id)
    equal([canceled.status.state, seen.status.state], [a2a.TaskState.canceled] * 2, "states")
    return seen.status.state.value


async def errors(session):
    await refused_with(session.get("no-such-task"), -32001)
    done = await session.settle(await session.send("hello Ada"))
    await refused_with(session.cancel(done.id), -32002)
    return "refused"


async def finished_stream(session):
    done = await session.settle(await session.send("hello Ada"))
    await refused_with(follow(session.subscribe(done.id)), -32004)
    return "refused"


async def follow_up(session):
    asked = await session.settle(await session.send("ask"))
    equal([asked.status.state, status_text(asked)], [a2a.TaskState.input_required, "Which colour?"], "question")
    answered = await session.settle(await session.send("blue", task=asked))
    equal([answered.id, answered.context_id], [asked.id, asked.context_id], "ids")
    equal([answered.status.state, status_text(answered)], [a2a.TaskState.completed, "You said blue"], "answer")
    return status_text(answered)


async def large(session):
    told = await follow(session.stream("large"))
    for text in (told.text, artifact_text(await session.get(told.task.id))):
        octets = text.encode()
        seen = {"utf8Bytes": len(octets), "sha256": hashlib.sha256(octets).hexdigest()}
        equal(seen, INPUT["large"], "artifact")
    expect(told.chunks >= 6, f"only {told.chunks} chunks")
    return f"{told.chunks} chunks"


async def quiet(session):
    told = await follow(session.stream("quiet"))
    equal(told.task.status.state, a2a.TaskState.completed, "state")
    return f"{told.frames} frames"


SCENARIOS = {
    "card": card,
    "send": send,
    "poll": poll,
    "stream": stream,
    "resubscribe": resubscribe,
    "get": get,
    "cancel": cancel,
    "errors": errors,
    "finished-stream": finished_stream,
    "follow-up": follow_up,
    "large": large,
    "quiet": quiet,
}


def say(line):
    print(json.dumps(line), flush=True)


async def main():
    say({"client": "a2a-sdk", "version": version("a2a-sdk"), "runtime": f"Python {platform.python_version()}"})
    async with httpx.AsyncClient() as http:
        session = Session(await read_card(http), http)
        for name in INPUT["scenarios"]:
            try:
                expect(name in SCENARIOS, "this client does not know the scenario")
                say({"scenario": name, "ok": True, "detail": await SCENARIOS[name](session)})
            except Exception as error:  # noqa: BLE001
                say({"scenario": name, "ok": False, "detail": f"{type(error).__name__}: {error}"})


asyncio.run(main())
