#!/usr/bin/env bash
# MCP server for files 2026.8.31 (npm, @modelcontextprotocol/server-filesystem): an edit of one line
# changes line ends and letters of the others.
#
# Expected: `edit_file` replaces the given text, and the bytes around it stay; its answer, a diff,
# lists each changed line. Seen: each line end "\r\n" of the file becomes "\n", and each byte that
# is not UTF-8 becomes the character U+FFFD, so text in Latin-1 is lost for good. The diff shows the
# one line only, as it compares the converted text with the new one. `git diff` then has the whole
# file.
#
# For agent-bash: no tool edits files as text; where a client has recorded changes, an undo restores
# bytes.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @modelcontextprotocol/server-filesystem@2026.8.31
printf 'one\r\ntwo\r\ncaf\351\r\n' > "$work/project/file"
output=$(timeout 60 python3 - "$work" <<'P' 2> "$work/log"
import json, subprocess, sys
work = sys.argv[1]
server = subprocess.Popen(
    ["node", f"{work}/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", f"{work}/project"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
def request(number, method, params):
    send({"id": number, "method": method, "params": params})
    return next(answer["result"] for answer in map(json.loads, server.stdout) if answer.get("id") == number)
request(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                          "clientInfo": {"name": "finding", "version": "1"}})
send({"method": "notifications/initialized"})
edits = [{"oldText": "one", "newText": "1"}]
result = request(2, "tools/call", {"name": "edit_file", "arguments": {"path": f"{work}/project/file", "edits": edits}})
lines = [line for line in result["content"][0]["text"].split("\n")
         if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
print("diff", *lines, "file", open(f"{work}/project/file", "rb").read())
server.stdin.close()
server.wait(20)
P
) || cannot_run "$(tail -n 1 "$work/log")"
echo "server-filesystem 2026.8.31: after an edit of 'one' in 'one\\r\\ntwo\\r\\ncaf\\xe9\\r\\n': $output"
[ "$output" = "diff -one +1 file b'1\\ntwo\\ncaf\\xef\\xbf\\xbd\\n'" ]
