"""`agent-bash mcp` asks the user of the official MCP SDK for Python whether a trial may be committed, and whether a call
may leave its sandbox. The user accepts, declines, dismisses, cannot be reached, or the client does not ask users at all:
by requests of the server (legacy), by answers that ask (2026-07-28), and as the client chooses by itself (auto).

Started by tests/tests/clients, in a world of its own, in a repository. Exits 0 if all is as it should be.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

OUTSIDE = sys.argv[1]
MODE = sys.argv[2]


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class User:
    """Gives one answer to every question, and remembers them."""

    def __init__(self, action):
        self.action = action
        self.questions = []

    async def asked(self, _context, question):
        # Nothing is done before there is an answer.
        check(os.path.exists("old") and not os.path.exists(OUTSIDE), question)
        check(question.requested_schema["properties"] == {}, question)
        self.questions.append(question.message)
        if self.action == "fail":
            return types.ErrorData(code=types.INTERNAL_ERROR, message="no window")
        return types.ElicitResult(action=self.action, content={} if self.action == "accept" else None)


async def served(user, part):
    """That part of the conversation, with a server and a client of its own."""
    server = StdioServerParameters(command="agent-bash", args=["mcp"], env=dict(os.environ))
    async with Client(stdio_client(server), mode=MODE, elicitation_callback=user and user.asked) as session:
        newest = session.protocol_version == "2026-07-28"
        check(newest == (MODE != "legacy"), session.protocol_version)
        await part(session)


async def asked_call(session, tool, arguments, user):
    """The answer of a call about which the user is asked; None if the SDK fails instead of answering the server."""
    if MODE == "legacy" or user is None or user.action != "fail":
        return await session.call_tool(tool, arguments)
    try:
        raise AssertionError(await session.call_tool(tool, arguments))
    except MCPError as error:
        check("no window" in str(error), error)
    return None


async def committing(action, why):
    with open("old", "w") as old:
        old.write("old\n")
    user, trials = action and User(action), []

    async def part(session):
        held = await session.call_tool("bash", {"command": "echo new > new; rm old", "trial": True})
        check("nothing applied yet" in held.content[0].text, held)
        # The sets of a directory are numbered on, whichever server they are of.
        trial = held.structured_content["changes"]["id"]
        trials.append(trial)
        answer = await asked_call(session, "bash_changes", {"action": "commit", "id": trial}, user)
        is_made = os.path.exists("new") and not os.path.exists("old")
        check(is_made == (why is None), answer)
        if answer is not None:
            text = answer.content[0].text
            check(answer.is_error == (why is not None), answer)
            check((why or f"[Trial {trial} applied: 1 created, 1 deleted.]") in text, text)
        if why is not None:
            # It is held still.
            gone = await session.call_tool("bash_changes", {"action": "discard", "id": trial})
            check("discarded" in gone.content[0].text, gone)

    await served(user, part)
    for path in ("old", "new"):
        if os.path.exists(path):
            os.remove(path)
    if user:
        root = os.path.realpath(".")
        asked = f"Apply what trial {trials[0]} held back to {root}? 1 created, 1 deleted:\ndeleted old\ncreated new"
        check(user.questions == [asked], user.questions)


async def leaving(action, why):
    open("old", "w").close()
    user = action and User(action)
    command = f"echo out > {OUTSIDE}"

    async def part(session):
        # The control: it is held without being asked.
        held = await session.call_tool("bash", {"command": command})
        check(held.is_error and not os.path.exists(OUTSIDE), held)
        out = {"level": "off", "reason": "the file belongs there"}
        answer = await asked_call(session, "bash", {"command": command, "sandbox": out}, user)
        check(os.path.exists(OUTSIDE) == (why is None), answer)
        if answer is None:
            return
        check(answer.is_error == (why is not None), answer)
        if why is not None:
            check(why in answer.content[0].text, answer.content[0].text)
            return
        check(answer.structured_content["sandbox"]["escalated"], answer)
        # It holds for that one call.
        os.remove(OUTSIDE)
        held = await session.call_tool("bash", {"command": command})
        check(held.is_error and not os.path.exists(OUTSIDE), held)

    await served(user, part)
    os.remove("old")
    if user:
        asked = (
            f"Run this outside of the sandbox, in {os.path.realpath('.')}?\n\n{command}\n\n"
            "The reason given: the file belongs there"
        )
        check(user.questions == [asked], user.questions)


async def main():
    os.environ["AGENT_BASH_SANDBOX_LEVEL"] = "off"
    for action, why in (
        ("accept", None),
        ("decline", "the user was asked, and declined committing it"),
        ("cancel", "the user was asked about committing it, and gave no answer"),
        ("fail", "the client could not ask its user about committing it"),
        (None, "no approver is available here"),
    ):
        await committing(action, why)
        print("commit", action, "ok", flush=True)
    os.environ["AGENT_BASH_SANDBOX_LEVEL"] = "workspace_write"
    os.environ["AGENT_BASH_SANDBOX_ESCALATION"] = "ask"
    for action, why in (
        ("accept", None),
        ("decline", "the user was asked, and declined running it outside of the sandbox"),
        ("cancel", "gave no answer"),
        ("fail", "the client could not ask its user about running it outside of the sandbox"),
        (None, "no approver"),
    ):
        await leaving(action, why)
        print("leave", action, "ok", flush=True)


asyncio.run(main())
