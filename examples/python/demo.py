"""The demonstration: questions about a sample project, answered with tools.

The model is `offline`, which follows rules and needs neither key nor network. With `--live` it is the one that the
environment has a key for.
"""

import asyncio
import sys
from pathlib import Path

from cheliped import Agent, TextDelta, ToolCallFinished, ToolCallStarted, tool

ROOT = Path(__file__).parents[1] / "sample"
QUESTIONS = [
    'Which lines of "logs/app.log" contain "ERROR"?',
    'How many lines has "data/orders.csv"?',
]


def inside(path: str) -> Path:
    """A file of the sample project, and of nothing else."""
    file = (ROOT / path).resolve()
    if not file.is_relative_to(ROOT.resolve()) or not file.is_file():
        raise FileNotFoundError(path)
    return file


@tool(mutating=False)
def find_lines(path: str, contains: str) -> str:
    """Finds the lines of a file that contain a text.

    Args:
        path: The file.
        contains: What the lines contain.
    """
    lines = inside(path).read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if contains in line) or "none"


@tool(mutating=False)
async def count_lines(path: str) -> int:
    """Counts the lines of a file: how many lines it has.

    Args:
        path: The file.
    """
    return len(inside(path).read_text("utf-8").splitlines())


async def main() -> None:
    live = sys.argv[1:] == ["--live"]
    agent = Agent(provider=None if live else "offline", tools=[find_lines, count_lines])
    for question in QUESTIONS:
        print(f"? {question}")
        async with agent.stream(question) as stream:
            async for event in stream:
                match event:
                    case ToolCallStarted(name, arguments):
                        print(f"  {name} {arguments}")
                    case ToolCallFinished():
                        print("  ", end="")
                    case TextDelta(text):
                        print(text.replace("\n", "\n  "), end="")
        print("\n")


asyncio.run(main())
