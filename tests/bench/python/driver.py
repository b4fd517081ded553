"""`driver.py PEER WORKLOAD URL RUNS` measures one workload of one peer in a process of its own and prints one JSON line.

The workloads are those of the Rust drivers; `src/main.rs` says what each is.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import sys
import time
from typing import Any

SYSTEM = "You add numbers. Use the tool."
MESSAGE = "Add what the tool needs, then answer."
ANSWER = "The answer is 42."
TOKENS = 2000
CONVERSATIONS, MESSAGES = 1000, 50


def resident_mb() -> float:
    """Memory of this process that is in RAM, in MB."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next((line for line in status if line.startswith("VmRSS:")), "VmRSS: 0 kB")
    return int(line.split()[1]) / 1024


class Watch:
    """CPU and wall time of a piece of work."""

    def __init__(self) -> None:
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def report(self, memory_mb: float) -> None:
        """Prints the measurement."""
        cpu, wall = time.process_time() - self.cpu, time.perf_counter() - self.wall
        print(json.dumps({"cpu_s": cpu, "wall_s": wall, "memory_mb": memory_mb}))


def text(conversation: int, message: int) -> str:
    """About 126 characters, no two alike."""
    number = f"{(message * 6151 + conversation * 31) % 99_991:05} "
    return f"Conversation {conversation}, message {message}: {number * 16}"


def imported(peer: str) -> None:
    """What importing costs beside asyncio: in milliseconds of CPU, and in memory."""
    del asyncio.__dict__["__doc__"]
    memory, watch = resident_mb(), Watch()
    importlib.import_module({"cheliped": "cheliped", "client": "openai"}[peer])
    watch.report(resident_mb() - memory)


async def measured(peer: Any, workload: str, runs: int) -> None:
    """Runs one workload."""
    if workload == "A":
        agent = peer.agent("tools-3", 1)
        for _ in range(20):
            await peer.run(agent)
        watch = Watch()
        for _ in range(runs):
            await peer.run(agent)
        watch.report(resident_mb())
    elif workload == "B":
        await peer.run(peer.agent("tools-3", 1))
        agent = peer.agent("tools-3-lat-20", 1)
        watch = Watch()
        await asyncio.gather(*(peer.run(agent) for _ in range(runs)))
        watch.report(resident_mb())
    elif workload == "C":
        agent = peer.agent(f"stream-{TOKENS}", 1)
        await streamed(peer, agent)
        watch = Watch()
        for _ in range(runs):
            await streamed(peer, agent)
        watch.report(resident_mb())
    elif workload == "D":
        Watch().report(resident_mb())
    elif workload == "E":
        peer.agent("answer", 10)
        watch = Watch()
        kept = [peer.agent("answer", 10) for _ in range(runs)]
        watch.report(resident_mb())
        del kept
    elif workload == "F":
        before = resident_mb()
        watch = Watch()
        kept = [peer.conversation([text(c, m) for m in range(MESSAGES)]) for c in range(CONVERSATIONS)]
        gc.collect()
        watch.report(resident_mb() - before)
        del kept


async def streamed(peer: Any, agent: Any) -> None:
    """Streams one answer; every token must come as a piece."""
    whole, pieces = await peer.stream(agent)
    assert whole.strip() == (" tok" * TOKENS).strip()
    assert pieces > TOKENS / 2, pieces


def main() -> None:
    """Reads the arguments."""
    peer, workload, url, runs = sys.argv[1:]
    if workload == "import":
        imported(peer)
        return
    module = importlib.import_module(f"{peer}_peer")
    asyncio.run(measured(module.Peer(url), workload, int(runs)))


if __name__ == "__main__":
    main()
