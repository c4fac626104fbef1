#!/usr/bin/env bash
# shell-words 1.1.1 (crates.io): bash reads a quoted word as several.
#
# Expected: bash reads `quote(word)` as that word again. Seen: braces are left alone, as POSIX shells
# have no meaning for them, and in bash `{a,b}` is two words, and `x{1..3}` three. Python's
# `shlex.quote` and the crate shlex quote them. A path that a template engine made, such as
# `src/{name,kind}.rs`, reaches another command than meant.
#
# For agent-bash: what agent-bash writes for a shell is in single quotes.
set -eu
. "$(dirname "$0")/lib/crate.sh"
quoted=$(run_with_crates 'shell-words = "=1.1.1"
shlex = "=1.3.0"' <<'R'
fn main() {
    let word = "src/{name,kind}.rs";
    println!("{}\n{}", shell_words::quote(word), shlex::try_quote(word).unwrap());
}
R
) || exit 2
output=$(while read -r word; do bash -c "set -- $word; echo \$#: \"\$@\""; done <<< "$quoted" | paste -sd ,)
echo "shell-words 1.1.1, then shlex 1.3.0: words in bash: $output"
[ "$output" = '2: src/name.rs src/kind.rs,1: src/{name,kind}.rs' ]
