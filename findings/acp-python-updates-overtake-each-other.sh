#!/usr/bin/env bash
# ACP for Python 0.12.1 (PyPI, agent-client-protocol): the text of an answer arrives in another
# order than the agent has sent it.
#
# Expected: an agent awaits each `session_update`, and the pieces of a text go over one pipe, so
# the client's method gets a piece when the one before is done. Seen: the library starts a task for
# each notification and reads on. A client that awaits anything before it appends a piece, as one
# that opens a panel for the first, has "world" before "hello". The result of the prompt waits for
# all of them, so the wrong text is complete. A method without `await` is in order.
#
# For agent-bash: a program that passes its output on by this protocol appends each piece before
# its first `await`.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'agent-client-protocol==0.12.1' <<'P'
import asyncio, sys, acp
agent = """
import asyncio, acp
class Agent(acp.Agent):
    def on_connect(self, connection):
        self.connection = connection
    async def initialize(self, protocol_version, **_):
        return acp.InitializeResponse(protocol_version=protocol_version)
    async def new_session(self, cwd, **_):
        return acp.NewSessionResponse(session_id="s")
    async def prompt(self, prompt, session_id, **_):
        for text in ("hello ", "world ", "again "):
            await self.connection.session_update(session_id, acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")
asyncio.run(acp.run_agent(Agent()))
"""
class Client(acp.Client):
    def __init__(self, opens_panel):
        self.opens_panel, self.text = opens_panel, ""
    def on_connect(self, connection):
        pass
    async def session_update(self, session_id, update, **_):
        if self.opens_panel:
            self.opens_panel = False
            await asyncio.sleep(0.5)
        self.text += update.content.text
async def main():
    for opens_panel in (False, True):
        client = Client(opens_panel)
        async with acp.spawn_agent_process(client, sys.executable, "-c", agent) as (connection, _):
            await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
            await connection.new_session(cwd="/", mcp_servers=[])
            await connection.prompt(prompt=[acp.text_block("text")], session_id="s")
            print(client.text.strip())
asyncio.run(asyncio.wait_for(main(), 60))
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "ACP for Python 0.12.1: a method without await, and one that awaits at the first piece: $output"
[ "$output" = 'hello world again;world again hello' ]
