"""From an annotation to a node: decides which kind of annotation it is, and refuses what JSON cannot say."""

from __future__ import annotations

import types
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

from .constraints import constrained, needs_pydantic
from .containers import container, union
from .definitions import Definitions
from .models import model, understands
from .node import Node
from .records import record
from .scalars import choice, scalar
from .scope import Scope, class_scope

_HINTS = {
    "bytes": "take text, and decode it in the function",
    "bytearray": "take text, and decode it in the function",
    "complex": "take two numbers",
    "Callable": "a function cannot come from the model",
    "type": "take a name, as a Literal or an Enum",
    "Iterator": "take a list",
    "Generator": "take a list",
    "RunContext": "one parameter of its own may take the run context, not a part of another",
    "namedtuple": "use typing.NamedTuple",
}


class Compiler:
    """Compiles the annotations of one function."""

    def __init__(self) -> None:
        self.definitions = Definitions()

    def node(self, annotation: Any, scope: Scope) -> Node:
        """The node of one annotation."""
        if isinstance(annotation, (str, ForwardRef)):
            return self._forward(annotation, scope)
        if isinstance(annotation, TypeVar):
            return self._variable(annotation, scope)
        if getattr(annotation, "__unpacked__", False) or getattr(annotation, "_name", None) == "Unpack":
            scope.refuse(f"{annotation} has no fixed place; use tuple[X, ...] or a list")
        annotation = scope.substitute(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            metadata = annotation.__metadata__
            if needs_pydantic(metadata):
                return model(annotation, scope, self.definitions)
            return constrained(self.node(annotation.__origin__, scope), metadata, scope)
        if origin is Union or origin is types.UnionType:
            return union([self.node(member, scope) for member in arguments])
        if origin is Literal:
            return choice(arguments, scope)
        if type(origin or annotation).__name__ == "TypeAliasType":
            return self._alias(origin or annotation, arguments, scope)
        if hasattr(annotation, "__supertype__"):
            return self.node(annotation.__supertype__, scope)
        if getattr(annotation, "_name", None) == "LiteralString":
            return self.node(str, scope)
        if understands(origin or annotation):
            return model(annotation, scope, self.definitions)
        cls = origin or annotation
        node = scalar(cls, scope) if origin is None else None
        node = node or self._container(annotation, cls, arguments, scope)
        node = node or record(cls, arguments, scope, self.node, self.definitions)
        return node or self._refuse(annotation, cls, scope)

    def _container(self, annotation: Any, cls: Any, arguments: tuple[Any, ...], scope: Scope) -> Node | None:
        try:
            return container(annotation, cls, arguments, scope, self.node)
        except TypeError:  # An annotation that cannot be hashed, a list for example.
            return None

    def _forward(self, annotation: str | ForwardRef, scope: Scope) -> Node:
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        resolved = scope.resolve(annotation)
        if isinstance(resolved, type) and get_origin(resolved) is None:
            return self.node(resolved, scope)
        # `JSON = Union[str, List["JSON"]]`: a name of a type that may hold itself.
        return self.definitions.node((text, resolved), text, lambda reference: self.node(resolved, scope))

    def _variable(self, variable: TypeVar, scope: Scope) -> Node:
        if scope.closed and variable not in scope.arguments:
            scope.refuse(f"what {variable} of a base class stands for is not known; write the base with its arguments")
        argument = scope.arguments.get(variable, variable)
        if argument is not variable:
            return self.node(argument, scope)
        if variable.__bound__ is not None:
            return self.node(variable.__bound__, scope)
        if variable.__constraints__:
            return union([self.node(constraint, scope) for constraint in variable.__constraints__])
        has_default = getattr(variable, "has_default", lambda: False)
        return self.node(getattr(variable, "__default__", Any) if has_default() else Any, scope)

    def _alias(self, alias: Any, arguments: tuple[Any, ...], scope: Scope) -> Node:
        arguments = tuple(scope.resolve(argument) for argument in arguments)
        mapping = {variable: variable for variable in alias.__type_params__}
        mapping.update(zip(alias.__type_params__, arguments, strict=False))
        inner = class_scope(alias, f"{scope.place}, {alias.__name__}", mapping)

        def build(reference: Node) -> Node:
            try:
                value = alias.__value__
            except Exception as error:
                scope.refuse(f"the type {alias.__name__} cannot be read: {type(error).__name__}: {error}", error)
            return self.node(value, inner)

        name = "_".join([alias.__name__, *(getattr(argument, "__name__", str(argument)) for argument in arguments)])
        return self.definitions.node((alias, arguments), name, build)

    def _refuse(self, annotation: Any, cls: Any, scope: Scope) -> Node:
        name = getattr(cls, "__name__", None) or getattr(cls, "_name", None) or str(cls)
        shown = (
            f"{cls.__module__}.{cls.__qualname__}" if annotation is cls and isinstance(cls, type) else str(annotation)
        )
        hint = _HINTS.get(name, "use JSON's types, a dataclass, a TypedDict, or Any, and convert in the function")
        scope.refuse(f"JSON cannot express {shown}; {hint}")
