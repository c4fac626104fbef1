"""For the Claude Agent SDK: `ClaudeAgentOptions(**options())`."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from .. import _program

#: The name of the server, and so a part of its tools' names.
SERVER = "agent-bash"


def options(
    *,
    program: Optional[str] = None,
    env: Optional[Dict[str, str]] = None,
    arguments: Sequence[str] = (),
) -> Dict[str, Any]:
    """Replaces Claude Code's own `Bash` by the tools of `agent-bash mcp`, in the agent's directory."""
    server = {
        "type": "stdio",
        "command": program or _program.find(),
        "args": ["mcp", *arguments],
        "env": env or {},
        # Otherwise Claude Code offers its model the tools' names only, and the agent has no shell in sight.
        "alwaysLoad": True,
    }
    return {
        "mcp_servers": {SERVER: server},
        "allowed_tools": [f"mcp__{SERVER}"],
        "disallowed_tools": ["Bash"],
    }
