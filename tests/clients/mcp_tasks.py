"""`agent-bash mcp` and the official MCP SDK for Python, whose interface for extensions gets the one for tasks: a long
call is a task, whose result is the call's, and which can be cancelled; a short one is answered at once.

Started by tests/tests/clients, in a world of its own. Exits 0 if all is as it should be.
"""

import asyncio
import os
from typing import Any, Literal

from mcp import Client, StdioServerParameters, types
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import ConfigDict


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Answer(types.Result):
    """Any result, with all its fields."""

    model_config = ConfigDict(extra="allow")


class Task(types.Result):
    result_type: Literal["task"]
    task_id: str
    poll_interval_ms: int
    status: str


class Tasks(ClientExtension):
    """Polls each task to its end. Calls `act` with the id of a task that runs."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self):
        self.act = None
        self.states: list[str] = []

    def claims(self):
        return [ResultClaim(result_type="task", model=Task, resolve=self.resolve)]

    async def resolve(self, task, context):
        self.states.append(task.status)
        while True:
            state = await ask(context.session, "tasks/get", task.task_id)
            if self.states[-1] != state["status"]:
                self.states.append(state["status"])
            if state["status"] == "completed":
                return types.CallToolResult.model_validate(state["result"])
            if state["status"] != "working":
                return types.CallToolResult(content=[], is_error=True)
            if self.act:
                await self.act(context.session, task.task_id)
                self.act = None
            await asyncio.sleep(0.01)


async def ask(session, method, task):
    request = types.Request[dict[str, Any], str](method=method, params={"taskId": task})
    return (await session.send_request(request, Answer)).model_dump(by_alias=True)


async def with_tasks(use):
    """Starts a server for a client that accepts tasks."""
    tasks = Tasks()
    transport = stdio_client(StdioServerParameters(command="agent-bash", args=["mcp"], env=dict(os.environ)))
    async with Client(transport, mode="2026-07-28", extensions=[tasks]) as client:
        await use(client, tasks)


async def completed(client, tasks):
    short = await client.call_tool("bash", {"command": "echo hi"})
    check(short.content[0].text == "hi\n", short)
    tasks.states.clear()
    tasks.act = go
    script = "echo begun; until test -e go; do sleep 0.01; done; echo done; exit 7"
    long = await client.call_tool("bash", {"command": script})
    check(tasks.states == ["working", "completed"], tasks.states)
    check(long.content[0].text == "begun\ndone\n\nCommand exited with code 7" and long.is_error, long)
    try:
        await ask(client.session, "tasks/get", "another")
        check(False, "a task that does not exist has a state")
    except MCPError as error:
        check("there is no task" in str(error), error)


async def go(_session, _task):
    open("go", "w").close()


async def cancelled(client, tasks):
    tasks.act = cancel
    await client.call_tool("bash", {"command": "echo $$ > pid; misbehave ignore-term & sleep 600"})
    check(tasks.states == ["working", "cancelled"], tasks.states)
    with open("pid") as file:
        pid = file.read().strip()
    while os.path.exists(f"/proc/{pid}"):
        await asyncio.sleep(0.01)


async def cancel(session, task):
    while not os.path.exists("pid") or os.path.getsize("pid") == 0:
        await asyncio.sleep(0.01)
    await ask(session, "tasks/cancel", task)


async def main():
    await with_tasks(completed)
    await with_tasks(cancelled)


asyncio.run(main())
print("ok")
