#!/usr/bin/env bash
# GNU screen 4.9.0 (Debian): `screen -X stuff` replaces `$1` and `$HOME` in the text that it types.
#
# Expected: a quoted argument of the shell is typed as it is, so that the shell in the window reads
# `awk '{print $1}'`. Seen: screen replaces variables itself, also within quotes, with the values of
# its server's environment, of the time when the session was started. `$1` is nothing, so awk prints
# whole lines and succeeds; `$PATH` is another than in the window.
#
# For agent-bash: as with tmux: a call gets its text unchanged.
set -eu
. "$(dirname "$0")/lib/debian.sh"
unpack screen=4.9.0-4
export HOME=$work/home SCREENDIR=$work/sockets TERM=xterm
mkdir -m 700 "$HOME" "$SCREENDIR"
cd "$work"
screen -dmS typed sh -c 'cat > typed.txt; :'
for _ in {1..50}; do [ -e typed.txt ] && break; sleep 0.1; done
[ -e typed.txt ] || { echo 'cannot run: screen did not start'; exit 2; }
HOME=$work/later screen -S typed -p 0 -X stuff "awk '{print \$1}' \$HOME"$'\n'
for _ in {1..50}; do [ -s typed.txt ] && break; sleep 0.1; done
screen -S typed -X quit
text=$(sed "s|$work|...|" typed.txt)
echo "screen 4.9.0: of the text awk '{print \$1}' \$HOME, the window gets: $text"
[ "$text" = "awk '{print }' .../home" ]
