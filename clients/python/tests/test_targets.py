"""`on=`: the same calls on a target reached by a command."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_bash import AsyncShell, Shell, ShellError, result_of

from .conftest import World


def target(world: World, command: str) -> None:
    """Configures a target `there`, which is another home on this machine."""
    home = world.root / "there"
    home.mkdir()
    settings = world.root / ".config/agent-bash/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        "[targets.there]\n"
        "transport = 'command'\n"
        f"command = {command}\n"
        f"cwd = '{home}'\n"
        f"directory = '{home}/program'\n"
        "env = { WHERE = 'there' }\n"
    )


HERE = "['/bin/sh', '-c', '{script}']"


def test_calls_run_on_the_target(world: World) -> None:
    target(world, HERE)
    with Shell(**world.options, on="there") as sh:
        r = sh.run("echo $WHERE; pwd")
        assert (r.text, r.target) == (f"there\n{world.root}/there\n", "there")
        assert sh.run("echo out; exit 3").exit_code == 3
        r = sh.run("echo before; sleep 60", timeout="1s")
        assert r.status["kind"] == "timed_out" and "before" in r.text
        assert sh.run("git add -A").status["kind"] == "blocked"
        r = sh.run("seq 30000")
        assert sh.artifact(r.artifacts[0]["id"]).grep("^29999$") == "29999:29999\n"
        sh.write_file("a.bin", b"content")
        assert (world.root / "there/a.bin").read_bytes() == b"content" == sh.read_file("a.bin")


def test_cancelled_call_on_a_target_keeps_its_output(world: World) -> None:
    target(world, HERE)

    async def main() -> Any:
        async with AsyncShell(**world.options, on="there") as sh:
            await sh.run("true")
            with pytest.raises(asyncio.TimeoutError) as caught:
                await asyncio.wait_for(sh.run("echo part; sleep 600"), 2)
            return result_of(caught.value)

    result = asyncio.run(main())
    assert result and result.status["kind"] == "cancelled" and "part" in result.text


def test_unreachable_target_is_an_error(world: World) -> None:
    target(world, "['/bin/sh', '-c', 'echo no way >&2; exit 9', '{script}']")
    with Shell(**world.options, on="there") as sh:
        r = sh.run("touch ran")
        assert r.status["kind"] == "not_started" and r.is_error and "no way" in r.text
    assert not (world.root / "there/ran").exists()
    with pytest.raises(ShellError, match="nowhere"):
        Shell(**world.options, on="nowhere").open()
