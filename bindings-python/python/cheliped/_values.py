"""What a tool may return, as content for the model.

A text stays as it is. JSON data is written as JSON; integers of any size stay exact. Also: `None` (`null`), `Decimal` (its
digits as a text), `datetime`, `date`, `time` (ISO 8601), `timedelta` (seconds), `UUID` and paths (text), enum members
(their values), tuples, sets (sorted where they can be) and deques (lists), named tuples, dataclasses and pydantic models
(objects), `Text`, `Image`, `File` and lists of these (content parts). Everything else is refused: bytes, NaN and
infinity, generators, functions, objects, keys that are no texts, and what holds itself. Nothing is ever rounded.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
from collections import deque
from collections.abc import Mapping
from typing import Any

from ._content import File, Image, Part, Text

DEPTH = 100
"""Levels of nesting at most, which every JSON reader takes."""


def encode(value: Any) -> str | list[dict[str, Any]]:
    """The content for a value.

    Raises:
        TypeError: A value of this type cannot be sent; its type and place are named.
        ValueError: The value cannot be written exactly.
    """
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return _text(value, "")
    if isinstance(value, (Text, Image, File)):
        return [value.to_json()]
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, Part) for item in value):
        return [item.to_json() for item in value]
    return json.dumps(_plain(value, "", ()), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value: Any, place: str, above: tuple[int, ...]) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value, place)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{_at(place)}{value} is no JSON number: return None or a text")
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value, place, above)
    if isinstance(value, str):
        return _text(str(value), place)
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float):
        return _plain(float(value), place, above)
    if isinstance(value, (Text, Image, File)):
        raise TypeError(f"{_at(place)}a {kind.__name__} stands alone or in a list of parts, not inside other data")
    if id(value) in above:
        raise ValueError(f"{_at(place)}the value holds itself")
    if len(above) >= DEPTH:
        raise ValueError(f"the value is nested more than {DEPTH} levels deep")
    above = (*above, id(value))
    if isinstance(value, Mapping):
        return {_key(key, place): _plain(item, f"{place}.{key}", above) for key, item in value.items()}
    names = getattr(value, "_fields", None)
    if isinstance(value, tuple) and names is not None:
        return {name: _plain(item, f"{place}.{name}", above) for name, item in zip(names, value, strict=True)}
    if isinstance(value, (list, tuple, deque)):
        return [_plain(item, f"{place}[{index}]", above) for index, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return [_plain(item, f"{place}[{index}]", above) for index, item in enumerate(_ordered(value))]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: _plain(item, f"{place}.{name}", above) for name, item in fields.items()}
    return _standard(value, place, above)


def _standard(value: Any, place: str, above: tuple[int, ...]) -> Any:
    """Values of modules that are loaded only when somebody made such a value."""
    loaded = sys.modules
    if "decimal" in loaded and isinstance(value, loaded["decimal"].Decimal):
        if not value.is_finite():
            raise ValueError(f"{_at(place)}{value} is no JSON number: return None or a text")
        return str(value)
    if "datetime" in loaded:
        times = loaded["datetime"]
        if isinstance(value, (times.datetime, times.date, times.time)):
            return value.isoformat()
        if isinstance(value, times.timedelta):
            return value.total_seconds()
    if "uuid" in loaded and isinstance(value, loaded["uuid"].UUID):
        return str(value)
    if "pathlib" in loaded and isinstance(value, loaded["pathlib"].PurePath):
        return _text(str(value), place)
    if hasattr(type(value), "__pydantic_validator__") and hasattr(value, "model_dump"):
        # In Python's own types, because pydantic's JSON form rounds and hides nothing less.
        return _plain(value.model_dump(), place, above)
    name = type(value).__name__
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{_at(place)}{name} cannot be sent: return an Image or a File, or decode it to a text")
    raise TypeError(f"{_at(place)}a value of type {name} cannot be sent: return a text, JSON data or a dataclass")


def _text(value: str, place: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{_at(place)}the text holds a lone surrogate and cannot be sent: {error.reason}") from None
    return value


def _key(key: Any, place: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, str):
        raise TypeError(f"{_at(place)}the key {key!r} is no text: JSON has no other keys")
    return _text(key, place)


def _ordered(values: Any) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def _at(place: str) -> str:
    return f"{place.lstrip('.')}: " if place else ""
