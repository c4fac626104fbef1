#!/usr/bin/env bash
# pi 0.73.1 (npm, @mariozechner/pi-coding-agent): `--continue` in a/b goes on with the
# conversation of a-b.
#
# Expected: `pi --continue` continues the last conversation of the current directory. Seen: the
# conversations of a directory are in a directory that is named after its path, with "-" for each
# "/", so "project/a/b" and "project/a-b" share one, as "src/app" and "src-app" do; pi takes the
# newest file in it. The model gets the prompts, results and paths of the other project as its own
# history, and its commands run in this one. The file names the first directory only.
#
# For agent-bash: `log` lists calls by the directory that was recorded for each one, not by a
# file's name.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @mariozechner/pi-coding-agent@0.73.1
mkdir -p "$work/project/a-b" "$work/project/a/b" "$work/project/a/c" "$work/home/.pi/agent"
# pi_in DIRECTORY CALLS ARGUMENT ...: what `pwd` printed in the conversation, in which the model
# makes these calls.
pi_in() {
    rm -f "$work/port" "$work/results"
    start_model "$2"
    echo '{"providers": {"stand-in": {"baseUrl": "'"$url"'/v1", "api": "openai-completions", "apiKey": "none",
        "models": [{"id": "model"}]}}}' > "$work/home/.pi/agent/models.json"
    in_clean_environment PI_OFFLINE=1 sh -c 'cd "$1" && shift && exec "$@"' sh "$1" \
        "$work/node_modules/.bin/pi" --provider stand-in --model model -p 'go on' "${@:3}" || cannot_run "$(tail -n 1 "$work/log")"
    kill "$model_pid"
    model_pid=
    seen=$(python3 -c 'import json, sys; print(*(text.strip().replace(sys.argv[2], "") for text in json.load(open(sys.argv[1]))))' \
        "$work/results" "$work/project/")
}
pwd='["bash", {"command": "pwd"}]'
pi_in a-b "[$pwd]"
output="new in a-b: $seen"
pi_in a/b "[$pwd, $pwd]" --continue
output+="; --continue in a/b: $seen"
pi_in a/c "[$pwd, $pwd]" --continue
output+="; --continue in a/c: $seen"
echo "pi 0.73.1, directories of the commands in the conversation: $output"
[ "$output" = 'new in a-b: a-b; --continue in a/b: a-b a/b; --continue in a/c: a/c a/c' ]
