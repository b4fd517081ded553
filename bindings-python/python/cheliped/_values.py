"""What a tool may return, as content for the model.

Everything is sent exactly or refused: no value is rounded, shortened, guessed from its `repr` or left out. Only what is
no valid Unicode is replaced by U+FFFD, so that one broken byte does not cost the rest.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from enum import Enum
from json.encoder import encode_basestring as _quoted
from math import isfinite
from typing import Any

from ._content import File, Image, Text

MAX_DEPTH = 100
"""Containers inside containers that are sent. Deeper data helps no model and would exhaust the stack."""

MAX_VALUES = 1_000_000
"""Values of one result. A small object that holds itself many times over would otherwise never end."""

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_PARTS = (Text, Image, File)
_SURROGATES = re.compile("[\ud800-\udfff]")


class _Refused(Exception):
    """What cannot be sent; the path is put together while the walk unwinds."""

    def __init__(self, kind: type[TypeError] | type[ValueError], problem: str) -> None:
        super().__init__(problem)
        self.kind = kind
        self.problem = problem
        self.path: list[str] = []

    def at(self, step: str) -> _Refused:
        self.path.append(step)
        return self


def encode(value: object) -> str | list[dict[str, Any]]:
    """Turns what a tool returned into content.

    - Text stays as it is, half a surrogate pair becomes U+FFFD. Bytes alone are UTF-8, what is not becomes U+FFFD.
    - `None` is `null`; numbers, `bool`, lists, tuples and mappings are JSON. Integers have any
      size.
    - `Decimal`, dates, times, `timedelta` (ISO 8601 duration), `UUID` and paths are text; an enum member is its value.
    - Sets are lists, sorted, or in the order of their JSON where their items have no order.
    - Dataclasses, named tuples and pydantic models are objects.
    - Keys of mappings may be anything above that is one text: text, integers, dates, UUIDs … Two keys with the same
      text are refused.
    - A part (`Text`, `Image`, `File`), or a list of parts and texts, is content in parts.

    Args:
        value: What the tool returned.

    Returns:
        Text, or a list of parts as the engine reads them.

    Raises:
        TypeError: The value, or one inside it, is of a type that cannot be sent. The message names type and place.
        ValueError: It is of a right type but cannot be sent: NaN, a key with half a surrogate pair, a circle, too deep.

    Example:
        >>> encode({"total": 3, "tags": {"b", "a"}})
        '{"total":3,"tags":["a","b"]}'
        >>> encode("done")
        'done'
    """
    if isinstance(value, _PARTS):
        return [value.to_json()]
    if (
        isinstance(value, (list, tuple))
        and not hasattr(value, "_fields")
        and any(isinstance(item, _PARTS) for item in value)
    ):
        return [_part(item, index) for index, item in enumerate(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode(errors="replace")
    return _written(value, _repaired)


def _written(value: object, checked: Callable[[str], str]) -> str:
    try:
        if (text := _text(value)) is not None:
            return checked(text)
        writer = _Writer(checked)
        writer.write(value, 0)
        return "".join(writer.pieces)
    except _Refused as refused:
        place = "".join(reversed(refused.path))
        where = f" at {place.removeprefix('.')}" if place else ""
        raise refused.kind(f"the tool's result cannot be sent to the model: {refused.problem}{where}") from None


def to_json(value: object) -> str:
    """A value as JSON text, text in quotes too; raises as `encode` does, and for half a surrogate pair anywhere."""
    if isinstance(value, _PARTS):
        raise TypeError("parts are content, not data")
    return _written([value], _valid)[1:-1]


def _part(item: object, index: int) -> dict[str, Any]:
    if isinstance(item, str):
        return Text(str(item)).to_json()
    if isinstance(item, _PARTS):
        return item.to_json()
    raise TypeError(
        f"the tool's result cannot be sent to the model: a list with parts may hold parts and text only, got "
        f"{type(item).__name__} at [{index}]; write it as Text"
    )


class _Writer:
    """Writes JSON into pieces, keeping the containers that are open to see circles."""

    def __init__(self, checked: Callable[[str], str]) -> None:
        self.checked = checked
        self.pieces: list[str] = []
        self.open: set[int] = set()
        self.values = 0

    def write(self, value: Any, depth: int) -> None:
        if type(value) is str:
            self.pieces.append(_quoted(self.checked(value)))
        elif value is None:
            self.pieces.append("null")
        elif isinstance(value, bool):
            self.pieces.append("true" if value else "false")
        elif isinstance(value, Enum) or not isinstance(value, (str, int, float, list, tuple, dict)):
            self._write_other(value, depth)
        elif isinstance(value, str):
            self.pieces.append(_quoted(self.checked(value)))
        elif isinstance(value, int):
            self.pieces.append(_digits(value))
        elif isinstance(value, float):
            if not isfinite(value):
                raise _Refused(ValueError, f"{float.__repr__(value)} is no JSON number; return None or text")
            self.pieces.append(float.__repr__(value))
        elif isinstance(value, dict):
            self._write_object(value, value, depth)
        elif (names := getattr(value, "_fields", None)) is not None:
            self._write_object(value, dict(zip(names, value, strict=True)), depth)
        else:
            self._write_list(value, value, depth)

    def _write_other(self, value: Any, depth: int) -> None:
        if isinstance(value, Enum):
            # A member whose value is a member again ends at the limit of depth.
            self._enter(value, depth)
            self.write(value.value, depth + 1)
            self.open.discard(id(value))
        elif (text := _text(value)) is not None:
            self.pieces.append(_quoted(self.checked(text)))
        elif isinstance(value, _PARTS):
            name = type(value).__name__
            raise _Refused(TypeError, f"{name} may stand alone or in a list of parts, not inside other data")
        elif isinstance(value, type):
            raise _Refused(TypeError, f"the class {value.__name__} is no value; return an instance or its name")
        elif isinstance(value, Mapping):
            self._write_object(value, value, depth)
        elif hasattr(type(value), "__dataclass_fields__"):
            names = [field.name for field in _fields(value)]
            missing = [name for name in names if not hasattr(value, name)]
            if missing:
                raise _Refused(ValueError, f"{type(value).__name__} has no value for its field {missing[0]}")
            self._write_object(value, {name: getattr(value, name) for name in names}, depth)
        elif (dumped := _dumped(value)) is not None:
            self._enter(value, depth)
            self.write(dumped[0], depth + 1)
            self.open.discard(id(value))
        elif isinstance(value, (bytes, bytearray, memoryview)):
            hint = "return an Image or a File part, or decode it to text"
            raise _Refused(TypeError, f"{type(value).__name__} is no text; {hint}")
        elif isinstance(value, Set) and not isinstance(value, _VIEWS):
            self._write_set(value, depth)
        elif isinstance(value, (deque, Sequence)):
            self._write_list(value, value, depth)
        else:
            raise _Refused(TypeError, _unknown(value))

    def _write_list(self, owner: object, items: Any, depth: int) -> None:
        self._enter(owner, depth)
        self._count(len(items))
        self.pieces.append("[")
        for index, item in enumerate(items):
            if index:
                self.pieces.append(",")
            try:
                self.write(item, depth + 1)
            except _Refused as refused:
                raise refused.at(f"[{index}]") from None
        self.pieces.append("]")
        self.open.discard(id(owner))

    def _write_object(self, owner: object, members: Any, depth: int) -> None:
        self._enter(owner, depth)
        self._count(len(members))
        self.pieces.append("{")
        names: set[str] = set()
        for key, item in members.items():
            name = key if type(key) is str else _key(key)
            if name in names:
                raise _Refused(ValueError, f"two keys are both written {name!r}")
            if names:
                self.pieces.append(",")
            names.add(name)
            self.pieces.append(_quoted(_valid(name)) + ":")
            try:
                self.write(item, depth + 1)
            except _Refused as refused:
                raise refused.at(f".{name}" if name.isidentifier() else f"[{name!r}]") from None
        self.pieces.append("}")
        self.open.discard(id(owner))

    def _write_set(self, value: Set[Any], depth: int) -> None:
        if all(isinstance(item, (str, int, float)) or _is_decimal(item) for item in value):
            try:
                items = sorted(value)
            except TypeError:
                pass  # Text among numbers.
            else:
                self._write_list(value, items, depth)
                return
        # Other items may have no order, or only a partial one (sets in sets): their JSON has one.
        self._enter(value, depth)
        self._count(len(value))
        texts = []
        for item in value:
            outer, self.pieces = self.pieces, []
            try:
                self.write(item, depth + 1)
            except _Refused as refused:
                raise refused.at("[…]") from None
            texts.append("".join(self.pieces))
            self.pieces = outer
        self.pieces.append(f"[{','.join(sorted(texts))}]")
        self.open.discard(id(value))

    def _enter(self, owner: object, depth: int) -> None:
        if id(owner) in self.open:
            raise _Refused(ValueError, f"{type(owner).__name__} holds itself (a circular structure)")
        if depth >= MAX_DEPTH:
            raise _Refused(ValueError, f"nested deeper than {MAX_DEPTH} levels")
        self.open.add(id(owner))

    def _count(self, more: int) -> None:
        self.values += more
        if self.values > MAX_VALUES:
            raise _Refused(ValueError, f"more than {MAX_VALUES} values; return less")


def _text(value: Any) -> str | None:
    """The text of values that have exactly one; modules that nobody imported have no instances to look for."""
    if isinstance(value, Enum):
        return _text(value.value)
    if isinstance(value, str):
        return str.__str__(value)
    modules = sys.modules
    if (module := modules.get("datetime")) is not None:
        if isinstance(value, (module.date, module.time)):
            return str(value.isoformat())
        if isinstance(value, module.timedelta):
            from ._times import write_timedelta

            return write_timedelta(value)
    if _is_decimal(value):
        if not value.is_finite():
            raise _Refused(ValueError, f"Decimal {value} is no number; return None or text")
        return str(value)
    if (module := modules.get("uuid")) is not None and isinstance(value, module.UUID):
        return str(value)
    if (module := modules.get("pathlib")) is not None and isinstance(value, module.PurePath):
        return str(value)
    return None


def _is_decimal(value: object) -> bool:
    module = sys.modules.get("decimal")
    return module is not None and isinstance(value, module.Decimal)


def _repaired(text: str) -> str:
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def _valid(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise _Refused(ValueError, f"text is not valid Unicode: half a surrogate pair at {error.start}") from None
    return text


def _digits(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:
        # Python refuses to write more than some thousand digits at once; Decimal writes them all, and fast.
        from decimal import Decimal

        return format(Decimal(value), "f")


def _key(key: object) -> str:
    while isinstance(key, Enum):
        key = key.value
    if isinstance(key, int) and not isinstance(key, bool):
        return _digits(key)
    text = _text(key)
    if text is None:
        hint = "make it text, or return a list of pairs"
        raise _Refused(TypeError, f"a key of type {type(key).__name__} is no JSON key; {hint}")
    return text


def _fields(value: Any) -> tuple[Any, ...]:
    from dataclasses import fields

    return fields(value)


def _dumped(value: Any) -> tuple[Any] | None:
    """The data of a pydantic model. Asked of the module only when somebody has imported it."""
    base = getattr(sys.modules.get("pydantic"), "BaseModel", None)
    if base is None or not isinstance(value, base) or not hasattr(value, "model_dump"):
        return None
    try:
        return (value.model_dump(mode="json"),)
    except (ValueError, TypeError, RecursionError) as error:
        raise _Refused(ValueError, f"{type(value).__name__} cannot be dumped: {error}") from None


def _unknown(value: object) -> str:
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    if hasattr(value, "__await__"):
        return f"{name} was never awaited; await it in the tool"
    if hasattr(value, "__anext__") or hasattr(value, "__aiter__"):
        return f"{name} yields its values later; collect them in a list"
    if hasattr(value, "__next__") or isinstance(value, _VIEWS):
        return f"{name} is not a list; write list(…)"
    if hasattr(value, "tolist"):
        return f"{name} is no JSON value; write .tolist()"
    if callable(value):
        return f"{name} is no value; call it, or return its name"
    return f"{name} is no JSON value; return text, a dict, a list or a dataclass"
