"""The official MCP Python SDK against `agent-bash mcp`: every tool, as another developer's agent uses it.

Started by tests/tests/clients, in a world of its own. Argument: how long the long job takes, in seconds; the server gives
handles after AGENT_BASH_MCP_HANDLE_AFTER. Exits 0 if all is as it should be.
"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

LONG = float(sys.argv[1])


def check(condition, what):
    if not condition:
        raise AssertionError(what)


async def run(session, command, **arguments):
    return await session.call_tool("bash", {"command": command, **arguments})


async def tools(session):
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    names = ["bash", "bash_output", "bash_input", "bash_kill", "bash_jobs", "read_artifact", "bash_changes"]
    check(list(listed) == names, listed)
    check("command" in listed["bash"].input_schema["properties"], listed["bash"])
    check(os.getcwd() in listed["bash"].description, listed["bash"].description)


async def calls(session):
    # The SDK itself checks structured content against the tool's output schema.
    good = await run(session, "echo hello")
    check(not good.is_error and good.content[0].text == "hello\n", good)
    check(good.structured_content["status"] == {"kind": "exited", "code": 0}, good)
    bad = await run(session, "echo oops >&2; exit 3")
    check(bad.is_error and bad.content[0].text == "oops\n\nCommand exited with code 3", bad)
    check(bad.structured_content["text"] == bad.content[0].text, bad)
    blocked = await run(session, "git push --force")
    check(blocked.is_error and blocked.structured_content["status"]["kind"] == "blocked", blocked)
    nothing = await session.call_tool("bash", {})
    check(nothing.is_error and "`command` is missing" in nothing.content[0].text, nothing)


async def progress(session):
    seen = []

    async def on_progress(done, total, message):
        seen.append((done, message))

    script = "for i in 1 2 3; do echo tick $i; touch t$i; until test -e n$i; do sleep 0.01; done; done"

    async def let_on():
        for i in (1, 2, 3):
            while not any(f"tick {i}" in message for _, message in seen):
                await asyncio.sleep(0.01)
            open(f"n{i}", "w").close()

    # It is the progress that lets the command go on: it must come while the command runs.
    result, _ = await asyncio.gather(
        session.call_tool("bash", {"command": script}, progress_callback=on_progress), let_on()
    )
    check(not result.is_error, result)
    check("".join(message for _, message in seen) == "tick 1\ntick 2\ntick 3\n", seen)
    counts = [done for done, _ in seen]
    check(counts == sorted(set(counts)) and counts[-1] == 21, seen)


async def cancelling(session):
    call = asyncio.create_task(run(session, "echo $$ > pid; misbehave ignore-term & sleep 600"))
    while not (os.path.exists("pid") and open("pid").read().strip()):
        await asyncio.sleep(0.01)
    pid = int(open("pid").read())
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        pass
    while os.path.exists(f"/proc/{pid}"):
        await asyncio.sleep(0.01)
    check(not (await run(session, "true")).is_error, "the session goes on")


async def outputs(session):
    cut = await run(session, "seq 100000")
    artifact = cut.structured_content["artifacts"][0]
    check(f"Full: {artifact['uri']}]" in cut.content[0].text, cut.content[0].text[-200:])
    page = await session.call_tool("read_artifact", {"id": artifact["uri"], "offset": 50000, "limit": 2})
    check(page.content[0].text.startswith("50000\n50001\n"), page)
    found = await session.call_tool("read_artifact", {"id": str(artifact["id"]), "pattern": "^4{5}$"})
    check(found.content[0].text.startswith("44444:44444"), found)
    listed = [one for one in (await session.list_resources()).resources if str(one.uri).startswith("artifact:")]
    check([str(resource.uri) for resource in listed] == [artifact["uri"]], listed)
    read = await session.read_resource(listed[0].uri)
    check(read.contents[0].text.startswith("1\n2\n3\n"), read.contents[0].text[:80])


async def jobs(session):
    started = await run(
        session, "while read -r line; do echo got $line; done; echo bye", mode="background", stdin="pipe"
    )
    job = started.structured_content["status"]["job"]
    await session.call_tool("bash_input", {"job": job, "text": "one\n"})
    text = ""
    while "got one" not in text:
        text += (await session.call_tool("bash_output", {"job": job})).content[0].text
    await session.call_tool("bash_input", {"job": job, "text": "two\n", "close": True})
    text = (await session.call_tool("bash_output", {"job": job, "wait": 30})).content[0].text
    check(text.startswith("got two\nbye\n") and "got one" not in text, text)
    check(text.endswith(f"[Job {job} exited with code 0.]"), text)
    server = await run(session, "misbehave ignore-term", mode="background")
    job = server.structured_content["status"]["job"]
    killed = await session.call_tool("bash_kill", {"job": job})
    check(killed.content[0].text.startswith(f"Job {job} was ended by SIG"), killed)
    listed = (await session.call_tool("bash_jobs", {})).structured_content["jobs"]
    check([job["state"]["kind"] for job in listed] == ["ended", "ended"], listed)


async def ten_at_once(session):
    # Each waits for the one after it, so they must run beside each other.
    scripts = [f"touch at{i}; until test -e at{(i + 1) % 10}; do sleep 0.01; done; echo {i}" for i in range(10)]
    results = await asyncio.gather(*(run(session, script) for script in scripts))
    check([result.content[0].text for result in results] == [f"{i}\n" for i in range(10)], results)


async def long_job(session):
    handle = await run(session, f"echo begun; sleep {LONG}; echo done")
    status = handle.structured_content["status"]
    check(status["kind"] == "moved_to_background" and not handle.is_error, handle)
    check(os.path.exists(f"/proc/{status['pid']}"), status)
    check(handle.content[0].text.startswith("begun\n"), handle)
    while True:
        output = await session.call_tool("bash_output", {"job": status["job"], "wait": 50})
        if "result" in output.structured_content:
            break
    check(output.content[0].text == "begun\ndone\n", output)
    check(output.structured_content["result"]["duration_ms"] >= LONG * 1000, output)


async def main():
    logged = []

    async def on_log(message):
        logged.append(message)

    server = StdioServerParameters(command="agent-bash", args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write, logging_callback=on_log) as session:
            hello = await session.initialize()
            check(hello.server_info.name == "agent-bash", hello)
            check("bash_output" in hello.instructions, hello)
            for part in (tools, calls, progress, cancelling, outputs, jobs, ten_at_once, long_job):
                await part(session)
                print(part.__name__, "ok", flush=True)
    check(any(message.data["status"]["kind"] == "blocked" for message in logged), logged)


asyncio.run(main())
