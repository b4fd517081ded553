"""A node: what is known about one annotation, in JSON and in Python.

Nodes decode values that `json.loads` made. They coerce nothing: a value is of the right kind, or it is a `Mismatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Schema = dict[str, Any]
Decode = Callable[[Any], Any]

JSON_TYPES: frozenset[type] = frozenset({str, int, float, bool, type(None), list, dict})
NO_TYPES: frozenset[type] = frozenset()


class Mismatch(ValueError):
    """A value that is not of the annotated type, told for the model to mend.

    The path is put together while the decoders unwind, so a value that fits costs nothing.
    """

    def __init__(self, problem: str, path: Iterable[str | int] = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path: list[str | int] = list(path)

    @classmethod
    def of(cls, expected: str, value: object) -> Mismatch:
        """Expected this, got that."""
        return cls(f"expected {expected}, got {shown(value)}")

    def inside(self, step: str | int) -> Mismatch:
        """The same mismatch, seen from one level further out."""
        self.path.insert(0, step)
        return self

    def __str__(self) -> str:
        place = "".join(map(_step, self.path))
        return f"{place.removeprefix('.')}: {self.problem}" if place else self.problem


class Node:
    """One annotation, compiled.

    Attributes:
        schema: Its JSON Schema.
        decode: From a JSON value to the annotated one; raises `Mismatch`.
        expected: In words, with article: "an integer".
        kind: What constraints may be put on it: `integer`, `number`, `string`, `array`, `object`, or the Python type
            of values with an order (`Decimal`, `datetime` …); `None` for none.
        plain: Types of JSON values that are as annotated already. Such values are not decoded at all.
        hashable: Whether the decoded value can be in a set.
        text: Whether its JSON is always text, as keys must be.
    """

    __slots__ = ("decode", "expected", "hashable", "kind", "plain", "schema", "text")

    def __init__(
        self,
        schema: Schema,
        decode: Decode,
        expected: str,
        *,
        kind: str | type | None = None,
        plain: frozenset[type] = NO_TYPES,
        hashable: bool = True,
        text: bool = False,
    ) -> None:
        self.schema = schema
        self.decode = decode
        self.expected = expected
        self.kind = kind
        self.plain = plain
        self.hashable = hashable
        self.text = text


def as_it_came(value: Any) -> Any:
    """Decodes what needs no decoding."""
    return value


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.isidentifier() and len(step) <= 60:
        return f".{step}"
    return f"[{step[:60]!r}…]" if len(step) > 60 else f"[{step!r}]"


def _keys(value: dict[Any, Any]) -> str:
    keys = [repr(key)[:40] for key in list(value)[:5]] + ["…"] * (len(value) > 5)
    return f"an object with {', '.join(keys)}" if keys else "an empty object"


def shown(value: object) -> str:
    """A JSON value as the model wrote it, cut, with its kind."""
    kinds = {str: "text", int: "an integer", float: "a number", bool: "a boolean", list: "an array", dict: "an object"}
    if value is None:
        return "null"
    if isinstance(value, (list, dict)):
        return f"{kinds[type(value)]} of {len(value)}" if isinstance(value, list) else _keys(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = repr(value[:60])
        return f"text {text}…" if len(value) > 60 else f"text {text}"
    if isinstance(value, int) and abs(value) >= 10**40:
        return "an integer of more than 40 digits"
    return f"{kinds[type(value)].split()[-1]} {value!r}" if type(value) in kinds else type(value).__name__
