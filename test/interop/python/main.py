"""The Python client of the A2A project on the scenarios.

Takes one ClientInput (see ../scenarios.ts) as JSON, prints one ClientLine per line.
"""

import asyncio
import hashlib
import json
import platform
import sys
import uuid
from importlib.metadata import version

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import ClientCallContext
from a2a.client.interceptors import ClientCallInterceptor
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError
from google.protobuf import json_format

INPUT = json.loads(sys.argv[1])
RUNNING = (a2a.TASK_STATE_SUBMITTED, a2a.TASK_STATE_WORKING)


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: {seen!r} instead of {wanted!r}")


def text_of(parts):
    return "".join(part.text for part in parts)


def artifact_text(task):
    return "".join(text_of(artifact.parts) for artifact in task.artifacts)


def state_name(state):
    return a2a.TaskState.Name(state)


class Credentials(ClientCallInterceptor):
    """Headers of one call, asked anew for each."""

    def __init__(self):
        self._http = httpx.AsyncClient()

    async def before(self, args):
        headers = (await self._http.get(INPUT["headersUrl"])).json()
        args.context = args.context or ClientCallContext()
        args.context.service_parameters = {**(args.context.service_parameters or {}), **headers}

    async def after(self, args):
        pass


class Told:
    """What a stream has told so far."""

    def __init__(self, task):
        self.task = task
        self.state = task.status.state
        self.texts = {artifact.artifact_id: text_of(artifact.parts) for artifact in task.artifacts}
        self.chunks = 0
        self.frames = 1

    @property
    def text(self):
        return "".join(self.texts.values())

    def add(self, event):
        self.frames += 1
        kind = event.WhichOneof("payload")
        if kind == "artifact_update":
            update = event.artifact_update
            name = update.artifact.artifact_id
            before = self.texts.get(name, "") if update.append else ""
            self.texts[name] = before + text_of(update.artifact.parts)
            self.chunks += 1
        elif kind == "status_update":
            self.state = event.status_update.status.state
        else:
            raise AssertionError(f"a frame in the middle is {kind}")


async def follow(stream, enough=None):
    """Reads to the end, or until `enough` says so; then the connection is dropped."""
    told = None
    try:
        async for event in stream:
            if told is None:
                kind = event.WhichOneof("payload")
                expect(kind == "task", f"the first frame is {kind}")
                told = Told(event.task)
            else:
                told.add(event)
            if enough and await enough(told):
                break
    finally:
        await stream.aclose()
    expect(told is not None, "the stream was empty")
    return told


async def refusal(call):
    try:
        await call
    except Exception as error:  # noqa: BLE001
        return error
    raise AssertionError("it was not refused")


class Session:
    def __init__(self, card):
        credentials = [Credentials()]
        self._streaming, self._single = (
            ClientFactory(
                ClientConfig(
                    streaming=streaming,
                    supported_protocol_bindings=[INPUT["binding"]],
                    grpc_channel_factory=grpc.aio.insecure_channel,
                )
            ).create(card, credentials)
            for streaming in (True, False)
        )

    @staticmethod
    def _ask(text, task=None, context_id="", now=False):
        parts = [a2a.Part(text=text)]
        if task is None and INPUT["data"] is not None:
            data = a2a.Part()
            json_format.ParseDict(INPUT["data"], data.data)
            parts.append(data)
        message = a2a.Message(message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=parts, context_id=context_id)
        if task is not None:
            message.task_id, message.context_id = task.id, task.context_id
        configuration = a2a.SendMessageConfiguration(return_immediately=now)
        return a2a.SendMessageRequest(message=message, configuration=configuration)

    async def send(self, text, **options):
        async for event in self._single.send_message(self._ask(text, **options)):
            expect(event.HasField("task"), "the answer is no task")
            return event.task
        raise AssertionError("there was no answer")

    async def get(self, task_id, history_length=None):
        return await self._single.get_task(a2a.GetTaskRequest(id=task_id, history_length=history_length))

    async def settle(self, task):
        """Polls until the task waits for somebody or is over."""
        for _ in range(200):
            if task.status.state not in RUNNING:
                return task
            await asyncio.sleep(0.025)
            task = await self.get(task.id)
        raise AssertionError(f"still {state_name(task.status.state)}")

    async def list(self, **filters):
        return await self._single.list_tasks(a2a.ListTasksRequest(**filters))

    async def cancel(self, task_id):
        return await self._single.cancel_task(a2a.CancelTaskRequest(id=task_id))

    def stream(self, text):
        return self._streaming.send_message(self._ask(text))

    def subscribe(self, task_id):
        return self._streaming.subscribe(a2a.SubscribeToTaskRequest(id=task_id))


async def card(_):
    async with httpx.AsyncClient() as http:
        found = await A2ACardResolver(http, INPUT["cardBase"]).get_agent_card()
    shown = [f"{one.protocol_binding} {one.protocol_version}" for one in found.supported_interfaces]
    expect(f"{INPUT['binding']} 1.0" in shown, ", ".join(shown))
    return ", ".join(shown)


async def send(session):
    task = await session.send("hello Ada")
    equal(task.status.state, a2a.TASK_STATE_COMPLETED, "state")
    equal([artifact_text(task), text_of(task.status.message.parts)], ["Hello, Ada", "Said hello"], "task")
    return state_name(task.status.state)


async def poll(session):
    task = await session.send("hold", now=True)
    expect(task.status.state in RUNNING, f"answered {state_name(task.status.state)}")
    again = await session.send("go", task=task, now=True)
    equal(again.id, task.id, "task of the second message")
    done = await session.settle(task)
    equal([done.status.state, artifact_text(done)], [a2a.TASK_STATE_COMPLETED, "before after"], "task")
    return f"{state_name(task.status.state)}, then {state_name(done.status.state)}"


async def stream(session):
    told = await follow(session.stream("hello Ada"))
    equal([told.state, told.text], [a2a.TASK_STATE_COMPLETED, "Hello, Ada"], "stream")
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
    equal([told.task.id, told.state], [dropped.task.id, a2a.TASK_STATE_COMPLETED], "subscription")
    equal(told.text, "before after", "text")
    return f"{told.frames} frames after the drop"


async def get(session):
    sent = await session.send("hello Ada")
    none, one = await session.get(sent.id, 0), await session.get(sent.id, 1)
    equal([len(none.history), len(one.history)], [0, 1], "history")
    equal([one.id, artifact_text(one)], [sent.id, "Hello, Ada"], "task")
    return state_name(one.status.state)


async def list_tasks(session):
    first = await session.send("hello A")
    context_id = first.context_id
    second = await session.send("hello B", context_id=context_id)
    found = await session.list(context_id=context_id)
    equal([[task.id for task in found.tasks], found.total_size], [[second.id, first.id], 2], "list")
    equal([artifact_text(task) for task in found.tasks], ["", ""], "artifacts that nobody asked for")
    return f"{found.total_size} tasks"


async def page_tasks(session):
    context_id = (await session.send("hello A")).context_id
    await session.send("hello B", context_id=context_id)
    page = await session.list(context_id=context_id, page_size=1, include_artifacts=True)
    token = page.next_page_token
    rest = await session.list(context_id=context_id, page_size=1, include_artifacts=True, page_token=token)
    equal([artifact_text(task) for task in [*page.tasks, *rest.tasks]], ["Hello, B", "Hello, A"], "pages")
    equal(rest.next_page_token, "", "token of the last page")
    return f"1 of {page.total_size}, then 1 of {rest.total_size}"


async def cancel(session):
    task = await session.send("wait", now=True)
    canceled = await session.cancel(task.id)
    seen = await session.get(task.id)
    equal([canceled.status.state, seen.status.state], [a2a.TASK_STATE_CANCELED] * 2, "states")
    return state_name(canceled.status.state)


async def errors(session):
    unknown = await refusal(session.get("no-such-task"))
    expect(isinstance(unknown, TaskNotFoundError), repr(unknown))
    done = await session.settle(await session.send("hello Ada"))
    finished = await refusal(session.cancel(done.id))
    expect(isinstance(finished, TaskNotCancelableError), repr(finished))
    return "refused"


async def finished_stream(session):
    done = await session.settle(await session.send("hello Ada"))
    if INPUT["edge"] == "a2a":
        over = await refusal(follow(session.subscribe(done.id)))
        expect(isinstance(over, UnsupportedOperationError), repr(over))
        return "refused"
    told = await follow(session.subscribe(done.id))
    equal([told.frames, told.state], [1, a2a.TASK_STATE_COMPLETED], "subscription")
    return "shown"


async def follow_up(session):
    asked = await session.settle(await session.send("ask"))
    equal(asked.status.state, a2a.TASK_STATE_INPUT_REQUIRED, "state")
    equal(text_of(asked.status.message.parts), "Which colour?", "question")
    answered = await session.settle(await session.send("blue", task=asked))
    equal([answered.id, answered.context_id], [asked.id, asked.context_id], "ids")
    equal(answered.status.state, a2a.TASK_STATE_COMPLETED, "state")
    equal(text_of(answered.status.message.parts), "You said blue", "answer")
    return "You said blue"


async def large(session):
    told = await follow(session.stream("large"))
    fetched = artifact_text(await session.get(told.task.id))
    for text in (told.text, fetched):
        octets = text.encode()
        seen = {"utf8Bytes": len(octets), "sha256": hashlib.sha256(octets).hexdigest()}
        equal(seen, INPUT["large"], "artifact")
    expect(told.chunks >= 6, f"only {told.chunks} chunks")
    return f"{told.chunks} chunks"


async def quiet(session):
    told = await follow(session.stream("quiet"))
    equal(told.state, a2a.TASK_STATE_COMPLETED, "state")
    return f"{told.frames} frames"


SCENARIOS = {
    "card": card,
    "send": send,
    "poll": poll,
    "stream": stream,
    "resubscribe": resubscribe,
    "get": get,
    "list": list_tasks,
    "page": page_tasks,
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
        session = Session(await A2ACardResolver(http, INPUT["cardBase"]).get_agent_card())
    for name in INPUT["scenarios"]:
        try:
            expect(name in SCENARIOS, "this client does not know the scenario")
            say({"scenario": name, "ok": True, "detail": await SCENARIOS[name](session)})
        except Exception as error:  # noqa: BLE001
            say({"scenario": name, "ok": False, "detail": f"{type(error).__name__}: {error}"})


asyncio.run(main())
