#!/usr/bin/env bash
# wcgw 5.6.7 (PyPI): the start of the MCP server writes a block into ~/.bashrc.
#
# Expected: an MCP server that is only asked for the list of its tools changes nothing; what its
# own shell needs, it passes to that shell. Seen: the server looks for its block in the start file
# of the user's shell, and appends it, or creates the file, before it answers. The block sets
# PROMPT_COMMAND, which also ends what direnv, mise or a terminal put there, wherever
# IN_WCGW_ENVIRONMENT is set: in the server's shell, and in each program below it that starts an
# interactive bash. No question, and no tool to undo it.
#
# For agent-bash: `setup` shows each edit first, and edits settings of agents, never a start file.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(SHELL=/bin/bash run_with_packages 'wcgw==5.6.7 mcp==1.30.0' <<'P'
import json, os, subprocess, sys
home = os.environ["HOME"]
start = os.path.join(home, ".bashrc")
with open(start, "w") as file:
    file.write("alias ll='ls -l'\nPROMPT_COMMAND=mine\n")
server = subprocess.Popen([os.path.join(os.path.dirname(sys.executable), "wcgw_mcp")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
send({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
      "clientInfo": {"name": "client", "version": "1"}}})
server.stdout.readline()
send({"method": "notifications/initialized"})
send({"id": 2, "method": "tools/list"})
tools = json.loads(server.stdout.readline())["result"]["tools"]
server.kill()
with open(start) as file:
    lines = file.read().splitlines()
shown = subprocess.run(["bash", "-ic", "echo ${PROMPT_COMMAND:0:6}"], env={**os.environ, "IN_WCGW_ENVIRONMENT": "1"},
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()
print(f"{'tools' if tools else 'no tools'} listed, {len(lines)} lines in .bashrc after 2, {sum('WCGW' in line for line in lines)} with its name, "
      f"PROMPT_COMMAND begins with {shown}")
P
) || exit 2
echo "wcgw 5.6.7: $output"
[ "$output" = "tools listed, 8 lines in .bashrc after 2, 3 with its name, PROMPT_COMMAND begins with printf" ]
