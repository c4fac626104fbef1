#!/usr/bin/env bash
# Grok CLI 0.0.34 (npm, @vibe-kit/grok-cli): `cd src && ls` looks for a directory "src && ls".
#
# Expected: the tool `bash` ("Execute a bash command") runs a list that begins with `cd`, which is
# how most models write a command for a subdirectory. Seen: if the command begins with "cd ", no
# shell starts: the whole rest of the text is the name of a directory. `cd src && ls` and `cd
# "src"` fail with ENOENT, though the directory exists; `true; cd src && ls` runs. A plain `cd src`
# stays for the next commands.
#
# For agent-bash: bash reads each command; a text that begins with `cd` is no exception.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @vibe-kit/grok-cli@0.0.34
mkdir "$work/project/src"
touch "$work/project/src/main.c"
start_model '[["bash", {"command": "cd src && ls"}], ["bash", {"command": "cd \"src\""}],
    ["bash", {"command": "true; cd src && ls"}], ["bash", {"command": "cd src"}], ["bash", {"command": "ls"}]]'
in_clean_environment GROK_API_KEY=none GROK_BASE_URL="$url/v1" GROK_MODEL=stand-in \
    node "$work/node_modules/@vibe-kit/grok-cli/dist/index.js" --prompt 'go on' \
    || cannot_run "$(tail -n 1 "$work/log")"
output=$(for n in 0 1 2 4; do result "$n"; done | sed "s|, chdir '.*' -> |, |" | paste -sd '|')
echo "Grok CLI 0.0.34: 'cd src && ls', 'cd \"src\"', 'true; cd src && ls', and 'ls' after 'cd src': $output"
missing='Cannot change directory: ENOENT: no such file or directory'
[ "$output" = "$missing, 'src && ls'|$missing, '\"src\"'|main.c|main.c" ]
