"""Annotations whose JSON is one value: text, numbers, choices, dates.

Numbers are never rounded: an integer may be written `3.0`, as JSON Schema says, but not so large that its digits were
lost on the way; a `float` takes an integer only if it holds it exactly; a `Decimal` travels as text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from enum import Enum, Flag
from math import isfinite
from typing import Any

from .._times import DATE, DATE_TIME, DURATION, TIME
from .node import JSON_TYPES, Mismatch, Node, Schema, as_it_came
from .scope import Scope

EXACT = 2**53
DECIMAL_PATTERN = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"


def scalar(annotation: Any, scope: Scope) -> Node | None:
    """The node of an annotation that is a scalar class; `None` if it is another."""
    if annotation is Any or annotation is object:
        return Node({}, as_it_came, "any value", plain=JSON_TYPES)
    if annotation is None or annotation is type(None):
        return Node({"type": "null"}, _none, "null", plain=frozenset({type(None)}))
    if not isinstance(annotation, type):
        return None
    if annotation in _PLAIN:
        return _PLAIN[annotation]()
    if issubclass(annotation, Enum):
        return _enum(annotation, scope)
    return _dated(annotation) or _named(annotation)


def choice(values: Iterable[Any], scope: Scope) -> Node:
    """One of several values: a `Literal`."""
    members = list(values)
    choices: list[tuple[Any, Any]] = []
    for member in members:
        value = member.value if isinstance(member, Enum) else member
        if value is not None and not isinstance(value, (str, int)):
            scope.refuse(f"Literal[{member!r}] is no JSON value; use text, integers, booleans or None")
        choices.append((value, member))
    return _choices(choices)


def _enum(cls: type[Enum], scope: Scope) -> Node:
    if issubclass(cls, Flag):
        scope.refuse(f"{cls.__name__} is a Flag, whose members can be joined; use a set of an Enum")
    choices: list[tuple[Any, Any]] = []
    for member in cls:
        value = member.value
        if value is not None and not isinstance(value, (str, int, float)):
            scope.refuse(f"{member} has the value {value!r}, which is no JSON value; use text or numbers")
        if isinstance(value, float) and not isfinite(value):
            scope.refuse(f"{member} has the value {value!r}, which is no JSON number")
        choices.append((value, member))
    if not choices:
        scope.refuse(f"{cls.__name__} has no members to choose from")
    return _choices(choices)


def _choices(choices: list[tuple[Any, Any]]) -> Node:
    table: dict[tuple[bool, Any], Any] = {}
    for value, member in choices:
        # True equals 1 in Python but not in JSON.
        table.setdefault((isinstance(value, bool), value), member)
    values = [value for _, value in table]
    kinds = {_kind(value) for value in values}
    schema: Schema = {"enum": values}
    if len(kinds) == 1 and kinds <= {"string", "integer", "boolean"}:
        schema = {"type": kinds.pop(), **schema}
    # The schema has them all; an error stays readable.
    expected = "one of " + ", ".join(map(_json, values[:20])) + (", …" if len(values) > 20 else "")

    def decode(value: Any) -> Any:
        try:
            return table[isinstance(value, bool), value]
        except (KeyError, TypeError):
            raise Mismatch.of(expected, value) from None

    return Node(schema, decode, expected, text=all(isinstance(value, str) for value in values))


def _kind(value: Any) -> str:
    kinds = ((bool, "boolean"), (int, "integer"), (str, "string"))
    return next((kind for cls, kind in kinds if isinstance(value, cls)), "other")


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _none(value: Any) -> None:
    if value is not None:
        raise Mismatch.of("null", value)


def _str(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise Mismatch.of("text", value)


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Mismatch.of("true or false", value)


def _int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        if abs(value) > EXACT:
            raise Mismatch(f"expected an integer, got {value!r}; write all its digits, without point and exponent")
        return int(value)
    raise Mismatch.of("an integer", value)


def _float(value: Any) -> float:
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = 0.0
        if number == value:
            return number
        raise Mismatch(
            f"expected a number, got an integer of {value.bit_length()} bits that is no exact number; round it"
        )
    raise Mismatch.of("a number", value)


_PLAIN: dict[type, Callable[[], Node]] = {
    str: lambda: Node({"type": "string"}, _str, "text", kind="string", plain=frozenset({str}), text=True),
    bool: lambda: Node({"type": "boolean"}, _bool, "true or false", plain=frozenset({bool})),
    int: lambda: Node({"type": "integer"}, _int, "an integer", kind="integer", plain=frozenset({int})),
    float: lambda: Node({"type": "number"}, _float, "a number", kind="number"),
}


def _read(read: Callable[[str], Any], expected: str) -> Callable[[Any], Any]:
    def decode(value: Any) -> Any:
        if not isinstance(value, str):
            raise Mismatch.of(expected, value)
        try:
            return read(value)
        except ValueError as error:
            raise Mismatch.of(str(error) or expected, value) from None

    return decode


def _dated(cls: type) -> Node | None:
    module = sys.modules.get("datetime")
    if module is None or cls.__module__ != "datetime":
        return None
    from .. import _times

    table: dict[type, tuple[str, Callable[[str], Any], str]] = {
        module.datetime: ("date-time", _times.read_datetime, DATE_TIME),
        module.date: ("date", _times.read_date, DATE),
        module.time: ("time", _times.read_time, TIME),
        module.timedelta: ("duration", _times.read_timedelta, DURATION),
    }
    if cls not in table:
        return None
    form, read, expected = table[cls]
    return Node({"type": "string", "format": form}, _read(read, expected), expected, kind=cls, text=True)


def _named(cls: type) -> Node | None:
    """Classes of modules that are loaded only by those who use them."""
    if (module := sys.modules.get("decimal")) is not None and cls is module.Decimal:
        schema = {"type": "string", "pattern": DECIMAL_PATTERN}
        expected = 'a decimal number as text like "12.50"'
        return Node(schema, _read(_decimal, expected), expected, kind=cls, text=True)
    if (module := sys.modules.get("uuid")) is not None and cls is module.UUID:
        expected = "a UUID like 123e4567-e89b-12d3-a456-426614174000"
        return Node({"type": "string", "format": "uuid"}, _read(_uuid, expected), expected, text=True)
    if (module := sys.modules.get("pathlib")) is not None and issubclass(cls, module.PurePath):
        expected = "a path"

        def path(text: str) -> Any:
            if not text or "\0" in text:
                raise ValueError
            return cls(text)

        return Node({"type": "string"}, _read(path, expected), expected, text=True)
    return None


def _decimal(text: str) -> Any:
    from decimal import Decimal

    if not re.fullmatch(DECIMAL_PATTERN.strip("^$"), text):
        raise ValueError
    return Decimal(text)


def _uuid(text: str) -> Any:
    from uuid import UUID

    # UUID() also reads braces, URNs and digits without hyphens, which the format does not allow.
    if not re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", text):
        raise ValueError
    return UUID(text)
