#!/usr/bin/env bash
# langchain 1.5.2 (PyPI): a command whose output lacks a line end "times out", and its output is
# lost.
#
# Expected: `printf done` returns "done" at once. Seen: the shell tool of `ShellToolMiddleware`
# waits for a line that begins with its mark. After an output without a line end, the mark is in the
# middle of a line, and is not found. When the time is over, 30 seconds by default, the model reads
# "Command timed out", without the output, and the shell is started anew, so variables and the
# directory of earlier commands are gone, too. `curl` of a JSON text, `jq -j` and `git config -z`
# print so.
#
# For agent-bash: the end of a call is a message of the supervisor, not a mark in the output.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'langchain==1.5.2' <<'P'
from langchain.agents import create_agent
from langchain.agents.middleware import HostExecutionPolicy, ShellToolMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self

commands = ["word=set; echo one", "echo $word", "printf done", "echo [$word]"]
calls = [AIMessage("", tool_calls=[{"name": "shell", "args": {"command": command}, "id": str(number)}])
         for number, command in enumerate(commands)]
shell = ShellToolMiddleware(workspace_root=".", execution_policy=HostExecutionPolicy(command_timeout=3))
agent = create_agent(Model(messages=iter([*calls, AIMessage("end")])), [], middleware=[shell])
state = agent.invoke({"messages": [("user", "go on")]})
print([message.content.strip() for message in state["messages"] if message.type == "tool"])
P
) || { cat "$work/log" >&2; exit 2; }
echo "langchain 1.5.2: echo one, a variable, printf done, the variable: $output"
[[ $output = "['one', 'set', '"*'timed out'*"', '[]']" && $output != *done* ]]
