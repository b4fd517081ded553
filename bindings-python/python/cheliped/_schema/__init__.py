"""JSON Schema from functions: what a model is told of a signature, and how its arguments become Python values.

What JSON cannot express is refused when the tool is made, with the function and the parameter named; nothing becomes a
text by accident.
"""

from ._signature import Description, describe, from_schema

__all__ = ["Description", "describe", "from_schema"]
