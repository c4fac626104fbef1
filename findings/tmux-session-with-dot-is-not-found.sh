#!/usr/bin/env bash
# tmux 3.3a: a session that was created as "web.api" is not found by that name, and its start succeeds.
#
# Expected: `new-session -s NAME` creates a session of that name, or refuses the name; scripts name
# sessions after directories, branches or hosts, which have dots. Seen: tmux replaces "." and ":" by
# "_" and exits with 0. Each later `-t web.api` reads the dot as "pane api of session web" and fails
# with "can't find pane", also with "=" before it. So `has-session` says that nothing runs, a second
# `new-session` fails with "duplicate session: web_api", and `kill-session` leaves the processes. If a
# session "web" exists, `-t web.0` is its pane, and the keys for "web.0" reach it.
#
# For agent-bash: a session's name is used as it was given, or refused.
set -eu
[ "$(tmux -V)" = 'tmux 3.3a' ] || { echo "cannot run: $(tmux -V), not 3.3a"; exit 2; }
work=$(mktemp -d)
export TMUX_TMPDIR=$work
trap 'tmux kill-server 2> /dev/null || true; rm -rf "$work"' EXIT
attempt() { tmux "$@" 2> "$work/error" && echo 0 || cat "$work/error"; }
created=$(attempt -f /dev/null new-session -d -s web.api 'exec cat')
names=$(tmux list-sessions -F '#{session_name}' | paste -sd ' ')
found=$(attempt has-session -t web.api)
again=$(attempt new-session -d -s web.api 'exec cat')
ended=$(attempt kill-session -t =web.api)
left=$(tmux list-sessions -F '#{session_name}' | paste -sd ' ')
echo "tmux 3.3a: new-session -s web.api: $created ($names); has-session: $found; again: $again;" \
    "kill-session: $ended; left: $left"
[ "$created|$names|$found|$again|$ended|$left" = \
    "0|web_api|can't find pane: api|duplicate session: web_api|can't find pane: api|web_api" ]
