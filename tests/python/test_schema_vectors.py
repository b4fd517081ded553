"""Runs `tests/vectors/schemas/python.json`: functions as source, and what must come of them."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from cheliped._errors import ConfigurationError
from cheliped._schema import describe

VECTORS = Path(__file__).parent.parent / "vectors" / "schemas" / "python.json"
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text("utf-8"))["cases"]
KEYS = {"name", "about", "python", "needs", "source", "schema", "description", "context", "accepts", "refuses", "error"}


def runnable() -> list[Any]:
    cases = []
    for case in CASES:
        marks = []
        if sys.version_info < tuple(map(int, case.get("python", "3.10").split("."))):
            marks.append(pytest.mark.skip(reason=f"needs Python {case['python']}"))
        for module in case.get("needs", []):
            if importlib.util.find_spec(module) is None:
                marks.append(pytest.mark.skip(reason=f"needs {module}"))
        cases.append(pytest.param(case, id=case["name"], marks=marks))
    return cases


def tool_of(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType("vector")
    # Classes find the names of their annotations through their module.
    monkeypatch.setitem(sys.modules, "vector", module)
    exec(compile(case["source"], f"<{case['name']}>", "exec", dont_inherit=True), vars(module))
    return vars(module)["tool"]


def test_cases_have_known_keys_and_names_of_their_own() -> None:
    assert len(CASES) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)
    for case in CASES:
        assert set(case) <= KEYS, case["name"]
        assert ("error" in case) != ("schema" in case), case["name"]


@pytest.mark.parametrize("case", runnable())
def test_a_function_is_described_and_called(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tool_of(case, monkeypatch)
    if "error" in case:
        with pytest.raises(ConfigurationError) as refused:
            describe(tool)
        for part in [case["error"]] if isinstance(case["error"], str) else case["error"]:
            assert part in str(refused.value)
        return
    described = describe(tool)
    assert described.schema == case["schema"]
    if "pydantic" not in case.get("needs", []):  # Whose order of keys is its own.
        assert json.dumps(described.schema) == json.dumps(case["schema"])
    assert described.description == case.get("description", "")
    assert described.context == case.get("context")
    for example in case.get("accepts", []):
        arguments = json.loads(json.dumps(example["arguments"]))
        values = described.decode(arguments)
        assert {name: repr(value) for name, value in values.items()} == example["values"]
    for example in case.get("refuses", []):
        with pytest.raises(ValueError) as mismatch:
            described.decode(json.loads(json.dumps(example["arguments"])))
        assert not isinstance(mismatch.value, ConfigurationError)
        assert example["message"] in str(mismatch.value)


@pytest.mark.parametrize("case", runnable())
def test_what_is_accepted_fits_the_schema(case: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    if "schema" not in case:
        return
    jsonschema.Draft202012Validator.check_schema(case["schema"])
    validator = jsonschema.Draft202012Validator(case["schema"])
    for example in case.get("accepts", []):
        validator.validate(example["arguments"])
