#!/usr/bin/env bash
# camel-ai 0.2.90 (PyPI): the start of the terminal tool deletes all `.log` files of a directory.
#
# Expected: `session_logs_dir="logs"` is where the tool writes its own logs; other files there stay, as
# with each logger. Seen: making a `TerminalToolkit` removes each file there whose name ends in ".log",
# from whatever program it is. Two agents with one directory delete the logs of each other's commands
# while these run. The manual of the parameter says "directory to store session logs".
#
# For agent-bash: outputs are in the own state directory; only what agent-bash has written is removed.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(CAMEL_RUNTIME=true run_with_packages 'camel-ai==0.2.90 mcp==1.30.0' <<'P'
import logging, os
logging.disable(logging.CRITICAL)
from camel.toolkits.terminal_toolkit.terminal_toolkit import TerminalToolkit

os.mkdir("logs")
for name in ("server.log", "notes.txt"):
    open(f"logs/{name}", "w").close()
TerminalToolkit(working_directory="work", session_logs_dir="logs")
print(*sorted(os.listdir("logs")))
P
) || exit 2
echo "camel-ai 0.2.90: of logs/server.log and logs/notes.txt, after the start: $output"
[ "$output" = notes.txt ]
