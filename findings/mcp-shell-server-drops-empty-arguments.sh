#!/usr/bin/env bash
# mcp-shell-server 1.1.14 (PyPI): an empty argument of a command is dropped, and the others move.
#
# Expected: the tool `shell_execute` takes a command as a list of arguments, and starts no shell, so
# each argument reaches the program as it is. Seen: empty ones are removed from the list before the
# start, without a remark. In `["grep", "-c", "", "file"]`, which counts all lines, the file's name
# becomes the pattern and grep reads an empty standard input; `["printf", "[%s][%s]", "", "b"]` prints
# "[b][]". `git commit -m ""`, `sed -E "" FILE` and `test "" = "$value"` mean something else.
#
# For agent-bash: `run -- WORD …` passes each word on, also an empty one.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'mcp-shell-server==1.1.14' <<'P'
import json, os, subprocess, sys
directory = os.getcwd()
with open("file", "w") as file:
    file.write("one\ntwo\n")
environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "ALLOW_COMMANDS": "grep,printf"}
server = subprocess.Popen([os.path.join(sys.prefix, "bin", "mcp-shell-server")], env=environment, text=True, bufsize=1,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    while "id" in message:
        answer = json.loads(server.stdout.readline())
        if answer.get("id") == message["id"]:
            return answer["result"]
send({"id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "finding", "version": "1"}}})
send({"method": "notifications/initialized"})
texts = []
for number, command in enumerate((["printf", "[%s][%s]", "", "b"], ["grep", "-c", "", "file"]), 1):
    result = send({"id": number, "method": "tools/call", "params": {
        "name": "shell_execute", "arguments": {"command": command, "directory": directory}}})
    texts.append(" ".join(part["text"] for part in result["content"]).replace("\n", " ").strip())
print(" | ".join(texts))
server.stdin.close()
server.wait(10)
P
) || exit 2
echo "mcp-shell-server 1.1.14: printf '[%s][%s]' '' b, and grep -c '' file (2 lines): $output"
[ "$output" = '[b][] | Error executing command: Command failed with exit status 1 stdout: 0' ]
