"""`AsyncShell`: the ends of calls, including cancelled ones."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from typing import Any, Callable, Coroutine, List, Optional

import pytest

from agent_bash import (
    AsyncShell,
    NoJob,
    Delta,
    Result,
    ShellError,
    ShellLost,
    _async,
    result_of,
)

from .conftest import World, present

Test = Callable[[AsyncShell], Coroutine[Any, Any, None]]


def in_shell(world: World, test: Test, **options: Any) -> None:
    async def main() -> None:
        async with AsyncShell(**world.options, **options) as sh:
            await test(sh)

    asyncio.run(asyncio.wait_for(main(), 60))


async def begun(world: World, name: str = "begun") -> None:
    """Waits until the command under test reports that it runs, by a file of this name."""
    while not (world.work / name).exists():
        await asyncio.sleep(0.02)


def test_success_failure_timeout_refusal_are_results(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        r = await sh.run("printf 'one\\ntwo\\n'; pwd")
        assert (r.text, r.is_error, r.exit_code) == (f"one\ntwo\n{world.work}\n", False, 0)
        r = await sh.run("echo out; exit 3")
        assert r.status == {"kind": "exited", "code": 3} and r.is_error and "out" in r.text
        r = await sh.run("echo before; sleep 60", timeout="1s")
        assert r.status["kind"] == "timed_out" and "before" in r.text
        r = await sh.run("git add -A && git commit -m wip")
        assert r.status["kind"] == "blocked" and r.rule and r.exit_code is None
        r = await sh.run("sleep 60 & echo $!")
        assert [s["pid"] for s in r.survivors] == [int(r.text.split()[0])]
        await sh.run(f"kill {r.survivors[0]['pid']}")

    in_shell(world, test)


def test_options_reach_the_call(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        (world.work / "below").mkdir()
        r = await sh.run("pwd; echo $A", cwd="below", env={"A": "b"}, description="looks")
        assert r.text == f"{world.work}/below\nb\n"
        await sh.run("x=1", session="main")
        assert (await sh.run("echo $x", session="main")).text == "1\n"
        r = await sh.run("seq 10", head=2)
        assert r.text.startswith("1\n2\n") and "3" not in r.text.split("\n")[2]

    in_shell(world, test)


def test_every_field_of_a_result_is_an_attribute(world: World) -> None:
    import json
    from pathlib import Path

    schema = Path(__file__).parents[3] / "docs/schema/tool_result.schema.json"
    fields = json.loads(schema.read_text())["properties"]

    async def test(sh: AsyncShell) -> None:
        r = await sh.run("true")
        assert {name: getattr(r, name) for name in fields if name in r.data} == r.data

    in_shell(world, test)
    assert all(hasattr(Result, name) for name in fields)


def test_a_cancelled_call_ends_and_leaves_its_output(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        task = asyncio.create_task(sh.run("echo part; touch begun; sleep 600"))
        await begun(world)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        result = result_of(caught.value)
        assert result and result.status["kind"] == "cancelled" and "part" in result.text

    in_shell(world, test)


def test_cancellation_without_wait_loses_the_partial_output(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_once(self: Any, seconds: float) -> Optional[Any]:
        return None

    monkeypatch.setattr(_async.AsyncCall, "outcome_within", at_once)

    async def test(sh: AsyncShell) -> None:
        task = asyncio.create_task(sh.run("echo part; touch begun; sleep 600"))
        await begun(world)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert result_of(caught.value) is None

    in_shell(world, test)


def test_a_second_cancellation_does_not_cut_the_wait_short(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        script = "trap 'sleep 0.5; echo last words; exit 1' TERM; echo part; touch begun; while :; do sleep 0.1; done"
        task = asyncio.create_task(sh.run(script))
        await begun(world)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        result = result_of(caught.value)
        assert result and "last words" in result.text

    in_shell(world, test)


def test_a_time_limit_of_asyncio_has_the_output_too(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        with pytest.raises(asyncio.TimeoutError) as caught:
            await asyncio.wait_for(sh.run("echo part; sleep 600"), 1)
        result = result_of(caught.value)
        assert result and "part" in result.text

    in_shell(world, test)


def test_a_stream_has_deltas_and_then_the_result(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        events: List[Any] = []
        async for event in sh.stream("for i in 1 2 3; do echo $i; sleep 0.2; done; exit 4"):
            events.append(event)
        *deltas, result = events
        assert all(isinstance(delta, Delta) for delta in deltas) and len(deltas) >= 2
        assert "".join(delta.text for delta in deltas) == "1\n2\n3\n"
        assert isinstance(result, Result) and result.exit_code == 4

    in_shell(world, test)


def test_a_stream_left_early_is_cancelled(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        async with sh.stream("echo part; sleep 600") as stream:
            async for _ in stream:
                break
        assert stream.result and stream.result.status["kind"] == "cancelled" and "part" in stream.result.text

        async for _ in sh.stream("echo $$ > pid; echo part; sleep 600"):
            break
        gc.collect()
        pid = int((world.work / "pid").read_text())
        while os.path.exists(f"/proc/{pid}"):
            await asyncio.sleep(0.02)

    in_shell(world, test)


def test_a_stream_whose_task_is_cancelled_leaves_its_output(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        async def read() -> None:
            async for _ in sh.stream("echo part; touch begun; sleep 600"):
                pass

        task = asyncio.create_task(read())
        await begun(world)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        result = result_of(caught.value)
        assert result and "part" in result.text

    in_shell(world, test)


def test_a_slow_consumer_gets_fewer_and_longer_deltas(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        count = 0
        text = ""
        skipped = 0
        script = "for i in $(seq 40); do echo line $i; sleep 0.05; done"
        async for event in sh.stream(script):
            if isinstance(event, Delta):
                count += 1
                text += event.text
                skipped += event.skipped_bytes
                await asyncio.sleep(0.5)
        assert skipped == 0 and text.splitlines() == [f"line {i}" for i in range(1, 41)]
        assert count <= 8, "there was one for each update"

    in_shell(world, test)


def test_a_lost_child_fails_every_call_and_nothing_is_retried(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        calls = [asyncio.ensure_future(sh.run(f"echo >> ran{i}; touch begun{i}; sleep 600")) for i in range(2)]
        stream = sh.stream("echo part; sleep 600")
        async for _ in stream:
            break
        for i in range(2):
            await begun(world, f"begun{i}")
        os.kill(sh.pid, signal.SIGKILL)
        for call in calls:
            with pytest.raises(ShellLost, match="killed by signal 9"):
                await call
        with pytest.raises(ShellLost):
            await stream.__anext__()
        with pytest.raises(ShellLost):
            await sh.run("echo again")
        assert [(world.work / f"ran{i}").read_text() for i in range(2)] == ["\n", "\n"]

    in_shell(world, test)


def test_program_that_does_not_start_is_an_error_with_the_reason(world: World) -> None:
    async def opened(**options: Any) -> None:
        async with AsyncShell(**world.options, **options):
            pass

    with pytest.raises(ShellLost, match="no-such-profile"):
        asyncio.run(opened(profile="no-such-profile"))
    with pytest.raises(ShellError, match="cannot start /no/such/program"):
        asyncio.run(opened(program="/no/such/program"))


def test_jobs_tools_artifacts(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        job = await sh.start("cat; echo over", stdin="pipe")
        await job.input("typed\n", close=True)
        assert (await job.wait(10))["over"]
        output = await job.output()
        assert output["text"] == "typed\nover\n"
        serve = "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)"
        job = await sh.start(f'python3 -c "{serve}; import time; time.sleep(600)"')
        while not (text := (await job.output())["text"]):
            await asyncio.sleep(0.02)
        port = int(text)
        waited = await job.wait(10, until={"line": "^[0-9]+$"})
        assert waited["met"] == {"kind": "line", "line": str(port)} and waited["output"] == text
        waited = await job.wait(10, until={"port": port})
        assert waited["met"] == {"kind": "port", "address": f"127.0.0.1:{port}", "of_job": True}
        assert "met" not in await job.wait("50ms", until={"file": "missing"})
        assert (await job.show())["listens_on"] == [f"127.0.0.1:{port}"]
        assert [j["id"] for j in await sh.jobs(port=port)] == [job.id]
        assert await sh.jobs(port=1) == []
        await job.kill()
        job = await sh.start("sleep 600")
        assert [j["id"] for j in await sh.jobs() if j["state"]["kind"] == "running"] == [job.id]
        killed = await job.kill()
        assert killed["job"]["state"]["kind"] == "ended" and killed["survivors"] == []
        with pytest.raises(NoJob, match="denied") as refused:
            await sh.start("git add -A")
        assert refused.value.result.status["kind"] == "blocked"

        tools = await sh.tools()
        assert [tool["name"] for tool in tools] == ["bash"]
        answer = await sh.call("bash", {"command": "exit 3"})
        assert answer.is_error and answer.result and answer.result.exit_code == 3
        with pytest.raises(ShellError, match="without an adapter there is `bash`"):
            await sh.call("exec_command", {"cmd": "true"})
        tools = await sh.tools("codex")
        assert "exec_command" in [tool["name"] for tool in tools]
        answer = await sh.call("exec_command", {"cmd": "echo said"})
        assert "said" in answer.content and not answer.is_error

        r = await sh.run("seq 30000")
        artifact = sh.artifact(r.artifacts[0]["id"])
        found = await artifact.grep("^2999[89]$")
        assert found == "29998:29998\n29999:29999\n" and found.data["total_matches"] == 2
        page = await artifact.show(tail=1)
        assert page == "30000\n" and page.data["total_lines"] == 30000
        with pytest.raises(ShellError, match="99"):
            await sh.artifact(99).show()
        assert (await sh.check("git add -A"))["verdict"] == "block"
        explained = await sh.explain("cd src && git add -A", cwd="/tmp")
        assert explained["verdict"]["rule"] and "in /tmp/src" in explained["text"]

    in_shell(world, test)


def test_a_terminal_is_typed_into_and_read(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        async with await sh.terminal("read -p 'Name: ' n; echo \"Hello $n\"; sleep 600") as term:
            await term.screen(until={"line": "^Name:"}, timeout=50)
            await term.send("Ann", "Enter")
            await term.screen(until={"line": "^Hello"}, timeout=50)
            assert term.text == "Name: Ann\nHello Ann"
        assert present(term.data["result"])["status"]["kind"] == "cancelled"

    in_shell(world, test)


def test_a_shell_belongs_to_its_loop(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        caught: List[BaseException] = []

        def elsewhere() -> None:
            try:
                asyncio.run(sh.run("true"))
            except ShellError as error:
                caught.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        await asyncio.get_running_loop().run_in_executor(None, thread.join)
        assert "another event loop" in str(caught[0])

    in_shell(world, test)


def test_use_of_a_closed_shell_is_an_error(world: World) -> None:
    async def test() -> None:
        sh = AsyncShell(**world.options)
        with pytest.raises(ShellError, match="not open"):
            await sh.run("true")
        await sh.open()
        with pytest.raises(ShellError, match="opened before"):
            await sh.open()
        await sh.aclose()
        with pytest.raises(ShellError, match="closed|ended"):
            await sh.run("true")

    asyncio.run(test())


def test_closing_ends_running_commands(world: World) -> None:
    async def test() -> None:
        async with AsyncShell(**world.options) as sh:
            task = asyncio.create_task(sh.run("echo part; touch begun; sleep 600"))
            await begun(world)
        r = await task
        assert r.status["kind"] == "cancelled" and "part" in r.text

    asyncio.run(test())


def test_calls_beyond_the_limit_are_queued(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        answers = await asyncio.gather(*(sh.request("jobs.list") for _ in range(2000)))
        assert len(answers) == 2000

    in_shell(world, test)


def test_unsolicited_messages_are_passed_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for a newer program, with messages that are unknown to this version."""
    program = world.root / "newer"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    data = {'version': '9', 'profile': 'new', 'tools': None, 'field': 'new'}\n"
        "    for message in ({'type': 'news', 'of': 1}, {'type': 'gossip', 'id': request['id']},\n"
        "                    {'type': 'response', 'id': request['id'], 'command': request['type'], 'success': True,\n"
        "                     'data': data, 'more': 1}):\n"
        "        print(json.dumps(message), flush=True)\n"
    )
    program.chmod(0o755)
    events: List[Any] = []

    async def test() -> None:
        async with AsyncShell(**world.options, program=str(program), on_event=events.append) as sh:
            assert dict(sh.hello)["field"] == "new"

    asyncio.run(test())
    assert events == [{"type": "news", "of": 1}, {"type": "gossip", "id": 1}]


def test_changes_are_undone_singly_since_and_by_turn(world: World) -> None:
    async def test(sh: AsyncShell) -> None:
        (world.work / "a").write_text("1\n")
        sh.turn = "first"
        one = present((await sh.run("echo 2 > a")).changes)
        await sh.run("echo new > b")
        sh.turn = "second"
        await sh.run("echo 3 > a; echo later > c")
        assert [found.get("turn") for found in await sh.changes()] == ["first", "first", "second"]
        assert "-1" in present((await sh.diff(one["id"], paths=["a"]))[0]["diff"])

        with pytest.raises(ShellError) as conflict:
            await sh.undo(one["id"])
        assert conflict.value.code == "conflict" and (world.work / "a").read_text() == "3\n"
        await sh.undo(turn="last")
        assert (world.work / "a").read_text() == "2\n" and not (world.work / "c").exists()
        await sh.redo(turn="second")
        assert (world.work / "c").exists()
        await sh.undo(since=one["id"])
        assert [path.name for path in world.work.iterdir()] == ["a"] and (world.work / "a").read_text() == "1\n"
        with pytest.raises(ShellError, match="one of a change set"):
            await sh.undo()

        held = present((await sh.run("echo held > d", trial=True)).changes)
        await sh.discard(held["id"])
        held = present((await sh.run("echo held > e", trial=True)).changes)
        assert not (world.work / "e").exists()
        await sh.commit(held["id"])
        assert not (world.work / "d").exists() and (world.work / "e").exists()

    in_shell(world, test)
