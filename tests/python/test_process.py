"""Whole processes: how they end, what they say, forks, pools, other loops."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

PRELUDE = """
import asyncio, os, sys, time
from cheliped import Agent, ScriptedProvider, tool
CALL = {"calls": [{"name": "work", "arguments": {}}]}
def agent(work):
    return Agent(provider=ScriptedProvider({"steps": [CALL, "done"], "by_turn": True}), tools=[tool(name="work")(work)])
def plain() -> str:
    time.sleep(0.005)
    return "ok"
async def waiting() -> str:
    await asyncio.sleep(0.005)
    return "ok"
def endless() -> str:
    time.sleep(60)
    return "never"
async def waiting_long() -> str:
    await asyncio.sleep(60)
    return "never"
def lambda_free() -> str:
    raise ValueError("of a tool")
# What the first tool loads is loaded here, and not inside a loop that complains of slow steps.
agent(plain)
"""
ROUNDS = 8
"""Processes of each kind; `CHELIPED_ROUNDS` asks for more."""


def python(program: str, *options: str, limit: float = 30) -> tuple[int, str, str, float]:
    """Runs a program and gives its exit code, what it wrote, and how long it took to end after its last word."""
    started = subprocess.Popen(
        [sys.executable, *options, "-c", PRELUDE + program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
    try:
        out, error = started.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        started.kill()
        raise
    said = [line for line in out.splitlines() if line.startswith("END ")]
    took = time.time() - float(said[-1].split()[1]) if said else 0.0
    return started.returncode, out, error, took


# Agents are made before the loop starts: asyncio complains in its debug mode when a busy machine takes 0.1 s over that.
ENDS = {
    "finished plain": "print(agent(plain).send_sync('go').text)",
    "finished waiting": "print(agent(waiting).send_sync('go').text)",
    "both, three loops": (
        "for _ in range(3):\n"
        "    print(asyncio.run(agent(plain).send('go')).text, asyncio.run(agent(waiting).send('go')).text)"
    ),
    "stream": (
        "made = agent(waiting)\n"
        "async def main():\n"
        "    async with made.stream('go') as stream:\n"
        "        async for event in stream:\n"
        "            pass\n"
        "asyncio.run(main())"
    ),
    "stream left open": (
        "made = agent(waiting_long)\n"
        "async def main():\n"
        "    stream = made.stream('go')\n"
        "    async for event in stream:\n"
        "        if type(event).__name__ == 'ToolCallStarted':\n"
        "            break\n"
        "asyncio.run(main())"
    ),
    "unfinished plain": (
        "made = agent(endless)\n"
        "async def main():\n"
        "    task = asyncio.create_task(made.send('go'))\n"
        "    await asyncio.sleep(0.1)\n"
        "asyncio.run(main())"
    ),
    "unfinished waiting": (
        "made = agent(waiting_long)\n"
        "async def main():\n"
        "    task = asyncio.create_task(made.send('go'))\n"
        "    await asyncio.sleep(0.1)\n"
        "asyncio.run(main())"
    ),
    "never run": "agent(plain)",
    "exit in the middle": (
        "made = agent(endless)\n"
        "async def main():\n"
        "    task = asyncio.create_task(made.send('go'))\n"
        "    await asyncio.sleep(0.1)\n"
        "    print('END', time.time(), flush=True)\n"
        "    sys.exit(3)\n"
        "asyncio.run(main())"
    ),
}


ALONE = {
    "a loop that is closed at once": """
made = agent(waiting_long)
async def main():
    try:
        await asyncio.wait_for(made.send('go'), 0.1)
    except asyncio.TimeoutError:
        print('timed out')
    async with made.stream('go') as stream:
        async for event in stream:
            if type(event).__name__ == 'ToolCallStarted':
                await asyncio.sleep(0.05)
                break
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
loop.close()
""",
    "what a run held is let go": """
import gc, weakref
class Deps:
    pass
for work in (plain, waiting):
    deps = Deps()
    gone = weakref.ref(deps)
    agent(work).send_sync('go', deps=deps)
    del deps
    gc.collect()
    assert gone() is None, work
""",
    "a coroutine that comes too late": """
def late() -> str:
    time.sleep(0.2)
    return waiting_long()
made = agent(late)
async def main():
    try:
        await asyncio.wait_for(made.send('go'), 0.1)
    except asyncio.TimeoutError:
        print('timed out')
asyncio.run(main())
time.sleep(0.3)
""",
    "hooks and tools that raise": """
def broken(*_):
    raise KeyError('of a callable')
made = Agent(
    provider=ScriptedProvider([CALL, 'done']), tools=[tool(name='work')(lambda_free)], hooks=[broken]
)
made.send_sync('go')
""",
    "an agent asked when all is over": """
import atexit
atexit.register(lambda: print(agent(waiting).send_sync('go').text))
agent(plain).send_sync('go')
""",
}


@pytest.mark.parametrize("what", ALONE)
def test_a_process_has_nothing_to_say(what: str) -> None:
    code, _, error, _ = python(ALONE[what], "-X", "dev", "-W", "error")
    assert (code, error) == (0, "")


def test_a_tool_may_end_the_process() -> None:
    code, _, error, _ = python("async def work() -> str:\n    sys.exit(7)\nagent(work).send_sync('go')", "-X", "dev")
    assert (code, error) == (7, "")


@pytest.mark.parametrize("options", [(), ("-X", "dev", "-W", "error")], ids=["plain", "dev"])
@pytest.mark.parametrize("ending", ENDS)
def test_processes_end_quietly_and_at_once(ending: str, options: tuple[str, ...]) -> None:
    program = ENDS[ending] + "\nprint('END', time.time(), flush=True)\n"
    for _ in range(int(os.environ.get("CHELIPED_ROUNDS", ROUNDS))):
        code, _out, error, took = python(program, *options)
        assert (code, error) == (3 if ending == "exit in the middle" else 0, "")
        assert took < 1


def test_ctrl_c_ends_a_run_and_its_tool() -> None:
    for work in ("endless", "waiting_long"):
        program = PRELUDE + f"print('READY', flush=True)\nagent({work}).send_sync('go')\n"
        started = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert started.stdout is not None
        assert started.stdout.readline() == "READY\n"
        time.sleep(0.3)
        before = time.perf_counter()
        started.send_signal(signal.SIGINT)
        _, error = started.communicate(timeout=20)
        assert time.perf_counter() - before < 1
        assert started.returncode in (-signal.SIGINT, 1, 130)
        assert error.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_has_an_engine_of_its_own() -> None:
    program = """
print(agent(plain).send_sync('go').text)
for work in (plain, waiting):
    child = os.fork()
    if child == 0:
        print(agent(work).send_sync('go').text, flush=True)
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(agent(waiting).send_sync('go').text)
"""
    for _ in range(5):
        # From 3.12 on Python warns of every fork beside threads, whatever they do.
        code, out, error, _ = python(program, "-W", "ignore:This process:DeprecationWarning")
        assert (code, error) == (0, "")
        assert out.split().count("done") >= 4


def test_threads_that_retire_take_no_work_with_them() -> None:
    from cheliped._threads import Threads

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    pool, over = Threads(), threading.Event()

    def submit() -> None:
        while not over.is_set():
            done = threading.Event()
            pool.submit(done.set)
            assert done.wait(10)

    def retire() -> None:
        while not over.is_set():
            pool.retire()

    threads = [threading.Thread(target=work, daemon=True) for work in (submit, submit, submit, retire)]
    try:
        for thread in threads:
            thread.start()
        time.sleep(2)
        over.set()
        for thread in threads:
            thread.join(10)
        assert not any(thread.is_alive() for thread in threads)
    finally:
        over.set()
        sys.setswitchinterval(before)


def answer(number: int) -> str:
    """Runs an agent in a process of a pool."""
    from cheliped import Agent, ScriptedProvider

    return Agent(provider=ScriptedProvider([f"answer {number}"])).send_sync("go").text


def test_a_pool_of_fresh_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(answer, range(4))) == [f"answer {number}" for number in range(4)]


def test_under_uvloop() -> None:
    pytest.importorskip("uvloop")
    program = """
import uvloop
async def main():
    print((await agent(plain).send('go')).text, (await agent(waiting).send('go')).text)
    task = asyncio.create_task(agent(waiting_long).send('go'))
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
uvloop.run(main()) if hasattr(uvloop, 'run') else uvloop.install() or asyncio.run(main())
print('END', time.time(), flush=True)
"""
    for _ in range(3):
        code, out, error, took = python(program)
        assert (code, error) == (0, "")
        assert out.startswith("done done")
        assert took < 1


def test_importing_is_cheap_and_touches_no_loop() -> None:
    program = """
import resource
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
before = cpu()
import cheliped
print((cpu() - before) * 1000)
"""
    clean = "import asyncio\n" + program
    figures = []
    for _ in range(5):
        out = subprocess.run([sys.executable, "-c", clean], capture_output=True, text=True, check=True).stdout
        figures.append(float(out))
    # A rough bound against accidents; the bench measures.
    assert min(figures) < 60


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).with_name("cheliped")
    said = subprocess.run([str(command), "--help"], capture_output=True, text=True, timeout=30)
    assert said.returncode == 0
    assert "agent" in said.stdout
    wrong = subprocess.run([str(command), "nonsense"], capture_output=True, text=True, timeout=30)
    assert wrong.returncode == 2
    root = Path(__file__).parents[2] / "examples" / "sample"
    asked = [str(command), "agent", "What kind of project is this?", "--provider", "offline", "--root", str(root)]
    assert subprocess.run(asked, capture_output=True, text=True, timeout=30).returncode == 0
