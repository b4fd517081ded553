"""Default values: what the schema says of them.

A default stands in the schema only if JSON says it exactly. One that does not fit its own annotation is refused: it is
a slip of the pen, and the model would be told a falsehood.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .._values import to_json
from .node import Mismatch, Node, Schema
from .scope import Scope


def default_schema(node: Node, default: Any, scope: Scope) -> Schema:
    """`{"default": …}`, or nothing where JSON has no word for it."""
    text = _json(default)
    if text is None:
        return {}
    value = json.loads(text)
    try:
        decoded = node.decode(json.loads(text))
    except Mismatch as mismatch:
        hint = "; add `| None` to the annotation" if default is None else ""
        scope.refuse(f"the default {default!r} does not fit the annotation: {mismatch}{hint}")
    if isinstance(default, str) and not isinstance(decoded, str):
        scope.refuse(f"the default {default!r} is text, but the annotation says {type(decoded).__name__}")
    back = _json(decoded)
    if back is None or json.loads(back) != value:
        return {}
    return {"default": value}


def fresh(node: Node, default: Any) -> Callable[[], Any] | None:
    """Makes a new copy of a default that could be changed by the function: calls must not share it."""
    if type(default) not in (list, dict, set) or (text := _json(default)) is None:
        return None
    if node.decode(json.loads(text)) != default:
        return None
    return lambda: node.decode(json.loads(text))


def _json(value: Any) -> str | None:
    try:
        return to_json(value)
    except (TypeError, ValueError):
        return None
