#!/usr/bin/env bash
# IPython 9.18.1 (PyPI): `!for i in 1 2 3; do echo $i; done` prints 7 7 7 if Python has an `i`.
#
# Expected: a line after `!` is the shell's, so its loop has a variable of its own. Seen: IPython
# first replaces each `$name` that is a variable of Python, as it does on purpose for `!ls
# $directory`, and of `${i}` the part in braces: it becomes `$7`, which is empty. What a command
# means depends on the cells before it: loops in Python often leave an `i`, `f`, `path` or `line`.
# The cell magic `%%bash` replaces nothing. Notebook tools of agents run such lines.
#
# For agent-bash: bash gets the text of a call unchanged.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'ipython==9.18.1' <<'P'
import os, subprocess, sys
with open("cells.ipy", "w") as file:
    file.write("""
!for i in 1 2 3; do echo $i; done
i = 7
!for i in 1 2 3; do echo $i; done
!for i in 1 2 3; do echo ${i}; done
get_ipython().run_cell_magic("bash", "", "for i in 1 2 3; do echo $i; done")
""")
ipython = os.path.join(os.path.dirname(sys.executable), "ipython")
subprocess.run([ipython, "--no-banner", "--colors=nocolor", "cells.ipy"], stdin=subprocess.DEVNULL, check=True)
P
) || exit 2
output=$(echo "$output" | sed 's/^$/empty/' | paste -sd ' ')
echo "IPython 9.18.1: without i in Python, with i = 7, with \${i}, by %%bash: $output"
[ "$output" = '1 2 3 7 7 7 empty empty empty 1 2 3' ]
