#!/usr/bin/env bash
# MCP clients for TypeScript 2.4.0 (npm) and Python 2.3.0 (PyPI): one of them refuses a null.
#
# Expected: both official clients read the same answers, and a server that serializes an absent value
# as null, as many do, works with both. Seen: `"structuredContent": null` beside a text is a result
# for Python, with the text. For TypeScript the whole call is an error of validation, and the text is
# lost. Without the member, both accept it.
#
# For agent-bash: structured content is an object, or is absent.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @modelcontextprotocol/client@2.4.0
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install mcp==2.3.0 > /dev/null 2>&1 \
    || cannot_run 'pip cannot install mcp==2.3.0'
cat > "$work/server.py" <<'P'
import json, sys
text = {"content": [{"type": "text", "text": "12 lines"}]}
for line in sys.stdin:
    message = json.loads(line)
    method, name = message.get("method"), message.get("params", {}).get("name")
    answers = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "s", "version": "1"}},
        "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("absent", "null")]},
        "tools/call": text if name == "absent" else {**text, "structuredContent": None}}
    if "id" in message:
        answer = {"result": answers[method]} if method in answers else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
P
cat > "$work/main.mjs" <<'J'
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
const client = new Client({ name: 'c', version: '1' });
await client.connect(new StdioClientTransport({ command: 'python3', args: [process.argv[2]] }));
const call = (name) => client.callTool({ name, arguments: {} }).then((it) => it.content[0].text, () => 'an error');
console.log(`outcome ${await call('absent')}/${await call('null')}`);
await client.close();
J
cat > "$work/main.py" <<'P'
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    async with stdio_client(StdioServerParameters(command="python3", args=[sys.argv[1]])) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            async def call(name):
                try:
                    return (await session.call_tool(name, {})).content[0].text
                except Exception as error:
                    return f"an error {error}"
            print(f"outcome {await call('absent')}/{await call('null')}")

asyncio.run(main())
P
outcome() {
    in_clean_environment "$@" "$work/server.py" || cannot_run "$(tail -n 1 "$work/log")"
    grep '^outcome ' "$work/log" | cut -d ' ' -f 2-
}
typescript=$(outcome node "$work/main.mjs")
python=$(outcome "$work/v/bin/python" "$work/main.py")
echo "MCP clients: without the member/with null: TypeScript 2.4.0: $typescript, Python 2.3.0: $python"
[ "$typescript, $python" = '12 lines/an error, 12 lines/12 lines' ]
