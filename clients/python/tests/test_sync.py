"""`Shell`: threads, forks, Ctrl-C, and the same methods as `AsyncShell`."""

from __future__ import annotations

import gc
import inspect
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List

import pytest

import agent_bash
from agent_bash import AsyncShell, Delta, Result, Shell, ShellError, ShellLost, result_of

from .conftest import World, present


def test_how_calls_end(world: World) -> None:
    with Shell(**world.options) as sh:
        assert sh.run("echo one").text == "one\n"
        assert sh.run("exit 3").exit_code == 3
        r = sh.run("echo before; sleep 60", timeout="1s")
        assert r.status["kind"] == "timed_out" and "before" in r.text
        *deltas, last = sh.stream("echo one; sleep 0.3; echo two")
        assert "".join(d.text for d in deltas if isinstance(d, Delta)) == "one\ntwo\n"
        assert isinstance(last, Result) and last.exit_code == 0
        job = sh.start("sleep 600")
        assert job.kill()["job"]["state"]["kind"] == "ended"
        sh.tools("codex")
        assert "said" in sh.call("exec_command", {"cmd": "echo said"}).content
        r = sh.run("seq 30000")
        assert sh.artifact(r.artifacts[0]["id"]).grep("^29999$") == "29999:29999\n"
    with pytest.raises(ShellError, match="closed|ended"):
        sh.run("true")


def test_importing_a_shell_does_not_load_asyncio() -> None:
    script = "import sys, agent_bash; agent_bash.Shell; agent_bash.AsyncShell; print('asyncio' in sys.modules)"
    ran = subprocess.run([sys.executable, "-S", "-c", script], stdout=subprocess.PIPE, check=True)
    assert ran.stdout == b"False\n"


def test_both_shells_have_the_same_methods() -> None:
    def methods(of: type) -> Any:
        names = {"aclose": "close"}
        return {
            names.get(name, name): [
                (p.name, p.kind, p.default) for p in inspect.signature(value).parameters.values()
            ]
            for name, value in vars(of).items()
            if inspect.isfunction(value) and not name.startswith("_")
        }

    for one, other in (
        (Shell, AsyncShell),
        (agent_bash.Job, agent_bash.AsyncJob),
        (agent_bash.Terminal, agent_bash.AsyncTerminal),
        (agent_bash.Artifact, agent_bash.AsyncArtifact),
    ):
        assert methods(one) == methods(other)


def test_a_terminal_is_typed_into_and_read(world: World) -> None:
    with Shell(**world.options) as sh:
        with sh.terminal("read -p 'Name: ' n; echo \"Hello $n\"; sleep 600", size="60x12") as term:
            term.screen(until={"line": "^Name:"}, timeout=50)
            assert term.text == "Name:" and present(term.data["screen"])["cursor_col"] == 7
            term.send("Ann", "Enter")
            answer = term.screen(until={"line": "^Hello"}, timeout=50)
            assert present(answer["met"])["kind"] == "line"
            assert term.text == "Name: Ann\nHello Ann"
            assert term.wait_until_quiet(100)["met"] == {"kind": "quiet", "ms": 100}
            assert present(term.resize("70x20")["screen"])["cols"] == 70
            with pytest.raises(ShellError, match="names no key"):
                term.keys("Entr")
        assert present(term.data["result"])["status"]["kind"] == "cancelled"
        ended = sh.terminal("exit 3")
        result = present(ended.end()["result"])
        assert ended.id is None and result["status"] == {"kind": "exited", "code": 3}
        with pytest.raises(ShellError, match="has ended"):
            ended.keys("Enter")
        assert sh.run("seq 30000", show="start", show_kb=1, wait=True).text.startswith("1\n2\n")


def test_many_threads_use_one_shell(world: World) -> None:
    with Shell(**world.options) as sh, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda i: sh.run(f"echo {i}").text, range(40)))
    assert texts == [f"{i}\n" for i in range(40)]


def test_a_stream_left_early_is_cancelled(world: World) -> None:
    with Shell(**world.options) as sh:
        with sh.stream("echo part; sleep 600") as stream:
            for _ in stream:
                break
        assert stream.result and stream.result.status["kind"] == "cancelled" and "part" in stream.result.text
        for _ in sh.stream("echo $$ > pid; echo part; sleep 600"):
            break
        gc.collect()
        pid = int((world.work / "pid").read_text())
        world.wait_for(lambda: not os.path.exists(f"/proc/{pid}"))


def test_a_stream_is_cancelled_from_another_thread(world: World) -> None:
    with Shell(**world.options) as sh:
        stream = sh.stream("echo part; sleep 600")
        for event in stream:
            if isinstance(event, Delta):
                threading.Thread(target=stream.cancel).start()
        assert stream.result and stream.result.status["kind"] == "cancelled"


def test_ctrl_c_ends_the_command_and_leaves_its_output(world: World) -> None:
    script = textwrap.dedent(
        """
        import signal
        from agent_bash import Shell, result_of
        # A background process of a shell starts with SIGINT ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with Shell() as sh:
            try:
                sh.run("echo part; touch begun; sleep 600")
            except KeyboardInterrupt as error:
                result = result_of(error)
                print(result and result.text)
        """
    )
    path = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, **world.env, "PYTHONPATH": path}
    # Its own session, as at a terminal, where Ctrl-C goes to the whole foreground group.
    child = subprocess.Popen(
        [sys.executable, "-c", script], cwd=world.work, env=env, stdout=subprocess.PIPE, start_new_session=True
    )
    world.wait_for((world.work / "begun").exists)
    os.killpg(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    assert b"[Command cancelled]\npart" in out


def test_a_lost_child(world: World) -> None:
    with Shell(**world.options) as sh:
        errors: List[BaseException] = []

        def call() -> None:
            try:
                sh.run("touch begun; sleep 600")
            except ShellLost as error:
                errors.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        world.wait_for((world.work / "begun").exists)
        os.kill(sh.pid, signal.SIGKILL)
        thread.join(20)
        assert "killed by signal 9" in str(errors[0])


def test_use_after_fork_is_an_error(world: World) -> None:
    with Shell(**world.options) as sh:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                sh.run("true")
            except ShellError as error:
                os.write(writer, str(error).encode())
            finally:
                os._exit(0)
        os.close(writer)
        os.waitpid(pid, 0)
        assert b"a fork of it" in os.read(reader, 1000)
        os.close(reader)
        assert sh.run("echo here").text == "here\n"


def test_a_fork_does_not_keep_the_child_alive(world: World) -> None:
    reader, writer = os.pipe()
    with Shell(**world.options) as sh:
        pid = os.fork()
        if pid == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
        begin = time.monotonic()
    assert time.monotonic() - begin < 15, "it waited for the fork's end of the pipe"
    os.close(writer)
    os.waitpid(pid, 0)
    os.close(reader)


def test_a_shell_that_was_dropped_ends_and_is_named(world: World) -> None:
    sh = Shell(**world.options).open()
    pid = sh.pid
    with pytest.warns(ResourceWarning, match="not closed"):
        del sh
        gc.collect()
    world.wait_for(lambda: not os.path.exists(f"/proc/{pid}"))


def test_child_that_stops_reading_does_not_block_the_caller(world: World) -> None:
    with Shell(**world.options) as sh:
        os.kill(sh.pid, signal.SIGSTOP)
        try:
            call = threading.Thread(target=sh.run, args=("true # " + "x" * 1_000_000,))
            call.start()
            other = sh.stream("echo here")
            reader = threading.Thread(target=list, args=(other,))
            reader.start()
            time.sleep(0.2)
        finally:
            os.kill(sh.pid, signal.SIGCONT)
        for thread in (call, reader):
            thread.join(20)
        assert other.result and other.result.text == "here\n"


def test_result_of_an_unrelated_exception_is_none() -> None:
    assert result_of(ValueError()) is None


def test_files_are_copied_unchanged(world: World) -> None:
    content = os.urandom(5_000_000)
    with Shell(**world.options) as sh:
        sh.write_file("a.bin", content, mode=0o600)
        assert (world.work / "a.bin").read_bytes() == content
        assert (world.work / "a.bin").stat().st_mode & 0o777 == 0o600
        assert sh.read_file("a.bin") == content
        sh.write_file("empty", b"")
        assert sh.read_file("empty") == b""
        with pytest.raises(ShellError) as missing:
            sh.read_file("missing")
        assert missing.value.code == "not_found"


def test_end_of_a_job_is_reported(world: World) -> None:
    guarded_call: List[Any] = []
    with Shell(**world.options, on_event=guarded_call.append) as sh:
        job = sh.start("sleep 0.5")
        world.wait_for(lambda: guarded_call)
        assert guarded_call[0]["type"] == "job_ended" and guarded_call[0]["job"]["id"] == job.id


def test_prompt_of_a_command_is_answered_or_declined(world: World) -> None:
    world.env["AGENT_BASH_PROMPTS_ASK_USER"] = "on"
    prompts: List[Any] = []

    def ask(prompt: Any) -> Any:
        prompts.append(prompt)
        return "typed" if prompt["text"] == "Password: " else None

    with Shell(**world.options, on_prompt=ask) as sh:
        assert sh.run("\"$GIT_ASKPASS\" 'Password: '").text == "typed\n"
        assert sh.run("\"$GIT_ASKPASS\" 'Other: '").is_error
        assert prompts[0]["command"] == "\"$GIT_ASKPASS\" 'Password: '" and prompts[0]["askers"]
    with Shell(**world.options) as sh:
        assert "agent-bash-askpass" not in sh.run("env").text


def test_changes_are_undone_singly_since_and_by_turn(world: World) -> None:
    with Shell(**world.options) as sh:
        (world.work / "a").write_text("1\n")
        sh.turn = "first"
        one = present((sh.run("echo 2 > a")).changes)
        sh.run("echo new > b")
        sh.turn = "second"
        sh.run("echo 3 > a; echo later > c")
        assert [found.get("turn") for found in sh.changes()] == ["first", "first", "second"]
        assert "-1" in present((sh.diff(one["id"], paths=["a"]))[0]["diff"])

        with pytest.raises(ShellError) as conflict:
            sh.undo(one["id"])
        assert conflict.value.code == "conflict" and (world.work / "a").read_text() == "3\n"
        sh.undo(turn="last")
        assert (world.work / "a").read_text() == "2\n" and not (world.work / "c").exists()
        sh.redo(turn="second")
        assert (world.work / "c").exists()
        sh.undo(since=one["id"])
        assert [path.name for path in world.work.iterdir()] == ["a"] and (world.work / "a").read_text() == "1\n"
        with pytest.raises(ShellError, match="one of a change set"):
            sh.undo()

        held = present((sh.run("echo held > d", trial=True)).changes)
        sh.discard(held["id"])
        held = present((sh.run("echo held > e", trial=True)).changes)
        assert not (world.work / "e").exists()
        sh.commit(held["id"])
        assert not (world.work / "d").exists() and (world.work / "e").exists()


def test_requests_are_those_of_the_asyncio_shell() -> None:
    import importlib.util

    path = pathlib.Path(__file__).parent.parent / "make_sync.py"
    spec = importlib.util.spec_from_file_location("make_sync", path)
    assert spec is not None and spec.loader is not None
    make_sync = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_sync)
    source = make_sync.SOURCE.read_text(encoding="utf-8")
    is_fresh = make_sync.RESULT.read_text(encoding="utf-8") == make_sync.without_asyncio(source)
    assert is_fresh, "run clients/python/make_sync.py"
    assert make_sync.without_asyncio("async def more(): await f()\n") == "def more(): f()\n"
