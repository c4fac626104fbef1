#!/usr/bin/env bash
# open-interpreter 0.4.3 (PyPI): a file written by a here-document has a line of the tool before
# each line.
#
# Expected: the shell runs the model's script as it is. Seen: the tool puts `echo
# "##active_line2##"` before each line, to show which one runs, unless a line looks like the start
# of a loop, of a condition or a continued line. It does not know here-documents. `cat > config.yaml
# <<'EOF'` stores the marks in the file, and `python3 - <<'EOF'` reports a syntax error of a line
# that the model has not written. Reading the file back shows `echo ""`, as marks are removed from
# output.
#
# For agent-bash: bash gets the text of a call unchanged.
set -eu
. "$(dirname "$0")/lib/python.sh"
mkdir "$work/package"
(cd "$work" && python3 -m pip --quiet --disable-pip-version-check download --no-deps --dest . open-interpreter==0.4.3 \
    && python3 -m zipfile -e open_interpreter-0.4.3-*.whl package) > "$work/log" 2>&1 \
    || { echo 'cannot run: pip cannot download open-interpreter 0.4.3'; exit 2; }
output=$(cd "$work" && SHELL=/bin/bash timeout 60 python3 - 2> log <<'P'
import os, sys, types

# The shell tool needs nothing but Python; its parent packages import a hundred others.
name = ""
for part in "interpreter/core/computer/terminal".split("/"):
    name = f"{name}.{part}".strip(".")
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [os.path.join("package", *name.split("."))]
from interpreter.core.computer.terminal.languages.shell import Shell

shell = Shell()
list(shell.run("cat > config.yaml <<'EOF'\nname: demo\nport: 8080\nEOF"))
counted = [part["content"].strip() for part in shell.run("grep -c . <<'EOF'\none\ntwo\nEOF") if part["format"] == "output"]
shell.terminate()
print(open("config.yaml").read().splitlines(), [part for part in counted if part])
P
) || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
echo "open-interpreter 0.4.3: a file of two lines, and the count of two others: $output"
[ "$output" = "['echo \"##active_line2##\"', 'name: demo', 'echo \"##active_line3##\"', 'port: 8080', 'echo \"##active_line4##\"'] ['5']" ]
