#!/usr/bin/env bash
# tree-sitter-bash 0.25.1 (PyPI, with tree-sitter 0.25.2): the text of a second here-document is
# commands.
#
# Expected: `cat > file <<EOF; make` and `diff - file <<A 3<<B` are what bash takes them for: the
# rest of the line is read as always, and each here-document follows in its turn. Seen: after the
# operator, only `&&`, `||`, `|` and redirections are known. With `;` or `&` the line is an error,
# and the command behind it is no command in the tree. With two here-documents on a line, the tree
# has an error, and the lines of the second one are commands of the script.
#
# For agent-bash: the policy has its own reader.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'tree-sitter==0.25.2 tree-sitter-bash==0.25.1' <<'P'
import subprocess, tree_sitter, tree_sitter_bash
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
def commands(node):
    if node.type == "command_name":
        yield node.text.decode()
    for child in node.children:
        yield from commands(child)
for script in ("cat <<A && make\ntext\nA\n", "cat <<A; make\ntext\nA\n", "cat <<A & make\ntext\nA\n",
               "cat <<A 3<<B\ntext\nA\nremove it\nB\n"):
    subprocess.run(["bash", "-n", "-c", script], check=True)
    root = parser.parse(script.encode()).root_node
    print(script.splitlines()[0], "->", *commands(root), "with an error" if root.has_error else "")
P
) || exit 2
output=$(echo "$output" | sed 's/ *$//' | paste -sd ',')
echo "tree-sitter-bash 0.25.1, commands in the tree: $output"
[ "$output" = 'cat <<A && make -> cat make,cat <<A; make -> cat with an error,cat <<A & make -> cat with an error,'\
'cat <<A 3<<B -> cat remove B with an error' ]
