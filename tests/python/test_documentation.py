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


def test_the_programs_of_the_readme() -> None:
    readme = Path(__file__).parents[2] / "bindings-python" / "README.md"
    programs = re.findall(r"```python\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
    assert len(programs) == 3
    for program in programs:
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (0, "")
