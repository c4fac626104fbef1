"""`BaseSandbox` of deepagents."""

from __future__ import annotations

from typing import Any

from agent_bash import Shell

from ..conftest import World
from .acting import kill, later


def test_an_agent(world: World) -> None:
    from deepagents import create_deep_agent
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, ToolMessage

    from agent_bash.frameworks.deepagents import Sandbox

    class Script(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def model_text(sh: Shell, command: str) -> str:
        call = {"name": "execute", "args": {"command": command}, "id": "1", "type": "tool_call"}
        model = Script(responses=[AIMessage(content="", tool_calls=[call]), AIMessage(content="done")])
        agent = create_deep_agent(model=model, backend=Sandbox(sh))
        messages = agent.invoke({"messages": [{"role": "user", "content": "go"}]})["messages"]
        return str(next(m for m in messages if isinstance(m, ToolMessage)).content)

    with Shell(**world.options) as sh:
        assert "one" in model_text(sh, "echo one")
        answer = model_text(sh, "echo out; exit 3")
        assert "out" in answer and "exit code 3" in answer
        thread = later(world, kill(sh.pid))
        assert "killed by signal 9" in model_text(sh, "touch begun; sleep 600")
        thread.join()

    # The agent calls `execute` in a thread, which cannot be interrupted: closing the shell ends the command.
    (world.work / "begun").unlink()
    sh = Shell(**world.options).open()
    thread = later(world, sh.close)
    assert "part" in model_text(sh, "echo part; touch begun; sleep 600")
    thread.join()


def test_how_calls_end(world: World) -> None:
    from agent_bash.frameworks.deepagents import Sandbox

    with Shell(**world.options) as sh:
        sandbox = Sandbox(sh)
        assert sandbox.id
        response = sandbox.execute("echo one")
        assert (response.output, response.exit_code, response.truncated) == ("one\n", 0, False)
        assert sandbox.execute("exit 3").exit_code == 3
        response = sandbox.execute("echo before; sleep 60", timeout=1)
        assert response.exit_code == 124 and "before" in response.output
        assert sandbox.execute("seq 100000").truncated

        path = str(world.work / "a.txt")
        assert [r.error for r in sandbox.upload_files([(path, b"text"), ("/no/such/dir/a", b"")])] == [
            None,
            "file_not_found",
        ]
        down = sandbox.download_files([path, "/no/such/file", str(world.work)])
        assert [(r.content, r.error) for r in down] == [
            (b"text", None),
            (None, "file_not_found"),
            (None, "is_directory"),
        ]
        # The framework's own handling of these files.
        assert sandbox.edit(path, "text", "words").error is None
        assert sandbox.download_files([path])[0].content == b"words"

        thread = later(world, kill(sh.pid))
        response = sandbox.execute("touch begun; sleep 600")
        thread.join()
        assert response.exit_code is None and "killed by signal 9" in response.output
