#!/usr/bin/env bash
# tmux 3.3a: the command of a second session has its caller's PATH and the first caller's variables.
#
# Expected: `tmux new-session -d COMMAND` runs the command in the caller's environment, as the
# caller's directory is kept; or in the one of the server. Seen: a mixture. PATH is the caller's,
# all other variables are those of the caller that has started the server. With an activated
# virtual environment, the second session has the `python` of one and the VIRTUAL_ENV of another.
# A command in a new window has PATH by the same rule. `-e NAME=VALUE` passes a variable.
#
# For agent-bash: a server that a call starts in tmux can have variables of an earlier call.
set -eu
[ "$(tmux -V)" = 'tmux 3.3a' ] || { echo "cannot run: $(tmux -V), not 3.3a"; exit 2; }
work=$(mktemp -d)
export TMUX_TMPDIR=$work
unset TMUX
trap 'tmux kill-server 2> /dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/first" "$work/second"
in_environment() { (cd "$work/$1" && VIRTUAL_ENV=$work/$1 PATH=$work/$1/bin:$PATH tmux -f /dev/null "${@:2}"); }
print="echo \"\$PATH:\$VIRTUAL_ENV:\$PWD\" > $work/new; mv $work/new $work/seen"
in_environment first new-session -d 'exec sleep 60'
in_environment second new-session -d "$print"
for _ in {1..100}; do [ -e "$work/seen" ] && break; sleep 0.1; done
IFS=: read -r path _ < "$work/seen"
IFS=: read -r directory variable _ <<< "$(rev "$work/seen")"
name() { basename "$(rev <<< "$1")"; }
path=$(basename "${path%/bin}")
seen="$path $(name "$variable") $(name "$directory")"
echo "tmux 3.3a: PATH, VIRTUAL_ENV and directory of the second session are of the callers: $seen"
[ "$seen" = 'second first second' ]
