#!/usr/bin/env bash
# Desktop Commander 0.2.52 (npm, @wonderwhy-er/desktop-commander): `cat` of an HTML file "is
# running" after its end.
#
# Expected: a command that ends within the time limit is reported as ended, with all its output.
# Seen: the MCP server takes output that ends in ">", "$" or "#" for the prompt of a program that
# waits for input, and answers at once. So `cat page.html` is a running process that waits, though
# it has ended, and a build that first prints a page returns before it has built anything,
# whatever the time limit. The same file without its tags is reported as ended. A line end after
# the ">" does not help.
#
# For agent-bash: a call ends with its shell, whatever its output looks like.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @wonderwhy-er/desktop-commander@0.2.52
printf '<html>\n<p>text</p>\n</html>\n' > "$work/project/page.html"
printf 'html\np text\nend\n' > "$work/project/page.txt"
cat > "$work/main.py" <<'P'
import json, subprocess, sys
server = subprocess.Popen(["node", sys.argv[1], "--no-onboarding"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
def request(number, method, parameters):
    send({"id": number, "method": method, "params": parameters})
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]
request(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "client", "version": "1"}})
send({"method": "notifications/initialized"})
results = []
for number, command in enumerate(("cat page.txt; sleep 2; echo built", "cat page.html", "cat page.html; sleep 2; echo built"), 2):
    text = request(number, "tools/call", {"name": "start_process", "arguments": {"command": command, "timeout_ms": 60000}})["content"][0]["text"]
    results.append(("running" if "Process is running" in text else "ended") + (", built" if "built" in text else ""))
print("results " + "; ".join(results))
server.kill()
P
in_clean_environment python3 "$work/main.py" "$work/node_modules/@wonderwhy-er/desktop-commander/dist/index.js" \
    || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed -n 's/^results //p' "$work/log")
echo "Desktop Commander 0.2.52: a text and a build, a page, a page and a build: $output"
[ "$output" = 'ended, built; running; running' ]
