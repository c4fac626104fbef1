#!/usr/bin/env bash
# strip-ansi-escapes 0.2.1 (crates.io): text without an escape sequence loses its tabs.
#
# Expected: as the name says, the crate removes escape sequences; text that has none is unchanged.
# Seen: of all control characters, only the newline remains. Columns of `du`, `cut` and `git diff
# --numstat` join: 12 added and 3 removed lines are "123", and a Makefile has no recipes any more.
# A carriage return goes, too, so a progress line is joined with its next state.
#
# For agent-bash: sequences are removed by a function of its own, which leaves tabs.
set -eu
. "$(dirname "$0")/lib/crate.sh"
output=$(run_with_crates 'strip-ansi-escapes = "=0.2.1"' <<'R'
fn main() {
    let texts = ["12\t3\tsrc/main.rs\n", "all:\n\tcc main.c\n", "10 %\r100 %\n", "\u{1b}[1mbold\u{1b}[0m\n"];
    println!("{:?}", texts.map(strip_ansi_escapes::strip_str));
}
R
) || exit 2
echo "strip-ansi-escapes 0.2.1: a line of git, a Makefile, a progress line, bold text: $output"
[ "$output" = '["123src/main.rs\n", "all:\ncc main.c\n", "10 %100 %\n", "bold\n"]' ]
