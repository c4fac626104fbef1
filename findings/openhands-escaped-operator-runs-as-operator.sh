#!/usr/bin/env bash
# openhands-tools 1.58.2 (PyPI): `find . -exec cat {} \; | wc -l` is a syntax error, and `\>` redirects.
#
# Expected: the terminal tool types the command of the model into bash as it is. Seen: it doubles the
# backslash before `;`, `&`, `|`, `<` and `>` outside of quotes, so bash reads an escaped backslash and
# an operator. `find ... -exec ... \;` works at the end of a text that goes through tmux, which drops
# the last backslash, and nowhere else. `echo 1 \> 2` writes the file "2" and succeeds, and
# `grep a\|b file` starts a program `b`.
#
# For agent-bash: scripts reach bash by a descriptor, not by typing; no character is changed.
set -eu
. "$(dirname "$0")/lib/python.sh"
(cd "$work" && for package in openhands-tools openhands-sdk; do
    python3 -m pip --quiet download --no-deps --only-binary :all: --python-version 3.13 "$package==1.58.2" || exit
    python3 -m zipfile -e ${package/-/_}-1.58.2-*.whl package || exit
done) > "$work/log" 2>&1 || { echo 'cannot run: pip cannot download openhands-tools 1.58.2'; exit 2; }
output=$(run_with_packages 'tree-sitter==0.25.2 tree-sitter-bash==0.25.1' <<'P'
import importlib, logging, subprocess, sys, types

# The code that changes a command needs a parser and a logger; its parent packages import a browser.
for name in ("openhands", "openhands.sdk", "openhands.sdk.security", "openhands.sdk.logger",
             "openhands.tools", "openhands.tools.terminal", "openhands.tools.terminal.utils"):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = ["../package/" + name.replace(".", "/")]
sys.modules["openhands.sdk.logger"].get_logger = logging.getLogger
change = importlib.import_module("openhands.tools.terminal.utils.command").escape_bash_special_chars

def run(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.returncode, done.stdout.strip()

open("one.txt", "w").close()
find, arrow = r"find . -name one.txt -exec echo found {} \; | cat", r"echo 1 \> 2"
print(change(arrow), run(find), run(change(find)), run(arrow), run(change(arrow)), open("2").read().strip())
P
) || exit 2
echo "openhands-tools 1.58.2: \\>, then two commands as written and as typed, and the file: $output"
[ "$output" = "echo 1 \\\\> 2 (0, 'found ./one.txt') (2, '') (0, '1 > 2') (0, '') 1 \\" ]
