"""A function as a tool: its name, its description, its schema, and the way from JSON arguments to a call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import docstring
from .annotation import Compiler
from .defaults import fresh
from .models import is_field
from .node import Node
from .records import Members
from .signature import context_of, signature, takes_context


@dataclass(frozen=True)
class Description:
    """What the model is told of a function, and how its arguments come back.

    Attributes:
        name: Name of the tool.
        description: What it does; empty if the function has no docstring.
        schema: JSON Schema of its arguments, an object.
        context: Name of the parameter that takes the run context; `None` if none does.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    context: str | None
    _read: Callable[[Any], dict[str, Any]] = field(repr=False, compare=False)
    _fresh: tuple[tuple[str, Callable[[], Any]], ...] = field(repr=False, compare=False)
    _positional: tuple[tuple[str, Any], ...] = field(repr=False, compare=False)

    def decode(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """JSON arguments as the annotated Python values, by parameter.

        Optional parameters that are not given are left out, so that the function's own default holds; a default list,
        dict or set is given as a new copy, so that calls do not share it.

        Args:
            arguments: What `json.loads` made of the arguments. Values in it may be used in the result.

        Raises:
            ValueError: An argument is missing, unknown or of another type. The message says where, what was expected
                and what came, for the model to mend.
        """
        try:
            values = self._read(arguments)
        except RecursionError:
            raise ValueError("the arguments are nested too deeply") from None
        for name, make in self._fresh:
            if name not in values:
                values[name] = make()
        return values

    def bind(self, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments of the call.

        Args:
            values: What `decode` gave, with the run context under the name that `context` tells.
        """
        if not self._positional:
            return (), values
        rest = dict(values)
        given = [name in rest for name, _ in self._positional]
        last = len(given) - given[::-1].index(True) if True in given else 0
        return tuple(rest.pop(name, default) for name, default in self._positional[:last]), rest


def build(
    function: Callable[..., Any], name: str | None, description: str | None, names: Mapping[str, Any]
) -> Description:
    """Describes a function; see `describe`."""
    told = signature(function, name, names)
    text, texts = docstring.read(told.doc)
    compiler = Compiler()
    members = Members(texts, told.scope, compiler.definitions)
    context: str | None = None
    optional: list[tuple[str, Node, Any]] = []
    for parameter in told.parameters:
        place = told.scope.at(f"parameter {parameter.name!r} of {told.scope.place}")
        if takes_context(parameter.annotation, place):
            if context is not None:
                place.refuse(f"takes the run context, as {context!r} does; one parameter is enough")
            context = parameter.name
            continue
        try:
            node = compiler.node(place.resolve(parameter.annotation), place)
        except RecursionError as error:
            place.refuse("its type holds itself with ever new type arguments", error)
        required = parameter.default is inspect.Parameter.empty
        if required:
            members.add(parameter.name, node, required=True)
            continue
        if is_field(parameter.default):
            place.refuse("pydantic's Field belongs into the annotation: Annotated[int, Field(…)] = 3")
        members.add(parameter.name, node, required=False, default=parameter.default)
        optional.append((parameter.name, node, parameter.default))
    schema = compiler.definitions.finish(members.schema(), told.scope)
    copies = ((name, fresh(node, default)) for name, node, default in optional)
    positional = tuple(
        (parameter.name, parameter.default)
        for parameter in told.parameters
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    )
    return Description(
        told.name,
        text if description is None else description,
        schema,
        context,
        members.decoder(),
        tuple((name, make) for name, make in copies if make is not None),
        positional,
    )


def by_hand(function: Callable[..., Any], name: str, description: str, schema: Mapping[str, Any]) -> Description:
    """Describes a function whose schema was made by hand: its arguments are handed on as they come."""
    return Description(name, description, schema, context_of(function), dict, (), ())
