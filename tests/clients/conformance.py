"""Performs the steps of a conformance case with the Python client. Reads one step per line, and answers each."""

import asyncio
import json
import os
import sys

from agent_bash import AsyncShell, ShellError, result_of


async def call(shell, step):
    """A call of the tool, or of an adapter's tool."""
    request = step["request"]
    if step["adapter"]:
        answer = await shell.call(step["tool"], request, adapter=step["adapter"])
        data = answer.result and answer.result.data
        return {"text": answer.content, "is_error": answer.is_error, "structured": answer.structured, "result": data}
    shell.turn = step["turn"]
    if not step["may_reword"]:
        return {"result": (await shell.call("bash", request)).result.data}
    command = request.pop("command")
    running = asyncio.ensure_future(shell.run(command, **request))
    while step["cancel_when"] and not running.done():
        if os.path.exists(step["cancel_when"]):
            running.cancel()
            break
        await asyncio.sleep(0.02)
    try:
        return {"result": (await running).data}
    except asyncio.CancelledError as error:
        return {"result": result_of(error).data}


async def act(shell, action):
    ((name, words),) = action.items()
    if name in ("undo", "redo"):
        if name == "redo":
            del words["partial"]
        return await getattr(shell, name)(**words)
    if name == "wait":
        data = await shell.job(words["job"]).wait(words["seconds"], until=words["until"])
        return {"text": data.get("output"), **data}
    if name == "jobs":
        return {"jobs": await shell.jobs(port=int(words["port"]))}
    if name == "kill":
        return await shell.job(words["job"]).kill()
    async with await shell.terminal(words["command"], size=words["size"]) as terminal:
        for given in words["input"]:
            await line(terminal, given["until"])
            await terminal.send(given["text"], *given["keys"])
        await line(terminal, words["until"])
        return {"text": terminal.text, "screen": terminal.data["screen"]}


async def line(terminal, pattern):
    """Waits for a line of the screen."""
    data = await terminal.screen(until={"line": pattern}, timeout=50)
    assert "met" in data, f"no line is {pattern}: {data}"


async def main():
    profile, tools = sys.argv[1:]
    answers = []

    async def answer_prompt(prompt):
        """The user's next answer; without one, the user declines."""
        return answers.pop(0) if answers else None

    async with AsyncShell(profile=profile, other_tools=json.loads(tools), on_prompt=answer_prompt) as shell:
        while text := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
            step = json.loads(text)
            answers[:] = step.get("answers", [])
            try:
                if "action" not in step:
                    answer = await call(shell, step)
                else:
                    data = await act(shell, step["action"])
                    answer = {"text": data.get("text") or "", "data": data, "is_error": False}
            except ShellError as error:
                answer = {"text": str(error), "is_error": True}
            print(json.dumps(answer), flush=True)


asyncio.run(main())
