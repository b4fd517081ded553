"""Every example in the documentation runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import cheliped


def test_examples() -> None:
    ran = 0
    for module in pkgutil.walk_packages(cheliped.__path__, "cheliped."):
        if module.name.rsplit(".", 1)[-1] in ("_native", "__main__"):
            continue
        result = doctest.testmod(importlib.import_module(module.name))
        assert result.failed == 0, module.name
        ran += result.attempted
    assert doctest.testmod(cheliped).failed == 0
    assert ran > 40
