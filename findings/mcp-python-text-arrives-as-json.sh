#!/usr/bin/env bash
# MCP for Python 2.3.0 (PyPI), Claude Code 2.1.332 (npm): a tool's text arrives as JSON on one line.
#
# Expected: a tool `def lines() -> str` answers with its text, and the model reads two lines. Seen:
# because of the annotation, the SDK sends the text twice: as text, and as the structured content
# {"result": "..."}. Claude Code shows the model the structured content instead of the text, so each
# line end and quote is escaped, and an output of a command is one long line. Without `-> str`, or
# with `structured_output=False`, the model reads the text.
#
# For agent-bash: by default, results have no structured content (`mcp.structured`).
set -eu
. "$(dirname "$0")/lib/agent.sh"
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install mcp==2.3.0 > /dev/null 2>&1 \
    || cannot_run 'pip cannot install mcp==2.3.0'
cat > "$work/server.py" <<'P'
from mcp.server import MCPServer
server = MCPServer("facts")
meta = {"anthropic/alwaysLoad": True}
@server.tool(meta=meta)
def annotated() -> str:
    "Returns two lines."
    return 'one\n"two"'
@server.tool(meta=meta)
def plain():
    "Returns two lines."
    return 'one\n"two"'
server.run()
P
servers='{"mcpServers": {"facts": {"command": "'"$work"'/v/bin/python", "args": ["'"$work"'/server.py"]}}}'
claude_code '[["Bash", {"command": "sleep 3"}], ["mcp__facts__annotated", {}], ["mcp__facts__plain", {}]]' \
    --mcp-config "$servers"
annotated=$(result 1)
plain=$(result 2 | paste -sd '|')
echo "MCP for Python 2.3.0, Claude Code 2.1.332: with '-> str': $annotated; without: $plain"
[ "$annotated/$plain" = '{"result":"one\n\"two\""}/one|"two"' ]
