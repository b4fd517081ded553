"""Every run vector, in each of its ways."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from compare import differences
from stand_ins import World, make_checkpoint, make_gate, make_guard, make_interceptor, make_part, make_tool

from cheliped import (
    Agent,
    Caller,
    ChelipedError,
    ContextPiece,
    Conversation,
    ScriptedProvider,
    StreamEvent,
    TextDelta,
    TextDiscarded,
)
from cheliped._events import CLASSES

RUNS = Path(__file__).parents[1] / "vectors" / "runs"
AT_ONCE = 24
"""Runs at the same time; those with limits of a few milliseconds go one by one."""
TYPES = {kind: name for name, kind in CLASSES.items()}
NEEDS_QUIET = ("deadline_ms", "tool_timeout_ms", "model_call_timeout_ms", "latency_ms")


def cases() -> list[dict[str, Any]]:
    """Every case, or those whose name holds what `CHELIPED_VECTOR` says."""
    only = os.environ.get("CHELIPED_VECTOR", "")
    found = [case for path in sorted(RUNS.glob("*.json")) for case in json.loads(path.read_text("utf-8"))["cases"]]
    return [case for case in found if only in case["name"]]


def make(case: dict[str, Any], mode: str, world: World) -> tuple[Agent, list[ScriptedProvider]]:
    """The agent of a case and the models that it asks."""
    models = [ScriptedProvider(script) for script in [case["script"], *case.get("fallbacks", [])]]
    builder = Agent.builder().options(**case.get("options", {}))
    builder.options(env={"now_ms": 1_700_000_000_000, "id_prefix": "run-"})
    if mode == "replay":
        builder.options(stream_mode="replay")
    builder.provider(models[0])
    for model in models[1:]:
        builder.fallback(model)
    for tool in case.get("tools", []):
        builder.tool(make_tool(tool, world))
    for skill in case.get("skills", []):
        builder.skill(**skill)
    if "gate" in case:
        builder.approval(make_gate(case["gate"], world))
    for guard in case.get("guards", []):
        builder.guard(make_guard(guard))
    for interceptor in case.get("interceptors", []):
        builder.interceptor(make_interceptor(interceptor))
    builder.on(None, world.events.append, priority=2**31 - 1)
    builder.checkpoint(make_checkpoint(world, can_suspend=case.get("can_suspend", False)))
    return builder.build(), models


def context(case: dict[str, Any]) -> dict[str, Any]:
    """What `send` is told beside the message."""
    given = case.get("context", {})
    told: dict[str, Any] = {}
    if {"tenant", "user", "scopes"} & given.keys():
        told["caller"] = Caller(given.get("tenant"), given.get("user"), tuple(given.get("scopes", ())))
    for name in ("deadline_ms", "parent_run_id"):
        if name in given:
            told[name] = given[name]
    if "pieces" in given:
        told["pieces"] = [ContextPiece(**piece) for piece in given["pieces"]]
    if "conversation" in case:
        told["conversation"] = Conversation.from_dict(case["conversation"])
    return told


def make_message(written: Any) -> Any:
    """A text, a long text written as `{"repeat", "times"}`, or parts."""
    if isinstance(written, dict):
        return str(written["repeat"] * written["times"])
    return written if isinstance(written, str) else [make_part(part) for part in written]


async def play(case: dict[str, Any], mode: str) -> dict[str, Any]:
    """Runs a case and writes down everything that can be seen from outside."""
    world, models = World(), []
    outcome: dict[str, Any] = {"text": None, "error": None}
    seen: list[StreamEvent | str] = []
    message = make_message(case["message"])
    try:
        agent, models = make(case, mode, world)
        if mode == "send":
            response = await agent.send(message, **context(case))
        else:
            async with agent.stream(message, **context(case)) as stream:
                async for event in stream:
                    seen.append(event)
            response = stream.response
        outcome.update(response.to_dict())
        if response.conversation is not None:
            outcome["conversation"] = response.conversation.messages
    except ChelipedError as error:
        seen.append("failed")
        outcome["error"] = {"code": error.code, "details": error.details, "message": error.message}
    outcome["events"] = [payload["event"] for payload in world.events]
    outcome["event_payloads"] = [{"event": payload["event"], "payload": payload} for payload in world.events]
    outcome["requests"] = [request for model in models for request in model.requests()]
    outcome["tool_inputs"], outcome["gate"] = world.tool_inputs, world.gate
    outcome["history"] = world.saves[-1].state["history"] if world.saves else []
    results = [result for message in outcome["history"] if message["role"] == "tool" for result in message["results"]]
    outcome["results"] = [{key: result[key] for key in ("call_id", "name", "outcome", "content")} for result in results]
    outcome["saves"] = [saved.what for saved in world.saves]
    if mode != "send":
        outcome["stream"] = _stream(seen)
    return outcome


def _stream(seen: list[Any]) -> dict[str, Any]:
    types: list[str] = []
    deltas: list[TextDelta] = []
    discards = 0
    for event in seen:
        name = event if isinstance(event, str) else TYPES[type(event)]
        if name != "text_delta" or types[-1:] != [name]:
            types.append(name)
        if isinstance(event, TextDelta):
            deltas.append(event)
        elif isinstance(event, TextDiscarded):
            discards += 1
            taken = (event.iteration, event.attempt)
            deltas = [delta for delta in deltas if (delta.iteration, delta.attempt) != taken]
    texts = [delta.text for delta in deltas]
    return {"types": types, "discards": discards, "deltas": texts, "joined": "".join(texts)}


def test_every_vector() -> None:
    found = cases()
    assert os.environ.get("CHELIPED_VECTOR") or len(found) >= 280
    failures: list[str] = []

    async def check(case: dict[str, Any], mode: str) -> None:
        # A cancelled signal is a thing of the engine; here cancelling is cancelling the task, which has tests of its own.
        if case.get("context", {}).get("cancelled"):
            return
        problems = differences(case, mode, await asyncio.wait_for(play(case, mode), 60))
        if problems:
            failures.append(f"{case['name']} ({mode})\n" + "\n".join(problems))

    async def main() -> None:
        runs = [(case, mode) for case in found for mode in case.get("modes", ["send", "live", "replay"])]
        quiet = [run for run in runs if any(word in json.dumps(run[0]) for word in NEEDS_QUIET)]
        places = asyncio.Semaphore(AT_ONCE)

        async def placed(case: dict[str, Any], mode: str) -> None:
            # What hangs until a limit passes takes no place from the others.
            if '"hang"' in json.dumps(case):
                return await check(case, mode)
            async with places:
                await check(case, mode)

        await asyncio.gather(*(placed(*run) for run in runs if run not in quiet))
        for run in quiet:
            await check(*run)

    asyncio.run(main())
    assert not failures, f"{len(failures)} failed\n\n" + "\n\n".join(failures)
