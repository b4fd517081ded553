"""What a docstring says: a description, and a text for each parameter.

Reads the styles of Google, NumPy and Sphinx. Everything from the first section on (`Args:`, `Returns:`, `:param x:` …)
is no description.
"""

from __future__ import annotations

import inspect
import re

_PARAMETERS = frozenset(
    ["args", "arguments", "attributes", "keyword_args", "keyword_arguments", "other_parameters", "parameters", "params"]
)
_OTHERS = frozenset(
    """example examples methods note notes raise raises receives references return returns see_also todo warning
    warnings warns yield yields""".split()  # noqa: SIM905
)
_FIELD = re.compile(
    r":(?:(?:param|parameter|arg|argument|key|keyword|var|ivar)\s+(?:[^:]*\s)?\**(\w+)|[a-z]+[^:]*)\s*:(.*)"
)
_GOOGLE_ENTRY = re.compile(r"\**(\w+)\s*(?:\(.*?\))?\s*:(?:\s+(.*)|$)")
_NUMPY_ENTRY = re.compile(r"(\**\w+(?:\s*,\s*\**\w+)*)\s*(?::.*)?$")


def read(docstring: str | None) -> tuple[str, dict[str, str]]:
    """The description (paragraphs parted by an empty line) and the texts of the parameters by name."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    description: list[str] = []
    texts: dict[str, str] = {}
    index, described = 0, False
    while index < len(lines):
        section, start = _section(lines, index)
        if section is not None:
            end = _section_end(lines, start, numpy=start == index + 2)
            if section:
                texts.update(_entries(lines[start:end], numpy=start == index + 2))
            index, described = end, True
        elif match := _FIELD.match(lines[index]):
            end = index + 1
            while end < len(lines) and lines[end].strip() and not lines[end].startswith(":"):
                end += 1
            if match[1]:
                texts[match[1]] = _joined([match[2], *lines[index + 1 : end]])
            index, described = end, True
        else:
            if not described:
                description.append(lines[index])
            index += 1
    return _paragraphs(description), {name: text for name, text in texts.items() if text}


def _section(lines: list[str], index: int) -> tuple[bool | None, int]:
    """Whether a section starts here, and where its text does: true for parameters, false for others, none for none."""
    line = lines[index].rstrip()
    title = line.removesuffix(":").lower().replace(" ", "_")
    if title not in _PARAMETERS and title not in _OTHERS:
        return None, index
    if index + 1 < len(lines) and re.fullmatch(r"-{3,}\s*", lines[index + 1]):
        return title in _PARAMETERS, index + 2
    return (title in _PARAMETERS, index + 1) if line.endswith(":") else (None, index)


def _section_end(lines: list[str], start: int, numpy: bool) -> int:
    for index in range(start, len(lines)):
        line = lines[index]
        if numpy and index + 1 < len(lines) and line.strip() and re.fullmatch(r"[-=]{3,}\s*", lines[index + 1]):
            return index
        if not numpy and line.strip() and not line[0].isspace():
            return index
    return len(lines)


def _entries(lines: list[str], numpy: bool) -> dict[str, str]:
    texts: dict[str, str] = {}
    block = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    names: list[str] = []
    parts: list[str] = []

    def close() -> None:
        for name in names:
            texts[name] = _joined(parts)

    for line in block:
        if line.strip() and not line[0].isspace():
            match = (_NUMPY_ENTRY if numpy else _GOOGLE_ENTRY).match(line)
            close()
            names = [name.strip().lstrip("*") for name in match[1].split(",")] if match else []
            parts = [] if numpy or match is None else [match[2] or ""]
        else:
            parts.append(line)
    close()
    return texts


def _joined(lines: list[str]) -> str:
    return " ".join(part for line in lines if (part := line.strip()))


def _paragraphs(lines: list[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines).strip()
    return re.sub(r"\n{3,}", "\n\n", text)
