"""Annotations whose JSON is an array, an object with free keys, or one of several.

Nothing is lost on the way: a set refuses items that are equal, a mapping refuses keys that become equal.
"""

from __future__ import annotations

import collections
import collections.abc as abc
import typing
from collections.abc import Callable, Sequence
from typing import Any

from .node import Mismatch, Node, Schema, shown
from .scope import Scope

Compile = Callable[[Any, Scope], Node]

_LISTS: dict[Any, type] = {
    list: list,
    abc.Sequence: list,
    abc.MutableSequence: list,
    abc.Collection: list,
    abc.Iterable: list,
    collections.deque: collections.deque,
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
}
_MAPPINGS = frozenset({dict, abc.Mapping, abc.MutableMapping})


def container(annotation: Any, origin: Any, arguments: tuple[Any, ...], scope: Scope, compile: Compile) -> Node | None:
    """The node of a container; `None` if it is none. Without arguments its items may be anything."""
    if origin in _LISTS:
        item = compile(arguments[0] if arguments else Any, scope)
        made = _LISTS[origin]
        return _list(item, made) if made in (list, collections.deque) else _set(item, made, scope)
    if origin is tuple:
        if annotation is tuple or annotation is typing.Tuple:  # noqa: UP006
            return _tuple_of(compile(Any, scope))
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return _tuple_of(compile(arguments[0], scope))
        if arguments == ((),):  # How Python 3.10 keeps the empty tuple.
            arguments = ()
        return _tuple([compile(argument, scope) for argument in arguments])
    if origin in _MAPPINGS:
        key, item = arguments or (str, Any)
        return _mapping(compile(key, scope), compile(item, scope), scope)
    return None


def union(members: Sequence[Node]) -> Node:
    """One of several: the first member, in order, that takes the value.

    Only numbers are looked at twice: an integer is not made a `float` while there is a member for integers, and the
    other way round.
    """
    late_float = sorted(members, key=lambda node: node.kind == "number")
    late_int = sorted(members, key=lambda node: node.kind == "integer")
    expected = " or ".join(dict.fromkeys(node.expected for node in members))

    def decode(value: Any) -> Any:
        mismatches = []
        for node in late_float if type(value) is int else late_int if type(value) is float else members:
            try:
                return node.decode(value)
            except Mismatch as mismatch:
                mismatches.append(mismatch)
        # The member that understood most of the value tells best what is wrong with it.
        mismatches.sort(key=lambda mismatch: -len(mismatch.path))
        first = mismatches[0]
        if first.path and (len(mismatches) == 1 or len(first.path) > len(mismatches[1].path)):
            raise first
        if type(value) in (dict, list):
            tries = "; ".join(dict.fromkeys(str(mismatch) for mismatch in mismatches if mismatch.path))
            raise Mismatch(f"expected {expected}, got {shown(value)}{tries and ': ' + tries}")
        raise Mismatch.of(expected, value)

    plain = frozenset(kind for node in members for kind in node.plain)
    return Node(
        {"anyOf": [node.schema for node in members]},
        decode,
        expected,
        plain=plain if all(node.plain for node in members) else frozenset(),
        hashable=all(node.hashable for node in members),
        text=all(node.text for node in members),
    )


def _items(node: Node) -> Callable[[list[Any]], list[Any]]:
    def decode(values: list[Any]) -> list[Any]:
        if node.plain.issuperset(map(type, values)):
            return values
        decoded: list[Any] = []
        try:
            for value in values:
                decoded.append(node.decode(value))
        except Mismatch as mismatch:
            raise mismatch.inside(len(decoded)) from None
        return decoded

    return decode


def _array(item: Node) -> Schema:
    return {"type": "array", "items": item.schema} if item.schema else {"type": "array"}


def _list(item: Node, made: type) -> Node:
    items = _items(item)

    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise Mismatch.of("an array", value)
        values = items(value)
        return values if made is list else made(values)

    anything = made is list and not item.schema
    plain = frozenset({list}) if anything else frozenset()
    return Node(_array(item), decode, "an array", kind="array", plain=plain, hashable=False)


def _tuple_of(item: Node) -> Node:
    items = _items(item)

    def decode(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise Mismatch.of("an array", value)
        return tuple(items(value))

    return Node(_array(item), decode, "an array", kind="array", hashable=item.hashable)


def _set(item: Node, made: type, scope: Scope) -> Node:
    if not item.hashable:
        scope.refuse(f"a set cannot hold {item.expected}, which Python cannot hash; use a list")
    items = _items(item)

    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise Mismatch.of("an array", value)
        try:
            decoded = made(items(value))
        except TypeError:
            raise Mismatch("expected an array without arrays and objects in it") from None
        if len(decoded) != len(value):
            raise Mismatch("expected an array of different items, got the same item twice")
        return decoded

    schema = {**_array(item), "uniqueItems": True}
    return Node(schema, decode, "an array of different items", kind="array", hashable=made is frozenset)


def _tuple(members: list[Node]) -> Node:
    count = len(members)
    schema: Schema = {"type": "array", "minItems": count, "maxItems": count}
    if members:
        schema = {"type": "array", "prefixItems": [node.schema for node in members], **schema}
    expected = f"an array of {count}"

    def decode(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(value) != count:
            raise Mismatch.of(expected, value)
        decoded = []
        for index, (node, item) in enumerate(zip(members, value, strict=True)):
            try:
                decoded.append(node.decode(item))
            except Mismatch as mismatch:
                raise mismatch.inside(index) from None
        return tuple(decoded)

    return Node(schema, decode, expected, hashable=all(node.hashable for node in members))


def _mapping(key: Node, item: Node, scope: Scope) -> Node:
    if not key.text:
        scope.refuse(
            f"keys of JSON objects are text, not {key.expected}; use dict[str, …], or a list of tuples for pairs"
        )
    schema: Schema = {"type": "object"}
    if item.schema:
        schema["additionalProperties"] = item.schema
    plain_keys = key.schema == {"type": "string"}
    if not plain_keys:
        schema["propertyNames"] = key.schema

    def decode(value: Any) -> dict[Any, Any]:
        if type(value) is not dict:
            raise Mismatch.of("an object", value)
        if plain_keys and item.plain.issuperset(map(type, value.values())):
            return value
        decoded = {}
        for name, member in value.items():
            try:
                decoded[key.decode(name)] = item.decode(member)
            except Mismatch as mismatch:
                raise mismatch.inside(name) from None
        if len(decoded) != len(value):
            raise Mismatch("expected an object with different keys, got the same key written in two ways")
        return decoded

    plain = frozenset({dict}) if plain_keys and not item.schema else frozenset()
    return Node(schema, decode, "an object", kind="object", plain=plain, hashable=False)
