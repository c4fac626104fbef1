#!/usr/bin/env bash
# agno 3.1.10 (PyPI): of a command that fails, the model reads standard error only.
#
# Expected: the result of a failed command has its output; test runners, linters and compilers print
# their findings to standard output. Seen: for each exit code but 0, `ShellTools` returns "Error: "
# with standard error. A failed `pytest`, `eslint` or `tsc`, which write nothing there, is "Error: "
# for the model: neither the failure nor the exit code. With exit code 0, standard error is dropped
# in turn, so warnings are lost.
#
# For agent-bash: a failed command has its whole output in the result, and the exit code.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'agno==3.1.10' <<'P'
import logging
logging.disable(logging.CRITICAL)
from agno.tools.shell import ShellTools
run = ShellTools().run_shell_command
print([run(["bash", "-c", f"echo 'test failed'; echo warning >&2; exit {code}"]).strip() for code in (1, 0)],
      repr(run(["bash", "-c", "echo '2 tests failed'; exit 1"])))
P
) || exit 2
echo "agno 3.1.10: two lines with exit code 1 and 0, and one on standard output with 1: $output"
[ "$output" = "['Error: warning', 'test failed'] 'Error: '" ]
