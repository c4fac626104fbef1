#!/usr/bin/env bash
# tree-sitter-bash 0.25.1 (PyPI, with tree-sitter 0.25.2): words after a redirection are no
# arguments.
#
# Expected: `cp 2>/dev/null one two` has the arguments `one` and `two`: a shell allows redirections
# anywhere in a simple command, and the grammar accepts the line without an error. Seen: the tree
# has a command `cp` without arguments, and a redirection with three destinations. With the
# redirection at the end or the beginning of the line, the arguments are right. A tool that reads
# commands by this grammar shows, counts or colours others than bash runs.
#
# For agent-bash: the policy has its own reader.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install \
    tree-sitter==0.25.2 tree-sitter-bash==0.25.1 2> /dev/null || { echo 'cannot run: pip cannot install'; exit 2; }
output=$("$work/v/bin/python" - <<'P'
import tree_sitter, tree_sitter_bash
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
def count(script):
    root = parser.parse(script).root_node
    assert not root.has_error
    text = str(root)
    return f"{text.count('argument: ')} arguments and {text.count('destination: ')} destinations"
print(f"in the middle {count(b'cp 2>/dev/null one two')}; at the end {count(b'cp one two 2>/dev/null')}")
P
)
echo "tree-sitter-bash 0.25.1: $output"
[ "$output" = 'in the middle 0 arguments and 3 destinations; at the end 2 arguments and 1 destinations' ]
