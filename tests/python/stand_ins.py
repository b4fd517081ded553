"""Stand-ins for what an application brings: tools, gate, guards, interceptors that do what a vector says."""

from __future__ import annotations

import asyncio
import base64
import json
from collections import defaultdict
from typing import Any

from cheliped import (
    AllowWith,
    Approval,
    ApprovalRequest,
    Block,
    Checkpoint,
    Deny,
    File,
    Guard,
    Image,
    Interceptor,
    Replace,
    RunContext,
    Saved,
    Scanned,
    Suspend,
    Text,
    Tool,
    ToolDenied,
    ToolFailed,
    ToolRetry,
)

SLOWER = 5
"""Waits of vectors are for a clock that can be paused. Here they pass, so they are longer than what a busy machine adds."""


class World:
    """What the stand-ins of one run have seen."""

    def __init__(self) -> None:
        self.tool_inputs: list[dict[str, Any]] = []
        self.gate: list[dict[str, Any]] = []
        self.saves: list[Saved] = []
        self.events: list[dict[str, Any]] = []
        self._seen: dict[str, list[str]] = defaultdict(list)

    def ordinal(self, stand_in: str, call: str) -> int:
        """Which of the different calls of this stand-in this is, from 0."""
        calls = self._seen[stand_in]
        if call not in calls:
            calls.append(call)
        return calls.index(call)


class Refusal(ToolFailed):
    """A failure in the tool's own envelope."""


def make_tool(case: dict[str, Any], world: World) -> Tool[..., Any]:
    """A tool that does one step of the vector for each call."""
    steps = case.get("returns", [])

    async def work(ctx: RunContext[Any], **arguments: Any) -> Any:
        world.tool_inputs.append({"tool": case["name"], "arguments": json.dumps(arguments)})
        ordinal = world.ordinal(case["name"], ctx.call_id)
        if not steps:
            raise ToolFailed("the vector says nothing about this tool")
        return await _step(steps[min(ordinal, len(steps) - 1)], arguments, ctx)

    effect = {"read_only": False, "mutating": True}.get(case.get("effect", ""))
    return Tool.from_schema(
        work,
        name=case["name"],
        description=case.get("description", ""),
        schema=case.get("schema", {}),
        mutating=effect,
        idempotent=case.get("idempotent"),
        listed=False if case.get("unlisted") else None,
    )


async def _step(step: dict[str, Any], arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
    if "latency_ms" in step:
        await asyncio.sleep(step["latency_ms"] * SLOWER / 1000)
    for message in step.get("progress", []):
        ctx.progress(message)
    if step.get("hang"):
        await asyncio.Event().wait()
    if "panic" in step:
        raise RuntimeError(step["panic"])
    if "error" in step:
        raise ToolFailed(step["error"])
    if "error_repeat" in step:
        raise ToolFailed(_whole(step["error_repeat"]))
    if "retry" in step:
        raise ToolRetry(step["retry"])
    if "denied" in step:
        raise ToolDenied(step["denied"])
    if "internal" in step:
        raise RuntimeError(step["internal"])
    if "refusal" in step:
        raise ToolFailed(step["refusal"]["message"], content=step["refusal"]["content"])
    if "parts" in step:
        return [make_part(part) for part in step["parts"]]
    if "json" in step:
        return step["json"]
    if "repeat" in step:
        return _whole(step["repeat"])
    if step.get("echo"):
        return json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
    return step.get("text", "")


def _whole(repeat: dict[str, Any]) -> str:
    return str(repeat["text"] * repeat["times"] + repeat.get("then", ""))


def make_part(part: dict[str, Any]) -> Text | Image | File:
    """A part of content as the package writes it."""
    if part["type"] == "text":
        return Text(part["text"])
    data = part["data"].get("url") or base64.b64decode(part["data"]["base64"])
    if part["type"] == "image":
        return Image(part["media_type"], data)
    return File(part["media_type"], part["name"], data)


def make_gate(case: dict[str, Any], world: World) -> Approval:
    """A gate that gives the vector's decisions in order."""
    decides = case["decides"]

    async def decide(request: ApprovalRequest) -> Any:
        world.gate.append(
            {
                "tool": request.tool,
                "arguments": json.dumps(request.arguments),
                "mutating": request.mutating,
                "findings": list(request.findings),
            }
        )
        decision = decides[min(world.ordinal("the gate", request.call_id), len(decides) - 1)] if decides else "allow"
        if isinstance(decision, dict):
            if "policy" in decision:
                return Deny(decision["policy"])
            return AllowWith(json.loads(decision["allow_with"]))
        if decision in ("fail", "panic"):
            raise RuntimeError("the gate is broken")
        if decision == "hang":
            await asyncio.Event().wait()
        return {"allow": True, "deny": False, "suspend": Suspend()}[decision]

    return Approval(decide, all=case.get("all"))


async def _act(case: dict[str, Any], shown: str) -> str | None:
    """What a guard or an interceptor does about a value: `None`, `block` or `replace`."""
    if case.get("when") is not None and case["when"] not in shown:
        return None
    if case["does"] in ("fail", "panic"):
        raise RuntimeError("it is broken")
    if case["does"] == "hang":
        await asyncio.Event().wait()
    return None if case["does"] == "allow" else str(case["does"])


def make_guard(case: dict[str, Any]) -> Guard:
    """A guard that acts on texts which hold what the vector says."""

    async def scan(piece: Scanned) -> str | None:
        return case.get("reason", "") if await _act(case, piece.text) == "block" else None

    return Guard(scan, name=case["name"], typed_only=case.get("typed_only"), priority=case.get("priority"))


def make_interceptor(case: dict[str, Any]) -> Interceptor:
    """An interceptor that acts at one point."""
    point = case["point"]

    async def act(value: Any) -> Any:
        done = await _act(case, _shown(point, value))
        if done == "block":
            return Block(case.get("reason", ""))
        if done != "replace":
            return None
        given = case.get("with")
        if point == "before_model":
            messages = [*value["messages"], {"role": "system", "content": given}]
            return Replace({**value, "messages": messages})
        if point == "before_tool":
            given = json.loads(given)
        return Replace(given)

    interceptor = Interceptor()
    interceptor.name = case["name"]
    interceptor.priority = case.get("priority")
    setattr(interceptor, point, act)
    return interceptor


def _shown(point: str, value: Any) -> str:
    if point == "before_model":
        return _text(value["messages"][-1].get("content", ""))
    if point == "before_tool":
        return f"{value['name']} {json.dumps(value['arguments'])}"
    if point == "after_tool":
        return _text(value["content"])
    if point == "before_persist":
        return "".join(_text(message.get("content", "")) for message in value)
    return _text(value)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def make_checkpoint(world: World, *, can_suspend: bool) -> Checkpoint:
    """Keeps every save."""
    return Checkpoint(world.saves.append, can_suspend=can_suspend)
