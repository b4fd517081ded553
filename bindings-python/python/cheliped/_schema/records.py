"""Annotations whose JSON is an object with known members: dataclasses, typed dictionaries, named tuples.

Members that the class does not know are refused: a slip of the model must not pass for a default.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from . import docstring
from .containers import Compile
from .defaults import default_schema
from .definitions import Definitions
from .node import Mismatch, Node, Schema
from .scope import Scope, class_scope, type_arguments

_REQUIRED = {"Required": True, "NotRequired": False}


@dataclasses.dataclass(frozen=True)
class Member:
    """One member of an object."""

    name: str
    node: Node
    required: bool


class Members:
    """The members of an object: their schema, and their values from a JSON object."""

    def __init__(self, texts: dict[str, str], scope: Scope, definitions: Definitions) -> None:
        self._texts = texts
        self._definitions = definitions
        self._scope = scope
        self._properties: dict[str, Schema] = {}
        self.members: list[Member] = []

    def add(self, name: str, node: Node, *, required: bool, default: Any = dataclasses.MISSING) -> None:
        """A member. Its `description` in the schema is that of its type, else that of the docstring."""
        schema = dict(node.schema)
        if name in self._texts:
            schema.setdefault("description", self._texts[name])
        if default is not dataclasses.MISSING:
            scope = self._scope.at(f"{name!r} of {self._scope.place}")
            # A default is read by the type that it stands in, which may not be complete yet.
            self._definitions.later(lambda: schema.update(default_schema(node, default, scope)))
        self._properties[name] = schema
        self.members.append(Member(name, node, required))

    def schema(self, description: str = "") -> Schema:
        """The schema of the object."""
        schema: Schema = {"type": "object"}
        if description:
            schema["description"] = description
        schema["properties"] = self._properties
        required = [member.name for member in self.members if member.required]
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        return schema

    def decoder(self) -> Callable[[Any], dict[str, Any]]:
        """Decodes the members that are there. Optional ones that are not there are left out."""
        members = [(member.name, member.node, member.node.plain, member.required) for member in self.members]
        known = frozenset(self._properties)

        def decode(value: Any) -> dict[str, Any]:
            if type(value) is not dict:
                raise Mismatch.of("an object", value)
            if not known.issuperset(value):
                name = next(name for name in value if name not in known)
                names = ", ".join(self._properties) or "none"
                raise Mismatch(f"unknown; what can be given here: {names}", [name])
            decoded = {}
            for name, node, plain, required in members:
                if name in value:
                    item = value[name]
                    if type(item) in plain:
                        decoded[name] = item
                        continue
                    try:
                        decoded[name] = node.decode(item)
                    except Mismatch as mismatch:
                        raise mismatch.inside(name) from None
                elif required:
                    raise Mismatch(f"missing; expected {node.expected}", [name])
            return decoded

        return decode


def record(cls: Any, arguments: tuple[Any, ...], scope: Scope, compile: Compile, defs: Definitions) -> Node | None:
    """The node of a class with known members; `None` if it is none."""
    if not isinstance(cls, type):
        return None
    build: Callable[[Any, Scope, Compile, Definitions], tuple[Members, Callable[[dict[str, Any]], Any]]]
    if dataclasses.is_dataclass(cls):
        build, hashable = _dataclass, cls.__hash__ is not None
    elif issubclass(cls, dict) and hasattr(cls, "__required_keys__"):
        build, hashable = _typed_dict, False
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        build, hashable = _named_tuple, True
    else:
        return None
    arguments = tuple(scope.resolve(argument) for argument in arguments)
    mapping = type_arguments(cls, arguments, scope)
    inner = class_scope(cls, f"{scope.place}, {cls.__name__}", mapping)

    def made(reference: Node) -> Node:
        reference.hashable = hashable
        reference.expected = f"an object ({cls.__name__})"
        members, make = build(cls, inner, compile, defs)
        read = members.decoder()

        def decode(value: Any) -> Any:
            values = read(value)
            try:
                return make(values)
            except Mismatch:
                raise
            except ValueError as error:  # The class's own checks.
                raise Mismatch(f"{error}") from error

        schema = members.schema(docstring.read(_doc(cls))[0])
        return Node(schema, decode, reference.expected, hashable=hashable)

    name = "_".join([cls.__name__, *(getattr(argument, "__name__", str(argument)) for argument in arguments)])
    return defs.node((cls, arguments), name, made)


def _doc(cls: type) -> str | None:
    """What somebody wrote about a class; dataclasses and named tuples otherwise write their signature there."""
    text = vars(cls).get("__doc__")
    return None if not isinstance(text, str) or text.startswith(f"{cls.__name__}(") else text


def _texts(cls: type) -> dict[str, str]:
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        texts.update(docstring.read(_doc(base))[1] if base not in (object, dict, tuple) else {})
    return texts


def _dataclass(
    cls: Any, scope: Scope, compile: Compile, defs: Definitions
) -> tuple[Members, Callable[[dict[str, Any]], Any]]:
    members = Members(_texts(cls), scope, defs)
    fields = [field for field in dataclasses.fields(cls) if field.init]
    taken = list(inspect.signature(cls.__init__).parameters)[1:]
    if set(taken) != {field.name for field in fields}:
        scope.refuse(
            f"__init__ takes ({', '.join(taken)}), which are not the fields of the dataclass; leave out InitVar and "
            "__init__ of your own"
        )
    for field in fields:
        owner = next((base for base in cls.__mro__ if _declares(base, field.name)), cls)
        place = class_scope(owner, f"{scope.place}.{field.name}", scope.arguments)
        node = compile(place.resolve(field.type), place)
        default = field.default
        if field.default_factory in (list, dict, set, tuple, frozenset):
            default = field.default_factory()
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if isinstance(text := getattr(field, "doc", None), str):
            node = Node({"description": text, **node.schema}, node.decode, node.expected, plain=node.plain)
        members.add(field.name, node, required=required, default=default)
    return members, lambda values: cls(**values)


def _declares(cls: type, name: str) -> bool:
    try:
        return name in inspect.get_annotations(cls)
    except NameError:  # Python 3.14 reads annotations now, and this class's have names for the type checker only.
        return False


def _typed_dict(
    cls: Any, scope: Scope, compile: Compile, defs: Definitions
) -> tuple[Members, Callable[[dict[str, Any]], Any]]:
    members = Members(_texts(cls), scope, defs)
    for name, annotation in inspect.get_annotations(cls).items():
        place = scope.at(f"{scope.place}[{name!r}]")
        required = name in cls.__required_keys__
        annotation = place.resolve(annotation)
        while (word := getattr(getattr(annotation, "__origin__", None), "_name", None)) in (*_REQUIRED, "ReadOnly"):
            # Annotations written as text hide these words from Python itself.
            required = _REQUIRED.get(str(word), required)
            annotation = place.resolve(annotation.__args__[0])
        members.add(name, compile(annotation, place), required=required)
    return members, lambda values: values


def _named_tuple(
    cls: Any, scope: Scope, compile: Compile, defs: Definitions
) -> tuple[Members, Callable[[dict[str, Any]], Any]]:
    members = Members(_texts(cls), scope, defs)
    owner = next(base for base in cls.__mro__ if "_fields" in vars(base))
    annotations = inspect.get_annotations(owner)
    for name in cls._fields:
        place = scope.at(f"{scope.place}.{name}")
        if name not in annotations:
            place.refuse("has no annotation; use typing.NamedTuple")
        default = cls._field_defaults.get(name, dataclasses.MISSING)
        node = compile(place.resolve(annotations[name]), place)
        members.add(name, node, required=default is dataclasses.MISSING, default=default)
    return members, lambda values: cls(**values)
