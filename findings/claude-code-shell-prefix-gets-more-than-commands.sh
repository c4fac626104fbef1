#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): CLAUDE_CODE_SHELL_PREFIX also wraps hooks and the start of MCP servers.
#
# Expected: the program of a "shell prefix" is started for the commands of the Bash tool. Seen: it
# also gets each hook's line and each MCP server's start line, as the same single argument, so a
# prefix that limits the time of commands also ends servers. Only the environment tells them apart:
# AI_AGENT ends in `_agent` for the model's commands, in `_harness` for all others.
#
# For agent-bash: `agent-bash shell` treats only the model's commands as calls; the environment
# tells them apart.
set -eu
. "$(dirname "$0")/lib/agent.sh"
cat > "$work/prefix" <<P
#!/bin/bash
case \$1 in *model-command*) kind=command ;; *hook-line*) kind=hook ;; *server.py*) kind=server ;; *) kind=other ;; esac
echo "\$kind \$# \${AI_AGENT##*_}" >> "$work/seen"
exec bash -c "\$1"
P
chmod +x "$work/prefix"
printf 'import sys\nsys.stdin.read()\n' > "$work/server.py"
mkdir "$work/home/.claude"
cat > "$work/home/.claude/settings.json" <<J
{"env": {"CLAUDE_CODE_SHELL_PREFIX": "$work/prefix"}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks":
 [{"type": "command", "command": "true hook-line"}]}]}}
J
servers='{"mcpServers": {"silent": {"command": "python3", "args": ["'"$work"'/server.py"]}}}'
MCP_TIMEOUT=3000 claude_code '[["Bash", {"command": "echo model-command"}]]' --mcp-config "$servers"
seen=$(grep -v '^other' "$work/seen" | sort -u | paste -sd ',')
echo "Claude Code 2.1.332: kind, number of arguments, end of AI_AGENT: $seen"
[ "$seen" = 'command 1 agent,hook 1 harness,server 1 harness' ]
