"""Compares what a vector expects with what a run showed. Says nothing of how it was run."""

from __future__ import annotations

import json
from typing import Any

KEYS = frozenset(
    "text error failed stop_reason provider model iterations tools_called usage steps input_tokens output_tokens "
    "cache_read_tokens cache_write_tokens thinking run_id persist_error events event_payloads requests tool_inputs gate "
    "results history saves conversation stream stream_events replay".split()
)
"""Keys that an expectation may have."""

STREAM_EVENTS = frozenset({"stream.start", "stream.end", "stream.abort", "run.text_discarded"})
"""Events that only a stream has, or has at another place."""


def differences(case: dict[str, Any], mode: str, outcome: dict[str, Any]) -> list[str]:
    """What differs between the expectation of a case and an outcome; empty when nothing does."""
    problems = [f"unknown key {key!r}" for key in case["expect"] if key not in KEYS]
    echoes = any(step.get("echo") for tool in case.get("tools", []) for step in tool.get("returns", []))
    for key, expected in case["expect"].items():
        if key == "events":
            _events(mode, expected, outcome["events"], problems)
        elif key == "event_payloads":
            _payloads(expected, outcome["event_payloads"], problems)
        elif key in ("stream", "stream_events"):
            if mode == "live":
                _compare(key, expected, outcome["stream" if key == "stream" else "events"], problems)
        elif key == "replay":
            if mode == "replay":
                _compare(key, expected, outcome["stream"], problems)
        elif key == "results" and echoes:
            # What a tool got as values it gives back in its own spelling.
            read = [[{**item, "content": _read(item["content"])} for item in side] for side in (expected, outcome[key])]
            _compare(key, *read, problems)
        elif key in ("tool_inputs", "gate"):
            read = [
                [{**item, "arguments": _read(item.get("arguments"))} for item in side]
                for side in (expected, outcome[key])
            ]
            _compare(key, *read, problems)
        else:
            _compare(key, expected, outcome.get(key, ...), problems)
    if "error" not in case["expect"]:
        _compare("error", None, outcome["error"], problems)
    if mode != "send" and outcome["text"] is not None:
        _compare("stream.joined", outcome["text"], outcome["stream"]["joined"], problems)
    return problems


def _read(text: Any) -> Any:
    """Arguments as values in their order: a callback gets them read, not as the text that came."""
    try:
        return json.loads(text, object_pairs_hook=list)
    except (TypeError, ValueError):
        return text


def _events(mode: str, expected: list[str], seen: list[str], problems: list[str]) -> None:
    def kept(names: list[str]) -> list[str]:
        return [name for name in names if mode == "send" or name not in STREAM_EVENTS]

    if kept(expected) != kept(seen):
        problems.append(f"events\n  expected {' '.join(kept(expected))}\n  got      {' '.join(kept(seen))}")


def _payloads(expected: list[dict[str, Any]], seen: list[dict[str, Any]], problems: list[str]) -> None:
    for wanted in expected:
        index = wanted.get("index", 0)
        named = [event["payload"] for event in seen if event["event"] == wanted["event"]]
        found = named[index] if index < len(named) else ...
        _compare(f"event {wanted['event']} {index}", wanted["payload"], found, problems)


def _compare(path: str, expected: Any, seen: Any, problems: list[str]) -> None:
    """Objects may hold more than expected; everything else must be equal."""
    if isinstance(expected, dict) and isinstance(seen, dict):
        for key, value in expected.items():
            _compare(f"{path}.{key}", value, seen.get(key, ...), problems)
    elif isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        for index, (one, other) in enumerate(zip(expected, seen, strict=True)):
            _compare(f"{path}[{index}]", one, other, problems)
    elif type(expected) is not type(seen) and not (
        isinstance(expected, (int, float)) and isinstance(seen, (int, float)) and expected == seen
    ):
        problems.append(f"{path}\n  expected {expected!r}\n  got      {'nothing' if seen is ... else repr(seen)}")
    elif expected != seen:
        problems.append(f"{path}\n  expected {expected!r}\n  got      {seen!r}")
