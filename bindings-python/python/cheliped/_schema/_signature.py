"""Functions as descriptions: name, words, schema, and the way from a model's arguments to a call."""

from __future__ import annotations

import functools
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

from .._context import RunContext
from .._errors import ConfigurationError
from .._values import encode
from ._docstring import parse
from ._types import Node, Types, Unsupported


@dataclass(frozen=True)
class Description:
    """What is known of a function before it is called.

    Attributes:
        name: Name that the model sees.
        description: What the model is told.
        schema: JSON Schema of the arguments.
        context: The parameter that gets the run's context.
        decode: Makes values of JSON arguments; raises `ValueError` with the place of what does not fit.
        bind: Makes positional and keyword arguments of the values.
    """

    name: str
    description: str
    schema: dict[str, Any]
    context: str | None
    decode: Callable[[dict[str, Any]], dict[str, Any]]
    bind: Callable[[dict[str, Any]], tuple[list[Any], dict[str, Any]]]


def describe(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    names: Mapping[str, Any] | None = None,
) -> Description:
    """Describes a function by its type hints and its docstring; `names` are local ones that the hints may use.

    Raises:
        ConfigurationError: A parameter has no type or one that JSON cannot express, with both named.
    """
    if not callable(function):
        raise ConfigurationError(f"a tool is a function, not {type(function).__name__}")
    inner = _inner(function)
    name = name or _name_of(function)
    if name == "<lambda>":
        raise ConfigurationError("a lambda has no name and no types: write a function, or use Tool.from_schema")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"tool {name!r}: its signature cannot be read: {error}") from error
    hints = _hints(inner, names)
    words, docs = parse(inspect.getdoc(function if not isinstance(function, functools.partial) else inner))
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    translate = Types()
    nodes: dict[str, Node] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    positional: list[tuple[str, Any]] = []
    context: str | None = None
    for index, parameter in enumerate(signature.parameters.values()):
        if parameter.name in fixed or (index == 0 and _is_self(inner, parameter)):
            continue
        wrong = functools.partial(_wrong, name, parameter.name)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise wrong("takes any number of values: name each parameter")
        annotation = hints.get(parameter.name, parameter.annotation)
        if annotation is parameter.empty:
            raise wrong("has no type: annotate it")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append((parameter.name, parameter.default))
        if _is_context(annotation):
            if context is not None:
                raise wrong(f"is a second RunContext beside {context!r}: take one")
            context = parameter.name
            continue
        try:
            node = translate.node(annotation)
            if parameter.default is None and not node.check(None):
                node = translate.node(Union[annotation, None])  # noqa: UP007 - made at run time
        except Unsupported as error:
            raise wrong(str(error)) from None
        schema = dict(node.schema)
        if docs.get(parameter.name) and "description" not in schema:
            schema["description"] = docs[parameter.name]
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            _default(schema, node, parameter.default, wrong)
        nodes[parameter.name] = node
        properties[parameter.name] = schema
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if translate.definitions:
        schema["$defs"] = translate.definitions
    text = words if description is None else description
    return Description(name, text, schema, context, _decoder(nodes), _binder(positional))


def from_schema(function: Callable[..., Any], *, name: str, description: str, schema: dict[str, Any]) -> Description:
    """Describes a function that takes its arguments as keywords, by a schema made by hand."""
    contexts = [parameter for parameter, hint in _hints(_inner(function)).items() if _is_context(hint)]
    context = contexts[0] if contexts else None
    return Description(name, description, schema, context, dict, _binder([]))


def _inner(function: Any) -> Any:
    """The function whose hints count."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = type(function).__call__
    return inspect.unwrap(function)


def _name_of(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", None) or type(function).__name__


def _hints(function: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    local = dict(names or {})
    try:
        return typing.get_type_hints(function, localns=local or None, include_extras=True)
    except (NameError, AttributeError, TypeError):
        pass
    # Some hint cannot be resolved: the others still can, and the one is told by its parameter.
    found: dict[str, Any] = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        stand_in = types.SimpleNamespace(__annotations__={name: hint})
        try:
            known = getattr(function, "__globals__", {})
            found[name] = typing.get_type_hints(stand_in, globalns=known, localns=local, include_extras=True)[name]
        except (NameError, AttributeError, TypeError, SyntaxError):
            found[name] = hint
    return found


def _is_self(function: Any, parameter: inspect.Parameter) -> bool:
    """Whether this is the instance of a method whose class is still being made."""
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return bool(owner) and not owner.endswith("<locals>") and parameter.annotation is parameter.empty


def _is_context(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.split("[")[0].split(".")[-1].strip() == "RunContext"
    if get_origin(annotation) in (Union, types.UnionType):
        return any(_is_context(option) for option in get_args(annotation))
    return annotation is RunContext or get_origin(annotation) is RunContext


def _wrong(tool: str, parameter: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"tool {tool!r}: parameter {parameter!r}: {problem}")


def _default(schema: dict[str, Any], node: Node, default: Any, wrong: Callable[[str], Exception]) -> None:
    """Tells the default where JSON can; a value that only Python has just makes the parameter optional."""
    try:
        told = encode(default)
        value = default if isinstance(default, str) else json.loads(told) if isinstance(told, str) else None
    except (TypeError, ValueError):
        return
    try:
        fits = node.read(value) == default
    except ValueError:
        fits = False
    if fits:
        schema["default"] = value
    elif type(default) in (str, int, float, bool, list, dict):
        raise wrong(f"has the default {default!r}, which is not of its type")


def _decoder(nodes: dict[str, Node]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    work = {name: node.decode for name, node in nodes.items() if node.decode is not None}

    def decode(arguments: dict[str, Any]) -> dict[str, Any]:
        values = dict(arguments)
        for name, decode in work.items():
            if name in values:
                try:
                    values[name] = decode(values[name])
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from error
        return values

    return decode


def _binder(positional: list[tuple[str, Any]]) -> Callable[[dict[str, Any]], tuple[list[Any], dict[str, Any]]]:
    def bind(values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        if not positional:
            return [], values
        # What is given by its place needs everything before it.
        given = max((index for index, (name, _) in enumerate(positional, 1) if name in values), default=0)
        return [values.pop(name, default) for name, default in positional[:given]], values

    return bind
