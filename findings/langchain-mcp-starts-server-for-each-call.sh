#!/usr/bin/env bash
# langchain-mcp-adapters 0.3.2 (PyPI), @langchain/mcp-adapters 1.1.4 (npm): in Python, each call of
# a tool has a new server process; in JavaScript, one process has all calls.
#
# Expected: an MCP client starts a server once and calls its tools, as in the package of the same
# name for JavaScript: what a server keeps between calls (a shell's directory, a login, a cache)
# stays. Seen: the tools of `MultiServerMCPClient.get_tools()` in Python start a process, do the
# handshake, call once and end it, for the list of tools as well. Nothing fails, so a `cd` is lost
# without a message.
#
# For agent-bash: below this client, calls do not share a server; each call sets its directory, or the
# tools are loaded from one `client.session(...)`.
set -eu
. "$(dirname "$0")/lib/python.sh"
cp "$(dirname "$0")/lib/mcp_server.py" "$work/server.py"
mkdir "$work/js"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work/js" @langchain/mcp-adapters@1.1.4 \
    > /dev/null 2>&1 || { echo 'cannot run: npm cannot install @langchain/mcp-adapters@1.1.4'; exit 2; }
cat > "$work/js/main.mjs" <<'J'
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
const client = new MultiServerMCPClient({ shell: { transport: 'stdio', command: 'python3', args: [process.argv[2]] } });
const [tool] = await client.getTools();
const texts = [];
for (const command of ['one', 'two', 'three']) texts.push((await tool.invoke({ command })).split('\n')[1]);
console.log(texts.join('; '));
await client.close();
J
javascript=$(timeout 120 node "$work/js/main.mjs" "$work/server.py" 2> "$work/log") \
    || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
python=$(run_with_packages 'langchain==1.5.2 langchain-mcp-adapters==0.3.2' <<'P'
import asyncio, sys
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main():
    client = MultiServerMCPClient({"shell": {"transport": "stdio", "command": sys.executable, "args": ["../server.py"]}})
    [tool] = await client.get_tools()
    texts = [await tool.ainvoke({"command": command}) for command in ("one", "two", "three")]
    print(*[text[0]["text"].splitlines()[1] for text in texts], sep="; ")

asyncio.run(main())
P
) || exit 2
echo "LangChain's MCP adapters, calls by their number in a process: Python: $python; JavaScript: $javascript"
[ "$python" = 'one, call 1; two, call 1; three, call 1' ] && [ "$javascript" = 'one, call 1; two, call 2; three, call 3' ]
