#!/usr/bin/env bash
# vt100 0.18.1: the line drawing characters of the VT100 are letters: a box is "lqqk".
#
# Expected: a crate named after the terminal draws the terminal's own box characters; programs with
# menus use them. Seen: the crate ignores the switch to that character set (`ESC ( 0`).
# In a locale without UTF-8, as in most containers, a curses program below TERM=xterm-256color
# sends its boxes so, and the screen that the crate computes has "lqqk" and "x" around the text.
#
# For agent-bash: agent-bash translates these characters in front of the crate.
set -eu
. "$(dirname "$0")/lib/crate.sh"
cat > "$work/box.py" <<'P'
import curses, os, pty, sys
def draw(screen):
    window = curses.newwin(3, 4, 0, 0)
    window.border()
    window.refresh()
pid, terminal = pty.fork()
if pid == 0:
    curses.wrapper(draw)
    os._exit(0)
output = b""
try:
    while chunk := os.read(terminal, 4096):
        output += chunk
except OSError:
    pass
sys.stdout.buffer.write(output.partition(b"\x1b[?1049l")[0])
P
env -u LANG LC_ALL=C TERM=xterm-256color LINES=24 COLUMNS=80 python3 "$work/box.py" > "$work/output" || exit 2
run_with_crates 'vt100 = "=0.18.1"' > "$work/first" <<'R' || exit 2
use std::io::Read as _;

fn main() {
    let mut output = Vec::new();
    std::io::stdin().read_to_end(&mut output).unwrap();
    let mut parser = vt100::Parser::new(24.try_into().unwrap(), 80.try_into().unwrap(), 0);
    parser.process(&output);
    println!("{}", parser.screen().contents().split_whitespace().collect::<Vec<_>>().join("/"));
}
R
output=$("$work/target/debug/finding" < "$work/output")
echo "vt100 0.18.1: the box of a curses program is $output"
[ "$output" = 'lqqk/x/x/mqqj' ]
