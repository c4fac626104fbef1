#!/usr/bin/env bash
# gptme 0.35.1 (PyPI): `case` with a "|", or `$((1|2))`, is a syntax error, and can end the session.
#
# Expected: a "stateful bash shell", as the model is told, reads what bash reads. Seen: so that no
# command reads the input of the session, the tool writes `< /dev/null` before the first "|" of the
# text, and takes each "|" outside quotes for a pipe. Of `case $1 in start|stop)`, bash gets
# `start < /dev/null | stop)`: it ends with exit code 2, and variables that were not exported are
# lost. The line `[[ $x =~ a|b ]] && echo yes` prints nothing, and its exit code is 0.
#
# For agent-bash: bash gets the text of a call unchanged, and /dev/null as its standard input.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'gptme==0.35.1' <<'P'
import contextlib, os, sys
from gptme.tools.shell import ShellSession

with contextlib.redirect_stdout(sys.stderr):
    shell = ShellSession(cwd=os.getcwd())
    results = [shell.run(command, output=False, timeout=20)[:2] for command in (
        "local=yes", "case start in start|stop) echo matched;; esac", 'echo "${local:-lost}"',
        "[[ ab =~ a|b ]] && echo yes", "echo $((1|2))")]
    shell.close()
print(*results[1:])
P
) || exit 2
echo "gptme 0.35.1: case, variable, [[ ]], \$(( )): $output"
[ "$output" = "(2, '') (0, 'lost') (0, '') (1, '')" ]
