#!/usr/bin/env bash
# strands-agents 1.62.0, strands-agents-tools 0.8.10 (PyPI): letters such as "é" break in long output.
#
# Expected: the output of a command is decoded as UTF-8. Seen: both shell tools decode each piece
# that they read on its own. If a letter of two bytes is cut, the tool of strands-agents shows two
# marks U+FFFD in its place. The one of strands-agents-tools takes the whole piece for Latin-1, up
# to 1,024 bytes, so each "é" in it is "Ã©". Long output is cut in pieces at any byte.
#
# For agent-bash: a character that is cut waits for its other bytes.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'strands-agents==1.62.0 strands-agents-tools==0.8.10' <<'P'
import asyncio, contextlib, io, os
os.environ["STRANDS_NON_INTERACTIVE"] = "true"
from strands.sandbox.not_a_sandbox_local_environment import NotASandboxLocalEnvironment
from strands_tools.shell import execute_single_command
command = "printf 'éé\\303'; sleep 1; printf '\\251'"
result = asyncio.run(NotASandboxLocalEnvironment().execute(command))
with contextlib.redirect_stdout(io.StringIO()):
    other = execute_single_command(command, ".", 30, True)
print(ascii(result.stdout + other["output"]))
P
) || exit 2
echo "strands-agents 1.62.0, strands-agents-tools 0.8.10: three times é, the last one in two pieces: $output"
[ "$output" = "'\\xe9\\xe9\\ufffd\\ufffd\\xc3\\xa9\\xc3\\xa9\\xc3\\xa9'" ]
