#!/usr/bin/env bash
# bashlex 0.18 (PyPI): every here-document with a quoted delimiter is an error.
#
# Expected: `cat <<'EOF'` is the usual way of an agent to write a file or to give a script to
# python3, and the parser knows here-documents. Seen: the quotes stay part of the delimiter, so the
# parser looks for a line `'EOF'` with quotes, and raises "here-document delimited by end-of-file".
# With "EOF" in double quotes and with \EOF it is the same. Only the bare word works. A tool that
# lists or splits commands by this parser has no tree for such a command.
#
# For agent-bash: the policy has its own reader.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'bashlex==0.18' <<'P'
import bashlex, subprocess
for delimiter in ("EOF", "'EOF'", '"EOF"', "\\EOF"):
    script = f"cat <<{delimiter}\ntext\nEOF\n"
    assert subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, check=True, text=True).stdout == "text\n"
    try:
        tree, = bashlex.parse(script)
        print(delimiter, "parsed")
    except bashlex.errors.ParsingError as error:
        print(delimiter, "error" if "delimited by end-of-file" in str(error) else error)
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "bashlex 0.18, here-documents that bash prints: $output"
[ "$output" = "EOF parsed;'EOF' error;\"EOF\" error;\\EOF error" ]
