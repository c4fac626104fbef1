#!/usr/bin/env bash
# MCP client for TypeScript 2.4.0 (npm): a valid result is an error once the tools were listed.
#
# Expected: whether `callTool` returns a result depends on the result. Seen: a tool with an output
# schema that answers by text alone is accepted by a client that has not called `listTools`. After
# `listTools` the same call throws "has an output schema but did not return structured content", and
# the text is lost. So a server passes the tests of a client that knows the names of its tools, and
# fails below an agent.
#
# For agent-bash: a tool has an output schema only if its results have structured content
# (`mcp.structured`).
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @modelcontextprotocol/client@2.4.0
cat > "$work/server.py" <<'P'
import json, sys
schema = {"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}
for line in sys.stdin:
    message = json.loads(line)
    answers = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": "count", "inputSchema": {"type": "object"}, "outputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": "12 lines"}]}}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers.get(message["method"], {})}), flush=True)
P
cat > "$work/main.mjs" <<'J'
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
const client = new Client({ name: 'c', version: '1' });
await client.connect(new StdioClientTransport({ command: 'python3', args: [process.argv[2]] }));
const call = () => client.callTool({ name: 'count', arguments: {} }).then((it) => it.content[0].text, (it) => it.message);
const before = await call();
await client.listTools();
console.log(`before listTools: ${before}; after it: ${await call()}`);
await client.close();
J
in_clean_environment node "$work/main.mjs" "$work/server.py" || cannot_run "$(tail -n 1 "$work/log")"
output=$(grep '^before' "$work/log")
echo "MCP client for TypeScript 2.4.0: $output"
[[ $output = 'before listTools: 12 lines; after it: Tool count has an output schema but did not return structured content'* ]]
