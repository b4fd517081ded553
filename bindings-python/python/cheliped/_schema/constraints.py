"""`Annotated`: texts and limits beside a type.

Limits are read from the attributes `ge gt le lt multiple_of min_length max_length pattern`, as annotated-types,
pydantic and msgspec write them. `pattern` is only told: the engine has checked it in linear time before the function
is called, and a second engine here could be made to run for ever. What is neither text nor limit is not for this
package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any

from .node import Mismatch, Node, Schema
from .scope import Scope

_BOUNDS: dict[str, tuple[str, str, Callable[[Any, Any], bool]]] = {
    "ge": ("minimum", "at least", lambda value, bound: value >= bound),
    "gt": ("exclusiveMinimum", "more than", lambda value, bound: value > bound),
    "le": ("maximum", "at most", lambda value, bound: value <= bound),
    "lt": ("exclusiveMaximum", "less than", lambda value, bound: value < bound),
}
_LENGTHS: dict[str, tuple[dict[str, str], str, Callable[[int, int], bool]]] = {
    "min_length": (
        {"string": "minLength", "array": "minItems", "object": "minProperties"},
        "at least",
        lambda length, bound: length >= bound,
    ),
    "max_length": (
        {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
        "at most",
        lambda length, bound: length <= bound,
    ),
}
_UNITS = {"string": "characters", "array": "items", "object": "members"}
# What pydantic may say of a field that is understood here; with anything else it reads the annotation itself.
_FIELD_WORDS = frozenset(
    {"annotation", "description", "title", "pattern", "multiple_of", "min_length", "max_length", *_BOUNDS}
)

Check = Callable[[Any], bool]


def needs_pydantic(metadata: tuple[Any, ...]) -> bool:
    """Whether pydantic says more than limits here: validators, aliases, strictness …"""
    for item in metadata:
        cls = item if isinstance(item, type) else type(item)
        if cls.__module__.partition(".")[0] not in ("pydantic", "pydantic_core"):
            continue
        if cls.__name__ != "FieldInfo" or not _FIELD_WORDS.issuperset(getattr(item, "_attributes_set", {"unknown"})):
            return True
    return False


def constrained(node: Node, metadata: tuple[Any, ...], scope: Scope) -> Node:
    """The node with the texts and limits that stand beside its type."""
    texts: list[str] = []
    limits: Schema = {}
    checks: list[tuple[Check, str]] = []
    for item in _flat(metadata):
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, type):
            continue
        else:
            for attribute in ("description", "documentation"):
                if isinstance(text := getattr(item, attribute, None), str):
                    texts.append(text)
            _refuse_unsayable(item, scope)
            _read(item, node, limits, checks, scope)
    if texts:
        limits["description"] = " ".join(texts)
    if not limits and not checks:
        return node
    return Node(
        {**node.schema, **limits},
        _checked(node.decode, checks) if checks else node.decode,
        node.expected,
        kind=node.kind,
        plain=frozenset() if checks else node.plain,
        hashable=node.hashable,
        text=node.text,
    )


def _flat(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for item in metadata:
        yield item
        if type(item).__name__ == "FieldInfo":
            yield from getattr(item, "metadata", ())


def _refuse_unsayable(item: Any, scope: Scope) -> None:
    cls = type(item)
    if cls.__module__.startswith("annotated_types") and cls.__name__ in ("Predicate", "Not", "Timezone"):
        scope.refuse(f"{item!r} cannot be said in JSON Schema; check it in the function")


def _read(item: Any, node: Node, limits: Schema, checks: list[tuple[Check, str]], scope: Scope) -> None:
    for name, (word, relation, holds) in _BOUNDS.items():
        bound = getattr(item, name, None)
        if bound is None or callable(bound):
            continue
        if node.kind in ("integer", "number"):
            limits[word] = _number(name, bound, scope)
        elif not isinstance(node.kind, type) or not _comparable(bound, node.kind):
            _misplaced(f"{name}={bound!r}", node, scope)
        checks.append((_bounded(holds, bound), f"{relation} {bound}"))
    factor = getattr(item, "multiple_of", None)
    if factor is not None and not callable(factor):
        if node.kind not in ("integer", "number") or _number("multiple_of", factor, scope) <= 0:
            _misplaced(f"multiple_of={factor!r}", node, scope)
        limits["multipleOf"] = factor
        if node.kind == "integer" and isinstance(factor, int):
            checks.append((lambda value: value % factor == 0, f"a multiple of {factor}"))
    for name, (words, relation, fits) in _LENGTHS.items():
        bound = getattr(item, name, None)
        if bound is None or callable(bound) or (name == "min_length" and bound == 0):
            continue
        if node.kind not in words or not isinstance(bound, int):
            _misplaced(f"{name}={bound!r}", node, scope)
        limits[words[str(node.kind)]] = bound
        units = _UNITS[str(node.kind)]
        said = f"{relation} {bound} {units.removesuffix('s') if bound == 1 else units}"
        checks.append((_sized(fits, bound), said))
    pattern = getattr(item, "pattern", None)
    if pattern is not None and not callable(pattern):
        pattern = getattr(pattern, "pattern", pattern)
        if node.kind != "string" or not isinstance(pattern, str):
            _misplaced(f"pattern={pattern!r}", node, scope)
        if limits.get("pattern", pattern) != pattern:
            scope.refuse("one text can have one pattern only; join them")
        limits["pattern"] = pattern


def _bounded(holds: Callable[[Any, Any], bool], bound: Any) -> Check:
    return lambda value: holds(value, bound)


def _sized(fits: Callable[[int, int], bool], bound: int) -> Check:
    return lambda value: fits(len(value), bound)


def _number(name: str, bound: Any, scope: Scope) -> int | float:
    if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not isfinite(bound):
        scope.refuse(f"{name}={bound!r} is no JSON number; use an int or a float")
    return bound


def _comparable(bound: Any, kind: type) -> bool:
    if kind.__name__ == "Decimal":
        return isinstance(bound, (int, kind)) and not isinstance(bound, bool)
    return isinstance(bound, kind)


def _misplaced(limit: str, node: Node, scope: Scope) -> None:
    scope.refuse(
        f"{limit} cannot limit {node.expected}; put it beside the type that it limits, for example "
        "Annotated[int, Ge(1)] | None"
    )


def _checked(decode: Callable[[Any], Any], checks: list[tuple[Check, str]]) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        decoded = decode(value)
        for holds, said in checks:
            try:
                fits = holds(decoded)
            except TypeError:  # A time with an offset from UTC against one without.
                fits, said = False, f"{said}, both with or both without an offset from UTC"
            if not fits:
                raise Mismatch.of(said, value)
        return decoded

    return checked
