"""SWE-ReX with the runtime of this package."""

from __future__ import annotations

import asyncio
from typing import Any, List

import pytest

from agent_bash import AsyncShell

from ..conftest import World


async def observations(runtime: Any, world: World) -> List[Any]:
    """Does with a runtime what SWE-agent does. Returns what it observes."""
    from swerex import exceptions
    from swerex.runtime import abstract as rex

    async def run(command: str, **fields: Any) -> Any:
        observed = await runtime.run_in_session(rex.BashAction(command=command, session="s", **fields))
        return (observed.output.replace("\r\n", "\n").strip(), observed.exit_code)

    seen: List[Any] = []
    source = world.work / "source.sh"
    source.write_text("export FROM_SOURCE=yes\n")
    await runtime.create_session(rex.CreateBashSessionRequest(session="s", startup_source=[str(source)], startup_timeout=20))
    with pytest.raises(exceptions.SessionExistsError):
        await runtime.create_session(rex.CreateBashSessionRequest(session="s"))
    await run(f"cd {world.work}")
    seen.append(await run("echo $FROM_SOURCE; export x=1"))
    seen.append(await run("mkdir -p sub && cd sub && echo $x > there"))
    seen.append(await run("cat there; basename $PWD"))
    seen.append(await run("echo out; false", check="silent"))
    seen.append(await run("echo ignored; false", check="ignore"))
    with pytest.raises(exceptions.NonZeroExitCodeError, match="why: .*exit code 1"):
        await run("false", error_msg="why")
    with pytest.raises(exceptions.BashIncorrectSyntaxError):
        await run("touch run; if")
    assert not (world.work / "sub/run").exists()
    with pytest.raises(exceptions.CommandTimeoutError):
        await run("sleep 60", timeout=1)
    await runtime.run_in_session(rex.BashInterruptAction(session="s"))
    # In SWE-ReX's own runtime, the terminal's echo of the interrupt may stand before the output.
    output, code = await run("echo $x after")
    seen.append((output.splitlines()[-1], code))

    words = await runtime.execute(rex.Command(command=["printf", "%s|", "a b", "*"], cwd="/"))
    seen.append((words.stdout, words.stderr, words.exit_code))
    script = "echo out; echo $A >&2; exit 3"
    shell = await runtime.execute(rex.Command(command=script, shell=True, env={"A": "b c"}))
    seen.append((shell.stdout, shell.stderr, shell.exit_code))
    merged = await runtime.execute(rex.Command(command=script, shell=True, merge_output_streams=True))
    seen.append((merged.stdout, merged.stderr, merged.exit_code))
    with pytest.raises(exceptions.NonZeroExitCodeError):
        await runtime.execute(rex.Command(command="exit 3", shell=True, check=True))
    with pytest.raises(exceptions.CommandTimeoutError):
        await runtime.execute(rex.Command(command=["sleep", "60"], timeout=1))

    path = world.work / "new/file"
    await runtime.write_file(rex.WriteFileRequest(path=str(path), content="text"))
    seen.append((await runtime.read_file(rex.ReadFileRequest(path=str(path)))).content)
    with pytest.raises(FileNotFoundError):
        await runtime.read_file(rex.ReadFileRequest(path=str(world.work / "absent")))
    await runtime.upload(rex.UploadRequest(source_path=str(path.parent), target_path=str(world.work / "copied")))
    seen.append((world.work / "copied/file").read_text())

    await runtime.close_session(rex.CloseBashSessionRequest(session="s"))
    with pytest.raises(exceptions.SessionDoesNotExistError):
        await run("true")
    await runtime.close()
    return seen


def test_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from swerex.runtime.local import LocalRuntime

    from agent_bash.frameworks.swe_rex import Runtime

    monkeypatch.chdir(world.work)

    async def test() -> None:
        theirs = await observations(LocalRuntime(), world)
        (world.work / "sub/there").unlink()
        async with AsyncShell(**world.options) as sh:
            runtime = Runtime(sh)
            assert await observations(runtime, world) == theirs
            assert await runtime.is_alive()
        assert not await runtime.is_alive()

    asyncio.run(asyncio.wait_for(test(), 120))


def test_interrupt_ends_a_running_command(world: World) -> None:
    from swerex.runtime import abstract as rex

    from agent_bash.frameworks.swe_rex import Runtime

    async def test() -> None:
        async with AsyncShell(**world.options) as sh:
            runtime = Runtime(sh)
            await runtime.create_session(rex.CreateBashSessionRequest())
            action = rex.BashAction(command="echo part; touch begun; sleep 600", check="silent")
            task = asyncio.create_task(runtime.run_in_session(action))
            while not (world.work / "begun").exists():
                await asyncio.sleep(0.02)
            await runtime.run_in_session(rex.BashInterruptAction())
            observed = await task
            assert "part" in observed.output and observed.exit_code is None
            await runtime.close()

    asyncio.run(asyncio.wait_for(test(), 120))
