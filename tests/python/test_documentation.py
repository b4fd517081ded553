"""Every example in the documentation runs and gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

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


def test_the_readme_of_the_package_runs() -> None:
    readme = Path(__file__).parents[2] / "bindings-python" / "README.md"
    blocks = re.findall(r"^```python\n(.*?)^```", readme.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    said = [
        subprocess.run([sys.executable, "-X", "dev", "-c", block], capture_output=True, text=True, timeout=60)
        for block in blocks
    ]
    assert [(done.returncode, done.stderr) for done in said] == [(0, ""), (0, "")]
    assert "Oslo" in said[0].stdout
    assert "Rome" in said[0].stdout
