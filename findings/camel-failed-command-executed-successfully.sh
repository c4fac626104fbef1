#!/usr/bin/env bash
# camel-ai 0.2.90 (PyPI): a failed command without output "executed successfully" for the model.
#
# Expected: the result of a command has its exit code, or at least says nothing about success if the
# tool does not look at it. Seen: the terminal tool never reads the exit code. Whatever prints nothing
# is "Command executed successfully (no output).": `false`, `test -e missing`, `grep -q` without a
# match, `git diff --exit-code --quiet` with differences. A failure with output is its output alone.
#
# For agent-bash: the result of a failed call ends with its exit code, with or without output.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(CAMEL_RUNTIME=true run_with_packages 'camel-ai==0.2.90 mcp==1.30.0' <<'P'
import logging
logging.disable(logging.CRITICAL)
from camel.toolkits.terminal_toolkit.terminal_toolkit import TerminalToolkit

shell = TerminalToolkit(working_directory="work")
print(*[shell.shell_exec("one", command).strip() for command in ("true", "exit 3", "echo text; exit 3")], sep=" / ")
P
) || exit 2
echo "camel-ai 0.2.90, exit codes 0, 3, and 3 with output: $output"
text='Command executed successfully (no output).'
[ "$output" = "$text / $text / text" ]
