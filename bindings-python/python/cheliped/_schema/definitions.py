"""Named schemas that are used more than once or that hold themselves: the `$defs` of one function.

A schema that is used once stands where it is used: not every model API reads references well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .node import Node, Schema
from .scope import Scope

_VALUES = frozenset({"default", "enum", "const", "examples"})
_MAPS = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})
_PREFIX = "#/$defs/"


class Definitions:
    """The named schemas of one function."""

    def __init__(self) -> None:
        self._nodes: dict[Any, Node] = {}
        self._schemas: dict[str, Schema] = {}
        self._adopted: dict[tuple[str, str], str] = {}
        self._late: list[Callable[[], None]] = []

    def node(self, key: Any, name: str, build: Callable[[Node], Node]) -> Node:
        """The node of a named type, a reference. `build` makes it once; it gets the reference for use inside."""
        try:
            known = self._nodes.get(key)
        except TypeError:  # Arguments of a generic type that cannot be hashed.
            key, known = repr(key), self._nodes.get(repr(key))
        if known is not None:
            return known
        name = self.reserve(name)
        node = Node({"$ref": _PREFIX + name}, _unfinished, name)
        self._nodes[key] = node
        built = build(node)
        self._schemas[name] = built.schema
        for slot in ("decode", "expected", "kind", "plain", "hashable", "text"):
            setattr(node, slot, getattr(built, slot))
        return node

    def later(self, step: Callable[[], None]) -> None:
        """Does something when every type is complete."""
        self._late.append(step)

    def reserve(self, name: str) -> str:
        """A name of its own that looks like this one."""
        base = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_") or "Type"
        name, number = base, 1
        while name in self._schemas:
            number += 1
            name = f"{base}_{number}"
        self._schemas[name] = {}
        return name

    def adopt(self, schema: Schema) -> Schema:
        """A schema that was made elsewhere, its own `$defs` moved here."""
        inner: dict[str, Schema] = schema.get("$defs", {})
        names: dict[str, str] = {}
        new: list[str] = []
        for name in inner:
            key = (name, _closed(name, inner))
            if key not in self._adopted:
                self._adopted[key] = self.reserve(name)
                new.append(name)
            names[name] = self._adopted[key]

        def rename(part: Schema) -> Schema:
            reference = part.get("$ref")
            if isinstance(reference, str) and reference.startswith(_PREFIX):
                part["$ref"] = _PREFIX + names[reference.removeprefix(_PREFIX)]
            return part

        for name in new:
            self._schemas[names[name]] = _rebuilt(inner[name], rename)
        rest: Schema = {key: value for key, value in schema.items() if key != "$defs"}
        adopted: Schema = _rebuilt(rest, rename)
        return adopted

    def finish(self, root: Schema, scope: Scope) -> Schema:
        """The whole schema: what is used once put in its place, the rest under `$defs`."""
        for step in self._late:
            step()
        uses: Counter[str] = Counter()
        waiting = [root]
        while waiting:
            for name in _references(waiting.pop()):
                uses[name] += 1
                if uses[name] == 1:
                    waiting.append(self._schemas[name])
        for name in uses:
            self._refuse_empty_circle(name, scope)

        def inline(part: Schema) -> Schema:
            reference = part.get("$ref")
            name = reference.removeprefix(_PREFIX) if isinstance(reference, str) else ""
            if uses[name] != 1:
                return part
            rest = {key: value for key, value in part.items() if key != "$ref"}
            return {**_rebuilt(self._schemas[name], inline), **rest}

        whole = _rebuilt(root, inline)
        shared = {name: _rebuilt(self._schemas[name], inline) for name in self._schemas if uses[name] > 1}
        return {**whole, "$defs": shared} if shared else whole

    def _refuse_empty_circle(self, name: str, scope: Scope) -> None:
        """`type X = X | int` says nothing, and a validator would follow it for ever."""
        seen: set[str] = set()
        waiting = [self._schemas[name]]
        while waiting:
            part = waiting.pop()
            waiting += [choice for key in ("anyOf", "allOf", "oneOf") for choice in part.get(key, ())]
            inner = str(part.get("$ref", "")).removeprefix(_PREFIX)
            if inner == name:
                scope.refuse(f"the type {name} is defined by nothing but itself")
            if inner and inner not in seen:
                seen.add(inner)
                waiting.append(self._schemas[inner])


def _unfinished(value: Any) -> Any:
    raise AssertionError("a type was used before it was complete")


def _rebuilt(schema: Any, change: Callable[[Schema], Schema]) -> Any:
    """A copy of a schema with every schema in it changed; values such as defaults stay untouched."""
    if not isinstance(schema, dict):
        return schema
    copy: Schema = {}
    for key, value in schema.items():
        if key in _VALUES:
            copy[key] = value
        elif key in _MAPS:
            copy[key] = {name: _rebuilt(inner, change) for name, inner in value.items()}
        elif isinstance(value, list):
            copy[key] = [_rebuilt(inner, change) for inner in value]
        else:
            copy[key] = _rebuilt(value, change)
    return change(copy)


def _closed(name: str, schemas: dict[str, Schema]) -> str:
    """A schema with everything that it refers to, as text: what is equal here is the same type."""
    import json

    names, waiting = {name}, [name]
    while waiting:
        more = set(_references(schemas[waiting.pop()])) - names
        names |= more
        waiting += more
    return json.dumps({name: schemas[name] for name in sorted(names)}, sort_keys=True)


def _references(schema: Schema) -> Iterator[str]:
    found: list[str] = []

    def look(part: Schema) -> Schema:
        reference = part.get("$ref")
        if isinstance(reference, str):
            found.append(reference.removeprefix(_PREFIX))
        return part

    _rebuilt(schema, look)
    yield from found
