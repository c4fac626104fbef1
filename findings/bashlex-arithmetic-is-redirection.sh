#!/usr/bin/env bash
# bashlex 0.18 (PyPI): `(( count > 5 ))` is a command `count` with its output in a file "5".
#
# Expected: the parser, which follows bash's own grammar, reads the arithmetic command, or raises
# NotImplementedError, as for `$((1 + 2))`, `case` and `time`. Seen: it parses two nested subshells
# with a command `count` and a redirection to a file, without an error. Tools that list the programs
# and the files of a command before they run it show ones that do not exist. `$'a\nb'` is alike: the
# word is "$anb".
#
# For agent-bash: the policy has its own reader.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'bashlex==0.18' <<'P'
import bashlex
found = []
class Visitor(bashlex.ast.nodevisitor):
    def visitcommand(self, node, parts):
        found.append([part.word for part in parts if part.kind == "word"])
    def visitredirect(self, node, input, type, output, heredoc):
        found.append(type + output.word)
for script in ("(( count > 5 ))", "echo $'a\\nb'"):
    for tree in bashlex.parse(script):
        Visitor().visit(tree)
try:
    bashlex.parse("echo $((1 + 2))")
except NotImplementedError:
    found.append("raised")
print(found)
P
) || exit 2
echo "bashlex 0.18: commands and redirections of '(( count > 5 ))', of an ANSI-C string, and of '\$((1 + 2))': $output"
[ "$output" = "[['count'], '>5', ['echo', '\$anb'], 'raised']" ]
