#!/usr/bin/env bash
# tmux 3.3a: `send-keys` drops a semicolon at the end of a text, also with `-l`.
#
# Expected: `tmux send-keys -l TEXT` types TEXT "literally", as the manual has it, and a quoted
# argument of a shell is one argument. Seen: tmux takes a ";" at the end of any argument for its
# own separator of commands. `echo one;` is typed without it, and `find . -exec ls {} \;` with ";"
# in place of "\;", which find rejects. If `Enter` follows, tmux reports "unknown command: Enter"
# and types nothing. Another "\" before the ";" is the cure.
#
# For agent-bash: an agent that types into tmux runs other commands than it wrote; a call gets its
# text unchanged.
set -eu
[ "$(tmux -V)" = 'tmux 3.3a' ] || { echo "cannot run: $(tmux -V), not 3.3a"; exit 2; }
work=$(mktemp -d)
export TMUX_TMPDIR=$work
trap 'tmux kill-server 2> /dev/null || true; rm -rf "$work"' EXIT
tmux -f /dev/null new-session -d "stty -echo; touch $work/ready; exec cat > $work/typed"
for _ in {1..100}; do [ -e "$work/ready" ] && break; sleep 0.1; done
sleep 0.3
type_line() { tmux send-keys -l "$1"; tmux send-keys Enter; }
type_line 'echo one;'
type_line 'find -exec ls {} \;'
type_line 'one; two'
error=$(tmux send-keys 'echo two;' Enter 2>&1) || true
sleep 0.5
output=$(paste -sd '|' "$work/typed")
echo "tmux 3.3a: typed: $output; with Enter in the same command: $error"
[ "$output/$error" = 'echo one|find -exec ls {} ;|one; two/unknown command: Enter' ]
