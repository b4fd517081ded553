"""Sending: answers, errors, context, conversations."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import pickle
import threading
import time
import weakref
from typing import Any

import pytest
from conftest import run

from cheliped import (
    Agent,
    AgentResponse,
    Caller,
    ChelipedError,
    ConfigurationError,
    Conversation,
    Deny,
    GuardError,
    Image,
    Interceptor,
    Provider,
    ProviderConfig,
    ProviderError,
    Replace,
    RunContext,
    RunStateError,
    ScriptedProvider,
    Text,
    TimeoutError,
    Tool,
    ToolFailed,
    tool,
)

CALL = {"calls": [{"name": "work", "arguments": {}}]}


def agent(work: Any, *answers: Any, **options: Any) -> Agent:
    return Agent(provider=ScriptedProvider([CALL, *(answers or ("done",))]), tools=[tool(name="work")(work)], **options)


def test_the_answer_comes_with_what_it_took() -> None:
    model = ScriptedProvider([{"text": "Hello.", "usage": {"input_tokens": 3, "output_tokens": 2}}])
    response = Agent(provider=model).send_sync("Hi")
    assert (response.text, str(response), response.iterations, response.usage.input_tokens) == (
        "Hello.",
        "Hello.",
        1,
        3,
    )
    assert response.to_dict()["steps"] == [response.to_dict()["usage"]]
    assert pickle.loads(pickle.dumps(response)) == response


def test_parts_reach_the_model() -> None:
    model = ScriptedProvider(["seen"])
    Agent(provider=model).send_sync([Text("what is this?"), Image("image/png", b"\x89PNG")])
    content = model.requests()[0]["messages"][0]["content"]
    assert content[1] == {"type": "image", "media_type": "image/png", "data": {"base64": "iVBORw=="}}


@pytest.mark.parametrize("message", [7, None, ["text"], b"bytes", "\ud800", {"a": 1}])
def test_what_is_no_message_is_refused(message: Any) -> None:
    with pytest.raises(ConfigurationError):
        Agent(provider=ScriptedProvider(["never"])).send_sync(message)


@pytest.mark.parametrize("message", ["", " ", "x" * 1_000_000, "\x00\u202e"])
def test_odd_messages_are_taken_or_refused_with_an_error_of_ours(message: str) -> None:
    try:
        Agent(provider=ScriptedProvider(["fine"])).send_sync(message)
    except ChelipedError:
        pass


def test_a_send_inside_a_running_loop_names_the_right_call() -> None:
    async def main() -> None:
        with pytest.raises(RunStateError, match="await agent.send"):
            Agent(provider=ScriptedProvider(["x"])).send_sync("Hi")

    run(main())


def test_deps_caller_and_metadata_reach_a_tool_by_type() -> None:
    seen: list[Any] = []

    def work(note: str = "n", *, ctx: RunContext[list[int]]) -> str:
        seen.extend([ctx.deps, ctx.caller, ctx.metadata, ctx.iteration, bool(ctx.idempotency_key)])
        return note

    caller = Caller("acme", "ada", ("read",))
    run(agent(work).send("go", deps=[1], caller=caller, metadata={"k": 1}))
    assert seen == [[1], caller, {"k": 1}, 1, True]


def test_contextvars_reach_every_callback_and_stay_apart() -> None:
    where: contextvars.ContextVar[str] = contextvars.ContextVar("where", default="nowhere")
    seen: dict[str, str] = {}

    def plain(call: str = "plain") -> str:
        seen[call] = where.get()
        where.set("changed by a tool")
        return "ok"

    async def waiting() -> str:
        seen["waiting"] = where.get()
        return "ok"

    class Own(Provider):
        def send(self, request: dict[str, Any]) -> Any:
            seen["provider"] = where.get()
            calls = [{"name": "plain"}, {"name": "waiting"}]
            return {"calls": calls} if len(request["messages"]) == 1 else "done"

    async def main() -> str:
        where.set("here")
        made = Agent(
            provider=Own(),
            tools=[plain, waiting],
            hooks=[("agent.before", lambda event: seen.__setitem__("hook", where.get()))],
            guards=[lambda piece: seen.__setitem__("guard", where.get())],
        )
        await made.send("go")
        return where.get()

    assert run(main()) == "here"
    assert seen == dict.fromkeys(("plain", "waiting", "provider", "hook", "guard"), "here")


def test_the_exception_of_a_callback_is_the_cause() -> None:
    class Own(Exception):
        pass

    def broken(_: Any) -> None:
        raise Own("the guard broke")

    with pytest.raises(GuardError, match="failed") as guarded:
        Agent(provider=ScriptedProvider(["never"]), guards=[broken]).send_sync("Hi")
    assert isinstance(guarded.value.__cause__, Own)
    assert guarded.value.guard == "broken"

    class Model(Provider):
        async def send(self, request: dict[str, Any]) -> Any:
            raise Own("the model broke")

    with pytest.raises(ProviderError) as provided:
        Agent(provider=Model()).send_sync("Hi")
    assert isinstance(provided.value.__cause__, Own)


def test_errors_can_be_pickled_and_are_what_they_should_be() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Agent(provider="nobody", max_iterations=-1, tool_timeout_ms="soon")  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)
    assert len(caught.value.problems) == 2
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.message, again.details) == (
        ConfigurationError,
        caught.value.message,
        caught.value.details,
    )
    slow = ScriptedProvider([{"text": "late", "latency_ms": 5000}])
    with pytest.raises(TimeoutError) as late:
        Agent(provider=slow).send_sync("Hi", deadline_ms=50)
    assert isinstance(late.value, OSError)
    assert late.value.retryable


@pytest.mark.parametrize(
    "given",
    [
        {"hooks": [3]},
        {"hooks": [("agent.before", 3)]},
        {"hooks": [("agent.before",)]},
        {"guards": [3]},
        {"interceptors": [3]},
        {"approval": 3},
        {"checkpoint": 3},
        {"provider": 3},
        {"tools": [3]},
        {"always_include_tools": "work"},
        {"tool_choice": "sometimes"},
    ],
    ids=str,
)
def test_what_cannot_be_used_is_told_when_the_agent_is_made(given: Any) -> None:
    with pytest.raises(ConfigurationError):
        Agent(**{"provider": ScriptedProvider(["never"]), **given})


@pytest.mark.parametrize(
    "given",
    [
        {"caller": "ada"},
        {"conversation": {}},
        {"deadline_ms": -1},
        {"deadline_ms": "soon"},
        {"parent_run_id": 5},
        {"metadata": {"a": object()}},
        {"metadata": []},
    ],
    ids=str,
)
def test_what_cannot_be_sent_is_told(given: Any) -> None:
    with pytest.raises(ConfigurationError):
        Agent(provider=ScriptedProvider(["never"])).send_sync("Hi", **given)


def test_a_text_is_no_list_of_scopes() -> None:
    with pytest.raises(ConfigurationError, match="'read'"):
        Caller(scopes="read")  # type: ignore[arg-type]
    assert Caller(scopes=["read"]).scopes == ("read",)  # type: ignore[arg-type]


def test_a_checkpoint_may_be_a_plain_function() -> None:
    saved: list[str] = []
    made = Agent(provider=ScriptedProvider(["done"]), checkpoint=lambda step: saved.append(step.what))
    made.send_sync("go")
    assert saved[0] == "run_started"


def test_unknown_options_are_refused_by_the_signature() -> None:
    with pytest.raises(TypeError, match="max_iteration"):
        Agent(provider="offline", max_iteration=3)  # type: ignore[call-arg]


def test_secrets_are_not_shown() -> None:
    config = ProviderConfig(provider="openai", api_key="sk-secret", headers={"X": "sk-secret"}, proxy="http://u:p@h")
    assert "secret" not in repr(config)
    assert "u:p" not in repr(config)
    with pytest.raises(ConfigurationError) as caught:
        Agent(provider=ProviderConfig(provider="nobody", api_key="sk-secret"))
    assert "secret" not in str(caught.value) + repr(caught.value.details)


def test_a_conversation_grows_by_turns_and_stays_as_it_was() -> None:
    start = Conversation("c1", metadata={"k": 1})
    model = ScriptedProvider(["Hello Ada.", "Ada."])
    talking = Agent(provider=model)
    first = talking.send_sync("I am Ada.", conversation=start)
    second = talking.send_sync("Who am I?", conversation=first.conversation)
    assert (len(start), len(first.conversation or ()), len(second.conversation or ())) == (0, 2, 4)
    assert [message["content"] for message in model.requests()[1]["messages"]] == [
        "I am Ada.",
        "Hello Ada.",
        "Who am I?",
    ]
    again = Conversation.from_dict(second.conversation.to_dict() if second.conversation else {})
    assert (again.id, again.messages) == ("c1", second.conversation and second.conversation.messages)
    assert pickle.loads(pickle.dumps(again)).to_dict() == again.to_dict()
    with pytest.raises(ConfigurationError):
        Conversation.from_dict({"id": "c", "colour": 1})
    with pytest.raises(ConfigurationError):
        start.with_message("nobody", "Hi")


def test_many_at_once_all_come_back() -> None:
    def work(n: int = 0) -> str:
        time.sleep(0.02)
        return str(n)

    model = ScriptedProvider({"steps": [CALL, "done"], "by_turn": True})
    busy = Agent(provider=model, tools=[tool(name="work")(work)])

    async def main() -> list[AgentResponse]:
        return await asyncio.gather(*(busy.send(f"message {index}") for index in range(100)))

    assert {response.text for response in run(main())} == {"done"}


def test_a_blocking_tool_does_not_hold_up_the_loop() -> None:
    slow = agent(lambda_free_sleep)

    async def main() -> float:
        worst, last, done = 0.0, time.perf_counter(), False

        async def tick() -> None:
            nonlocal worst, last
            while not done:
                await asyncio.sleep(0.005)
                worst, last = max(worst, time.perf_counter() - last), time.perf_counter()

        ticking = asyncio.create_task(tick())
        await slow.send("go")
        done = True
        await ticking
        return worst

    assert asyncio.run(main()) < 0.1


def lambda_free_sleep() -> str:
    time.sleep(2)
    return "slept"


def test_a_tool_may_run_another_agent_however_it_likes() -> None:
    def inner() -> Agent:
        return agent(lambda_free_name, "inner answer")

    async def waiting() -> str:
        return (await inner().send("go")).text

    def blocking() -> str:
        return inner().send_sync("go").text

    for work in (waiting, blocking):
        model = ScriptedProvider([CALL, "outer answer"])
        assert Agent(provider=model, tools=[tool(name="work")(work)]).send_sync("go").text == "outer answer"
        assert model.requests()[1]["last"] == "inner answer"


def lambda_free_name() -> str:
    return threading.current_thread().name


@pytest.mark.parametrize("kind", ["plain", "waiting"])
@pytest.mark.parametrize("what", ["tool", "content", "approval", "guard", "interceptor", "provider"])
def test_an_answer_that_cannot_be_written_is_an_answer(kind: str, what: str) -> None:
    """Half a surrogate pair, and objects in the place of texts: the stricter outcome, and never a run without end."""

    def giving(value: Any) -> Any:
        def plain(*_: Any) -> Any:
            if isinstance(value, Exception):
                raise value
            return value

        async def waiting(*_: Any) -> Any:
            return plain()

        return plain if kind == "plain" else waiting

    def raising(error: Exception) -> Any:
        def plain() -> str:
            raise error

        async def waiting() -> str:
            raise error

        return plain if kind == "plain" else waiting

    class Own(Provider):
        send = staticmethod(giving("\ud800"))

    class Replacing(Interceptor):
        before_run = staticmethod(giving(Replace("\ud800")))

    options: dict[str, Any] = {
        "tool": {"tools": [tool(name="work")(raising(ToolFailed("\ud800")))]},
        "content": {"tools": [tool(name="work")(raising(ToolFailed("no", content=object())))]},  # type: ignore[arg-type]
        "approval": {"approval": giving(Deny("\ud800"))},
        "guard": {"guards": [giving("\ud800")]},
        "interceptor": {"interceptors": [Replacing()]},
        "provider": {"provider": Own()},
    }[what]
    ran: list[str] = []

    def work() -> str:
        ran.append("ran")
        return "fine"

    made = {
        "provider": ScriptedProvider([CALL, "done"]),
        "tools": [tool(name="work", mutating=True)(work)],
        "max_retries": 0,
        **options,
    }

    async def main() -> None:
        sending = Agent(**made).send("go")
        if what in ("guard", "interceptor", "provider"):
            with pytest.raises(ProviderError if what == "provider" else GuardError):
                await asyncio.wait_for(sending, 10)
        else:
            assert (await asyncio.wait_for(sending, 10)).text == "done"

    run(main())
    assert ran == []


def test_nested_blocking_tools_find_their_thread_without_a_loop() -> None:
    """A tool inside a tool inside a tool, as deep as one likes, and one that starts a loop of its own."""
    ran: list[bool] = []

    def leaf() -> str:
        return asyncio.run(asyncio.sleep(0, "from a loop of its own"))

    work = leaf
    for _ in range(4):

        def nested(inner: Any = work) -> str:
            model = ScriptedProvider([CALL, "done"])
            Agent(provider=model, tools=[tool(name="work")(bound(inner))]).send_sync("go")
            ran.append(True)
            return str(model.requests()[1]["last"])

        work = bound(nested)
    model = ScriptedProvider([CALL, "done"])
    Agent(provider=model, tools=[tool(name="work")(work)]).send_sync("go")
    assert (model.requests()[1]["last"], len(ran)) == ("from a loop of its own", 4)


def bound(function: Any) -> Any:
    def call() -> str:
        return str(function())

    return call


def test_a_blocking_method_of_an_interceptor_stays_off_the_loop() -> None:
    where: dict[str, threading.Thread] = {}

    class Mixed(Interceptor):
        def before_tool(self, call: Any) -> None:
            where["plain"] = threading.current_thread()

        async def after_tool(self, result: Any) -> Replace:
            where["waiting"] = threading.current_thread()
            return Replace("replaced")

    model = ScriptedProvider([CALL, "done"])
    Agent(provider=model, tools=[tool(name="work")(lambda_free_name)], interceptors=[Mixed()]).send_sync("go")
    assert where["waiting"] is threading.current_thread()
    assert where["plain"] is not threading.current_thread()
    assert model.requests()[1]["last"] == "replaced"
    with pytest.raises(ConfigurationError, match="before_tool"):
        Agent(provider=model, interceptors=[Interceptor()])


def test_what_nobody_else_hears_of_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("of a callable")

    def work() -> str:
        raise KeyError("of a tool")

    agent(work, hooks=[("agent.before", broken)]).send_sync("go")
    denied = Agent(
        provider=ScriptedProvider([CALL, "done"]),
        tools=[tool(name="work", mutating=True)(lambda_free_name)],
        approval=broken,
    )
    denied.send_sync("go")
    said = [(record.name, record.getMessage()) for record in caplog.records if record.exc_info]
    assert said == [
        ("cheliped", "a hook raised; the run goes on"),
        ("cheliped", "the tool 'work' raised"),
        ("cheliped", "the approval raised, so the call is denied"),
    ]


def test_nested_blocking_tools_cannot_use_up_the_threads() -> None:
    leaf = Agent(
        provider=ScriptedProvider({"steps": [CALL, "leaf"], "by_turn": True}),
        tools=[tool(name="work")(lambda_free_name)],
    )

    def nested() -> str:
        return leaf.send_sync("go").text

    model = ScriptedProvider({"steps": [CALL, "done"], "by_turn": True})
    outer = Agent(provider=model, tools=[tool(name="work")(nested)])

    async def main() -> list[AgentResponse]:
        return await asyncio.gather(*(outer.send("go") for _ in range(80)))

    assert {response.text for response in run(main())} == {"done"}


def test_an_agent_that_its_tools_know_is_collected() -> None:
    holder: dict[str, Any] = {}

    def work() -> str:
        return str(holder)

    holder["agent"] = agent(work)
    gone = weakref.ref(holder["agent"])
    holder["agent"].send_sync("go")
    holder.clear()
    del work
    gc.collect()
    assert gone() is None


def test_without_a_provider_the_environment_names_it_and_fallbacks_stay_fallbacks() -> None:
    spare = ScriptedProvider(["from the spare"])
    with pytest.raises(ConfigurationError, match="ANTHROPIC_API_KEY"):
        Agent(fallbacks=[spare], env={"variables": {}})
    agent = Agent(fallbacks=[spare], env={"variables": {"CHELIPED_PROVIDER": "offline"}})
    assert agent.provider_name == "offline"


@pytest.mark.parametrize(
    "given",
    [
        lambda: Agent(provider="offline", always_include_tools="abc"),
        lambda: Agent(provider="offline", env=3),  # type: ignore[arg-type]
        lambda: Agent(provider="offline", tool_choice=[1]),  # type: ignore[arg-type]
        lambda: Agent(provider=ProviderConfig(provider="openai", headers=3)),  # type: ignore[arg-type]
        lambda: ScriptedProvider("abc"),
        lambda: Conversation(metadata=[("a", 1)]),  # type: ignore[arg-type]
        lambda: Conversation.from_dict("abc"),  # type: ignore[arg-type]
        lambda: Tool.from_schema(lambda: 1, name="t", schema="abc"),  # type: ignore[arg-type]
        lambda: asyncio.run(Agent(provider="offline").resume("abc")),  # type: ignore[arg-type]
        lambda: asyncio.run(Agent(provider="offline").resume({"format": float("nan")})),
    ],
)
def test_values_of_another_sort_are_refused_and_not_made_into_it(given: Any) -> None:
    with pytest.raises(ConfigurationError):
        given()
