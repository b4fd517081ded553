"""Types as JSON Schema, each with the way from JSON back to its values.

Integers of any size stay exact. `Decimal` travels as a text, `timedelta` as seconds, `datetime` as ISO 8601.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin

Schema = dict[str, Any]
Decode = Callable[[Any], Any]


class Unsupported(Exception):
    """A type that JSON cannot express; the text says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Node:
    """A type: its schema, and how a JSON value becomes its value; without `decode` it is the value."""

    schema: Schema
    decode: Decode | None = None
    check: Callable[[Any], bool] = lambda _: True

    def read(self, value: Any) -> Any:
        """The value for a JSON value.

        Raises:
            ValueError: It does not fit.
        """
        if not self.check(value):
            raise ValueError(f"{_short(value)} does not fit")
        return value if self.decode is None else self.decode(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected an integer, got {_short(value)}")
    if isinstance(value, float):
        if not value.is_integer() or abs(value) >= 2**53:
            raise ValueError(f"expected an integer, got {_short(value)}")
        return int(value)
    return value


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"expected a number, got {_short(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"the number {_short(value)} is too large") from None
    if isinstance(value, int) and int(number) != value:
        raise ValueError(f"the integer {_short(value)} cannot be held exactly as a floating point number")
    return number


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return _number(value) and (isinstance(value, int) or value.is_integer())


_SCALARS: dict[Any, Node] = {
    Any: Node({}),
    object: Node({}),
    str: Node({"type": "string"}, None, _is(str)),
    int: Node({"type": "integer"}, _integer, _whole),
    float: Node({"type": "number"}, _float, _number),
    bool: Node({"type": "boolean"}, None, _is(bool)),
    None: Node({"type": "null"}, None, lambda value: value is None),
    type(None): Node({"type": "null"}, None, lambda value: value is None),
}
_ARRAYS: dict[Any, type] = {
    list: list,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Set: frozenset,
    collections.abc.MutableSet: set,
    collections.deque: collections.deque,
}
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_JSON_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_CONSTRAINTS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


class Types:
    """Translates the types of one function, which share their definitions."""

    def __init__(self) -> None:
        self.definitions: Schema = {}
        self._building: dict[Any, str] = {}
        self._recursive: set[str] = set()
        self._nodes: dict[Any, Node] = {}

    def node(self, annotation: Any) -> Node:
        """The node of a type.

        Raises:
            Unsupported: JSON cannot express it.
        """
        try:
            if annotation in _SCALARS:
                return _SCALARS[annotation]
        except TypeError:
            pass  # An annotation that cannot be hashed is no scalar.
        origin = get_origin(annotation)
        if origin is typing.Annotated:
            return self._annotated(*get_args(annotation))
        if origin in (Union, types.UnionType):
            return self._union(get_args(annotation))
        if origin is Literal:
            return _literal(get_args(annotation))
        if getattr(origin, "_name", None) in ("Required", "NotRequired", "ReadOnly"):
            return self.node(get_args(annotation)[0])
        if isinstance(annotation, typing.NewType):
            return self.node(annotation.__supertype__)
        if isinstance(annotation, typing.TypeVar):
            if annotation.__constraints__:
                return self._union(annotation.__constraints__)
            return self.node(Any if annotation.__bound__ is None else annotation.__bound__)
        if type(annotation).__name__ == "TypeAliasType":
            return self._named(annotation, annotation.__name__, lambda: self.node(annotation.__value__))
        if annotation is tuple or origin is tuple:
            return self._tuple(get_args(annotation), bare=annotation is tuple)
        kind = origin or annotation
        if kind in _ARRAYS:
            return self._array(_ARRAYS[kind], get_args(annotation))
        if kind in _MAPPINGS:
            return self._mapping(get_args(annotation))
        if isinstance(kind, type):
            return self._class(kind, annotation)
        if isinstance(annotation, (str, typing.ForwardRef)):
            raise Unsupported(f"{annotation!r} cannot be resolved: import the type where the function is")
        raise Unsupported(f"{_name(annotation)} cannot be expressed in JSON Schema")

    def _class(self, kind: type, annotation: Any) -> Node:
        if issubclass(kind, enum.Enum):
            return _enum(kind)
        simple = _standard(kind)
        if simple is not None:
            return simple
        if _is_pydantic(kind):
            return self._pydantic(annotation)
        if typing.is_typeddict(kind):
            return self._named(annotation, kind.__name__, lambda: self._typed_dict(kind))
        if dataclasses.is_dataclass(kind):
            return self._named(annotation, kind.__name__, lambda: self._dataclass(kind))
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._named(annotation, kind.__name__, lambda: self._named_tuple(kind))
        if issubclass(kind, (bytes, bytearray, memoryview)):
            raise Unsupported("bytes cannot be expressed in JSON: take a str, for example base64")
        raise Unsupported(
            f"{_name(annotation)} cannot be expressed in JSON Schema: use a dataclass, a TypedDict or a pydantic model"
        )

    def _named(self, annotation: Any, name: str, build: Callable[[], Node]) -> Node:
        """A type that may hold itself: then it becomes a definition that is referred to."""
        if annotation in self._building:
            key = self._building[annotation]
            self._recursive.add(key)
            return Node({"$ref": f"#/$defs/{key}"}, lambda value: self._nodes[key].read(value))
        key, number = name, 2
        while key in self._building.values() or key in self.definitions:
            if self._nodes.get((key, annotation)) is not None:
                return self._nodes[key, annotation]
            key, number = f"{name}{number}", number + 1
        self._building[annotation] = key
        try:
            node = build()
        finally:
            del self._building[annotation]
        if key in self._recursive:
            self.definitions[key] = node.schema
            self._nodes[key] = node
            node = Node({"$ref": f"#/$defs/{key}"}, node.decode, node.check)
            self._nodes[key, annotation] = node
        return node

    def _annotated(self, annotation: Any, *metadata: Any) -> Node:
        node = self.node(annotation)
        schema = dict(node.schema)
        for item in metadata:
            _constrain(schema, item)
        if schema == node.schema:
            return node
        if "$ref" in node.schema:
            # Siblings of a reference are read by few.
            schema = {"allOf": [node.schema], **{key: value for key, value in schema.items() if key != "$ref"}}
        return Node(schema, node.decode, node.check)

    def _union(self, options: tuple[Any, ...]) -> Node:
        nodes = [self.node(option) for option in options]
        schemas: list[Schema] = []
        for node in nodes:
            if node.schema not in schemas:
                schemas.append(node.schema)
        check = lambda value: any(node.check(value) for node in nodes)  # noqa: E731
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        if all(node.decode is None for node in nodes):
            return Node(schema, None, check)
        # Types that take exactly what came go first: 3 is an int before it is a float.
        exact = [node for node in nodes if node.schema.get("type") == "integer"]
        ordered = exact + [node for node in nodes if node not in exact]

        def decode(value: Any) -> Any:
            problems = []
            for node in ordered:
                if node.check(value):
                    try:
                        return value if node.decode is None else node.decode(value)
                    except ValueError as error:
                        problems.append(str(error))
            raise ValueError("; ".join(problems) or f"{_short(value)} fits none of the types")

        return Node(schema, decode, check)

    def _array(self, make: type, parameters: tuple[Any, ...]) -> Node:
        item = self.node(parameters[0] if parameters else Any)
        schema: Schema = {"type": "array"}
        if item.schema:
            schema["items"] = item.schema
        if make in (set, frozenset):
            schema["uniqueItems"] = True
        if item.decode is None:
            return Node(schema, None if make is list else _made_of(make), _is(list))
        return Node(schema, lambda value: _made_of(make)(_each(item, value)), _is(list))

    def _tuple(self, parameters: tuple[Any, ...], *, bare: bool) -> Node:
        if bare or (len(parameters) == 2 and parameters[1] is Ellipsis):
            item = self.node(Any if bare else parameters[0])
            schema: Schema = {"type": "array"}
            if item.schema:
                schema["items"] = item.schema
            return Node(schema, lambda value: tuple(_each(item, value)), _is(list))
        nodes = [self.node(parameter) for parameter in parameters if parameter != ()]
        schema = {"type": "array", "prefixItems": [node.schema for node in nodes]} if nodes else {"type": "array"}
        schema.update(minItems=len(nodes), maxItems=len(nodes))

        def decode(value: Any) -> tuple[Any, ...]:
            return tuple(_at(index, node, item) for index, (node, item) in enumerate(zip(nodes, value, strict=True)))

        return Node(schema, decode, lambda value: isinstance(value, list) and len(value) == len(nodes))

    def _mapping(self, parameters: tuple[Any, ...]) -> Node:
        key, of = parameters or (str, Any)
        if key is not str and key is not Any:
            raise Unsupported(f"a dictionary with keys of {_name(key)}: keys in JSON are texts, so use dict[str, ...]")
        node = self.node(of)
        schema: Schema = {"type": "object"}
        if node.schema:
            schema["additionalProperties"] = node.schema
        if node.decode is None:
            return Node(schema, None, _is(dict))
        return Node(schema, lambda value: {name: _at(name, node, item) for name, item in value.items()}, _is(dict))

    def _object(
        self, fields: dict[str, Any], required: list[str], make: Callable[[dict[str, Any]], Any] | None
    ) -> Node:
        nodes: dict[str, Node] = {}
        for name, annotation in fields.items():
            try:
                nodes[name] = self.node(annotation)
            except Unsupported as error:
                raise Unsupported(f"field {name!r}: {error}") from None
        schema: Schema = {"type": "object", "properties": {name: node.schema for name, node in nodes.items()}}
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False

        def check(value: Any) -> bool:
            return isinstance(value, dict) and value.keys() <= nodes.keys() and all(name in value for name in required)

        if make is None and all(node.decode is None for node in nodes.values()):
            return Node(schema, None, check)

        def decode(value: Any) -> Any:
            if not check(value):
                raise ValueError(f"expected an object with {', '.join(required) or 'known keys'}, got {_short(value)}")
            decoded = {name: _at(name, nodes[name], item) for name, item in value.items()}
            return decoded if make is None else make(decoded)

        return Node(schema, decode, check)

    def _typed_dict(self, kind: Any) -> Node:
        hints = _hints(kind)
        return self._object(hints, [name for name in hints if name in kind.__required_keys__], None)

    def _dataclass(self, kind: Any) -> Node:
        hints = _hints(kind)
        taken = [field for field in dataclasses.fields(kind) if field.init]
        missing = dataclasses.MISSING
        required = [f.name for f in taken if f.default is missing and f.default_factory is missing]
        return self._object({f.name: hints[f.name] for f in taken}, required, lambda values: _made(kind, values))

    def _named_tuple(self, kind: Any) -> Node:
        hints = _hints(kind)
        fields = {name: hints.get(name, Any) for name in kind._fields}
        required = [name for name in kind._fields if name not in kind._field_defaults]
        return self._object(fields, required, lambda values: _made(kind, values))

    def _pydantic(self, annotation: Any) -> Node:
        from pydantic import TypeAdapter, ValidationError

        adapter: Any = TypeAdapter(annotation)
        schema: Schema = adapter.json_schema(ref_template="#/$defs/{model}")
        for name, definition in schema.pop("$defs", {}).items():
            if self.definitions.setdefault(name, definition) != definition:
                raise Unsupported(f"two models are named {name}: rename one")

        def decode(value: Any) -> Any:
            try:
                return adapter.validate_python(value)
            except ValidationError as error:
                told = [
                    f"{'.'.join(str(place) for place in problem['loc'])}: {problem['msg']}".lstrip(": ")
                    for problem in error.errors(include_url=False, include_context=False, include_input=False)
                ]
                raise ValueError("; ".join(told)) from error

        return Node(schema, decode, _is(dict))


def _made_of(make: type) -> Decode:
    build: Callable[[Any], Any] = make

    def decode(value: Any) -> Any:
        try:
            return build(value)
        except TypeError as error:
            raise ValueError(f"its items cannot be in a {make.__name__}: {error}") from error

    return decode


def _each(node: Node, value: Any) -> list[Any]:
    return [_at(index, node, item) for index, item in enumerate(value)]


def _at(place: object, node: Node, value: Any) -> Any:
    try:
        return node.read(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _made(kind: Any, values: dict[str, Any]) -> Any:
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{kind.__name__}: {error}") from error


def _name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _hints(kind: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise Unsupported(f"{kind.__name__}: {error}: import the type at run time, too") from None


def _one_type(values: list[Any]) -> Schema:
    kinds = {type(value) for value in values}
    schema: Schema = {}
    if len(kinds) == 1:
        schema["type"] = _JSON_NAMES[kinds.pop()]
    schema["enum"] = values
    return schema


def _literal(values: tuple[Any, ...]) -> Node:
    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    for value in plain:
        if type(value) not in _JSON_NAMES:
            raise Unsupported(f"the literal {value!r} cannot be expressed in JSON")
    table = {(type(key), key): value for key, value in zip(plain, values, strict=True)}
    check = lambda value: (type(value), value) in table if not isinstance(value, (dict, list)) else False  # noqa: E731
    if plain == list(values) and not any(isinstance(value, enum.Enum) for value in values):
        return Node(_one_type(plain), None, check)
    return Node(_one_type(plain), lambda value: table[type(value), value], check)


def _enum(kind: type[enum.Enum]) -> Node:
    members = list(kind)
    if not members:
        raise Unsupported(f"{kind.__name__} has no members")
    plain = [member.value for member in members]
    for value in plain:
        if type(value) not in _JSON_NAMES:
            raise Unsupported(f"{kind.__name__} has the value {value!r}, which cannot be expressed in JSON")
    table = {(type(member.value), member.value): member for member in members}
    check = lambda value: (type(value), value) in table if not isinstance(value, (dict, list)) else False  # noqa: E731
    return Node(_one_type(plain), lambda value: table[type(value), value], check)


_STANDARD: dict[tuple[str, str], tuple[Schema, Callable[[type], Decode]]] = {
    ("datetime", "datetime"): ({"type": "string", "format": "date-time"}, lambda kind: _iso(kind)),
    ("datetime", "date"): ({"type": "string", "format": "date"}, lambda kind: _iso(kind)),
    ("datetime", "time"): ({"type": "string", "format": "time"}, lambda kind: _iso(kind)),
    ("datetime", "timedelta"): (
        {"type": "number", "description": "seconds"},
        lambda kind: _parsed(lambda value: kind(seconds=value), "a number of seconds"),
    ),
    ("decimal", "Decimal"): (
        {"type": "string", "pattern": r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"},
        lambda kind: _parsed(kind, "a decimal number as text"),
    ),
    ("uuid", "UUID"): ({"type": "string", "format": "uuid"}, lambda kind: _parsed(kind, "a UUID")),
}
_PATHS = {"Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"}


def _standard(kind: type) -> Node | None:
    """Types of the standard library, found by name so that nothing is imported for them."""
    module = kind.__module__.split(".")[0].lstrip("_")
    module = "datetime" if module == "pydatetime" else module
    if module == "pathlib" and kind.__name__ in _PATHS:
        make: Any = kind
        return Node({"type": "string"}, lambda value: make(value), _is(str))
    found = _STANDARD.get((module, kind.__name__))
    if found is None:
        return None
    schema, decoder = found
    return Node(dict(schema), decoder(kind), _number if schema["type"] == "number" else _is(str))


def _iso(kind: Any) -> Decode:
    def read(value: str) -> Any:
        # Python 3.10 does not know the Z.
        return kind.fromisoformat(value[:-1] + "+00:00" if value.endswith(("Z", "z")) else value)

    return _parsed(read, f"a {kind.__name__} in ISO 8601")


def _parsed(read: Decode, expected: str) -> Decode:
    def decode(value: Any) -> Any:
        try:
            return read(value)
        except (ValueError, ArithmeticError, TypeError):
            raise ValueError(f"expected {expected}, got {_short(value)}") from None

    return decode


def _is_pydantic(kind: type) -> bool:
    # A pydantic type exists only where pydantic was imported, so this imports nothing.
    return "pydantic" in sys.modules and (
        hasattr(kind, "__pydantic_validator__") or hasattr(kind, "__is_pydantic_dataclass__")
    )


def _constrain(schema: Schema, item: Any) -> None:
    """Adds what one piece of `Annotated` says: a description, or limits as annotated-types and pydantic write them."""
    if isinstance(item, str):
        schema["description"] = item
        return
    description = getattr(item, "description", None)
    if isinstance(description, str):
        schema["description"] = description
    for inner in getattr(item, "metadata", None) or ():
        _constrain(schema, inner)
    for name, word in _CONSTRAINTS.items():
        value = getattr(item, name, None)
        if value is not None:
            value = getattr(value, "pattern", value)
            schema[word] = value
    lengths = _LENGTHS.get(schema.get("type", ""))
    if lengths is not None:
        for name, word in zip(("min_length", "max_length"), lengths, strict=True):
            value = getattr(item, name, None)
            # A minimum of nothing says nothing.
            if value:
                schema[word] = value
