#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): the tools of a configured MCP server are not among the model's tools.
#
# Expected: each tool that an MCP server lists is offered to the model with every request, as MCP
# clients do. Seen: Claude Code withholds them; the model sees a tool `ToolSearch` and must ask for
# a tool by name before it has its schema. A tool is offered at once if its `_meta` has
# "anthropic/alwaysLoad", a field that the protocol does not know. A server that offers a shell,
# say, otherwise loses to built-in tools.
#
# For agent-bash: a model may know only the names of the MCP server's tools; the server's
# instructions must say what they do.
set -eu
. "$(dirname "$0")/lib/agent.sh"
cat > "$work/server.py" <<'P'
import json, sys
def tool(name, **more):
    return {"name": name, "description": "Returns a fact.", "inputSchema": {"type": "object"}, **more}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answers = {"initialize": {"protocolVersion": message.get("params", {}).get("protocolVersion", "2025-11-25"),
                              "capabilities": {"tools": {}}, "serverInfo": {"name": "facts", "version": "1"}},
               "tools/list": {"tools": [tool("plain"), tool("marked", _meta={"anthropic/alwaysLoad": True})]},
               "ping": {}}
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] in answers:
        answer["result"] = answers[message["method"]]
    else:
        answer["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(answer), flush=True)
P
servers='{"mcpServers": {"facts": {"command": "python3", "args": ["'"$work"'/server.py"]}}}'
claude_code '[["Bash", {"command": "sleep 2"}]]' --mcp-config "$servers"
offered() { grep -q "\"$1\"" "$work/tools" && echo yes || echo no; }
plain=$(offered mcp__facts__plain); marked=$(offered mcp__facts__marked); search=$(offered ToolSearch)
echo "Claude Code 2.1.332: offered to the model: plain $plain, with alwaysLoad $marked, ToolSearch $search"
[ "$plain/$marked/$search" = no/yes/yes ]
