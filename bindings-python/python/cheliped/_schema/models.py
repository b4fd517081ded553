"""Annotations that pydantic understands: its models, its dataclasses, its types.

pydantic is never imported here: whoever annotates with its types has imported it. It makes the schema and reads the
values; this file only moves them.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from .definitions import Definitions
from .node import Mismatch, Node, Schema, shown
from .scalars import DECIMAL_PATTERN
from .scope import Scope


def understands(annotation: Any) -> bool:
    """Whether this is one of pydantic's own types."""
    return "pydantic" in sys.modules and (
        hasattr(annotation, "__get_pydantic_core_schema__") or hasattr(annotation, "__pydantic_core_schema__")
    )


def is_field(default: Any) -> bool:
    """Whether a default value is a description of a field instead."""
    return type(default).__name__ == "FieldInfo" and type(default).__module__.startswith("pydantic")


def model(annotation: Any, scope: Scope, definitions: Definitions) -> Node:
    """The node of an annotation that pydantic reads."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None or not hasattr(pydantic, "TypeAdapter"):
        scope.refuse("pydantic 2 is needed for this annotation")
    name = getattr(annotation, "__name__", "value")
    try:
        # In a list, because a model that is the root would not be given a name to refer to.
        adapter = pydantic.TypeAdapter(list[annotation])
        listed = adapter.json_schema(mode="validation", schema_generator=_generator(pydantic))
    except Exception as error:
        scope.refuse(f"pydantic cannot make a schema of {name}: {error}", error)
    schema: Schema = definitions.adopt(_bare(listed))["items"]

    def decode(value: Any) -> Any:
        # As JSON, not as Python: models in strict mode read dates from JSON only.
        try:
            return adapter.validate_json(json.dumps([value]))[0]
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            problem = f"{first['msg']}, got {shown(first['input'])}"
            raise Mismatch(problem, first["loc"][1:]) from None
        except ValueError as error:
            raise Mismatch(f"expected {name}: {error}") from None

    hashable = getattr(annotation, "__hash__", None) is not None
    return Node(schema, decode, name, hashable=hashable, text=schema.get("type") == "string")


def _generator(pydantic: Any) -> Any:
    base = pydantic.json_schema.GenerateJsonSchema

    class Generator(base):  # type: ignore[misc,valid-type]
        """Decimals as text only: a JSON number would have lost digits before pydantic sees it."""

        def decimal_schema(self, schema: Any) -> Schema:
            return {"type": "string", "pattern": DECIMAL_PATTERN}

    return Generator


def _bare(schema: Any, properties: bool = False) -> Any:
    """Without titles, which repeat the names, and without discriminators, which are no JSON Schema."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {}
    for key, value in schema.items():
        if not properties and key in ("title", "discriminator"):
            continue
        if not properties and key in ("default", "enum", "const", "examples"):
            kept[key] = value
        else:
            kept[key] = _bare(value, not properties and key in ("properties", "$defs", "patternProperties"))
    return kept
