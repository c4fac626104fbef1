#!/usr/bin/env bash
# MCP server for TypeScript 2.4.0 (npm): a call that is running at the end of the input completes,
# and its answer is dropped.
#
# Expected: `printf ... | node server.mjs`, the usual first test of a server, prints an answer for
# each request, as with the former package (@modelcontextprotocol/sdk 1.32.2). Seen: at the end of
# the input, the server closes its transport at once. A running tool has its `signal` aborted and
# goes on. Its result is dropped without a message, and the exit code is 0. A tool that returns
# without waiting is answered, so the same test works for one tool and not for the next.
#
# For agent-bash: at the end of its input, the MCP server cancels running commands.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/sdk@1.32.2 zod@4.1.12
body='
server.registerTool("wait", { inputSchema: schema }, async (_, context) => {
    await new Promise((done) => setTimeout(done, 1000));
    const signal = context.signal ?? context.mcpReq?.signal;
    process.stderr.write(`ran, signal aborted: ${signal.aborted}\n`);
    return { content: [{ type: "text", text: "waited" }] };
});
server.registerTool("return", { inputSchema: schema }, () => ({ content: [{ type: "text", text: "returned" }] }));
await server.connect(new StdioServerTransport());'
cat > "$work/new.mjs" <<J
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
const server = new McpServer({ name: 's', version: '1' }), schema = z.object({});
$body
J
cat > "$work/old.mjs" <<J
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
const server = new McpServer({ name: 's', version: '1' }), schema = {};
$body
J
cat > "$work/requests" <<'J'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"return","arguments":{}}}
J
outcome() {
    code=0
    timeout 60 node "$work/$1.mjs" < "$work/requests" > "$work/answers" 2> "$work/log" || code=$?
    echo "answers $(grep -o '"[a-z]*ed"' "$work/answers" | paste -sd ' '), $(tail -n 1 "$work/log"), exit code $code"
}
new=$(outcome new)
old=$(outcome old)
echo "MCP for TypeScript, of a call that waits and one that returns: server 2.4.0: $new; sdk 1.32.2: $old"
[ "$new" = 'answers "returned", ran, signal aborted: true, exit code 0' ]
[ "$old" = 'answers "returned" "waited", ran, signal aborted: false, exit code 0' ]
