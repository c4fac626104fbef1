#!/usr/bin/env bash
# shfmt 3.14.1 (PyPI, shfmt-py 4.2.0): with `-s`, a script that prints 3 becomes one that prints 4.
#
# Expected: a formatter keeps what a script does, also with its option to "simplify the code". Seen:
# in arithmetic, `-s` removes the dollar of `$a`. With it, bash inserts the text of the variable
# before it computes; without it, bash computes the variable first. If `a` is "1+1", `$a * 2` is 3
# and `a * 2` is 4.
#
# For agent-bash: bash gets the text of a call as it is.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'shfmt-py==4.2.0' <<'P'
import os, subprocess, sys
shfmt = os.path.join(os.path.dirname(sys.executable), "shfmt")
script = 'a=1+1\necho $(($a * 2))\n'
def formatted(*options):
    return subprocess.run([shfmt, *options], input=script, capture_output=True, text=True, check=True).stdout
def printed(text):
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.strip()
version = subprocess.run([shfmt, "--version"], capture_output=True, text=True).stdout.strip()
print(version, printed(script), printed(formatted()), printed(formatted("-s")))
P
) || exit 2
echo "shfmt: version, and what the script prints before, after shfmt and after shfmt -s: $output"
[ "$output" = 'v3.14.1 3 3 4' ]
