"""The Claude Agent SDK with its own Claude Code; the model is a local server that requests one call."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Iterator, List

import pytest

from ..conftest import World
from .acting import later


class Model(ThreadingHTTPServer):
    """Requests one call of the tool, and records the result."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True
        self.command: Dict[str, Any] = {}
        self.tools: List[str] = []
        self.tool_results: List[Dict[str, Any]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.split("?")[0].endswith("/messages"):
            self.send_error(404)
            return
        results = [
            block
            for message in body["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        if body.get("tools"):
            self.server.tools = [tool["name"] for tool in body["tools"]]
        if results:
            self.server.tool_results = results
        call = bool(body.get("tools")) and not results
        if call:
            block: Dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "mcp__agent-bash__bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(self.server.command)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        message = {
            "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    yield model
    model.shutdown()
    model.server_close()


async def ask(world: World, model: Model, command: Dict[str, Any]) -> str:
    """Runs an agent with a model that requests the command. Returns the result that the model got."""
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

    from agent_bash.frameworks.claude_agent import options

    model.command, model.tool_results = command, []
    env = {
        **world.env,
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    settings = ClaudeAgentOptions(cwd=world.work, env=env, **options(env=world.env))
    async for message in query(prompt="go", options=settings):
        if isinstance(message, ResultMessage):
            assert message.result == "done"
    assert "mcp__agent-bash__bash" in model.tools and "Bash" not in model.tools, model.tools
    return json.dumps(model.tool_results[0])


def test_how_calls_end(world: World, model: Model) -> None:
    async def test() -> None:
        assert "one" in await ask(world, model, {"command": "echo one"})
        answer = await ask(world, model, {"command": "echo out; exit 3"})
        assert "exited with code 3" in answer and '"is_error": true' in answer
        answer = await ask(world, model, {"command": "echo before; sleep 60", "timeout": 1})
        assert "timed out" in answer and "before" in answer

    asyncio.run(asyncio.wait_for(test(), 180))


def test_a_cancelled_agent_ends_its_command(world: World, model: Model) -> None:
    async def test() -> None:
        task = asyncio.create_task(ask(world, model, {"command": "echo $$ > pid; touch begun; sleep 600"}))
        while not (world.work / "begun").exists():
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        pid = (world.work / "pid").read_text().strip()
        while os.path.exists(f"/proc/{pid}"):
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(test(), 120))


def test_a_lost_server_is_told(world: World, model: Model) -> None:
    def kill() -> None:
        servers = [line for line in world.processes() if " mcp" in line and "agent-bash" in line.split()[1]]
        assert servers, world.processes()
        os.kill(int(servers[0].split()[0]), 9)

    thread = later(world, kill)
    answer = asyncio.run(asyncio.wait_for(ask(world, model, {"command": "touch begun; sleep 600"}), 120))
    thread.join()
    assert '"is_error": true' in answer
