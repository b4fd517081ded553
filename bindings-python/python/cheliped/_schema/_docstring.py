"""Descriptions in docstrings of the Google, NumPy and Sphinx styles."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(
    r"(args|arguments|parameters|params|keyword args|keyword arguments|other parameters|returns?|yields?|raises|examples?"
    r"|notes?|warnings?|see also|attributes|todo|references)\s*:?$",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(
    r"(args|arguments|parameters|params|keyword args|keyword arguments|other parameters)\s*:?$", re.I
)
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
_SPHINX = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
_FIELD = re.compile(r":\w+[^:]*:")


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """The words before the first section, and the words on each parameter."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    description: list[str] = []
    parameters: dict[str, str] = {}
    index = 0
    while index < len(lines) and not _starts_section(lines, index):
        description.append(lines[index])
        index += 1
    while index < len(lines):
        line = lines[index].strip()
        sphinx = _SPHINX.match(line)
        if sphinx:
            words, index = _continued(lines, index, sphinx.group(2))
            parameters[sphinx.group(1)] = words
        elif _PARAMETERS.match(line):
            underlined = _is_underline(lines, index + 1)
            index = _entries(lines, index + (2 if underlined else 1), parameters, numpy=underlined)
        else:
            index += 1
    return "\n".join(description).strip(), parameters


def _is_underline(lines: list[str], index: int) -> bool:
    return index < len(lines) and bool(re.fullmatch(r"-{3,}", lines[index].strip()))


def _starts_section(lines: list[str], index: int) -> bool:
    line = lines[index]
    if line[:1].isspace():
        return False
    if _FIELD.match(line):
        return True
    return bool(_SECTION.match(line)) and (line.rstrip().endswith(":") or _is_underline(lines, index + 1))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _continued(lines: list[str], index: int, first: str) -> tuple[str, int]:
    """The words of an entry that goes on in deeper lines, and where it ends."""
    depth = _indent(lines[index])
    words = [first.strip()]
    index += 1
    while index < len(lines) and lines[index].strip() and _indent(lines[index]) > depth:
        words.append(lines[index].strip())
        index += 1
    return " ".join(word for word in words if word), index


def _entries(lines: list[str], index: int, parameters: dict[str, str], *, numpy: bool) -> int:
    """Reads the entries of a section and gives where it ends."""
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            index += 1
            continue
        if numpy == line[:1].isspace() or _starts_section(lines, index):
            return index
        entry = (_NUMPY if numpy else _GOOGLE).match(line.strip())
        if entry is None:
            index += 1
            continue
        words, index = _continued(lines, index, "" if numpy else entry.group(2))
        for name in entry.group(1).split(","):
            parameters[name.strip()] = words
    return index
