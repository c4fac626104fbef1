#!/usr/bin/env bash
# opencode 1.18.33 (npm): a start edits the configuration files, also the one of the repository.
#
# Expected: `opencode run` reads opencode.json; a clean checkout stays clean. Seen: a file without
# "$schema" gets this member as its first line, in the home directory and in the project, whatever
# its format is. A file that begins with a comment is left alone. Without a global file, the start
# creates opencode.jsonc, where other programs look for opencode.json.
#
# For agent-bash: `setup --undo` removes a file that it created also with opencode's line in it.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install opencode-ai@1.18.33 opencode-linux-x64@1.18.33

# state_after CONFIGURATION: what `git status` says after a start with this opencode.json.
state_after() {
    rm -rf "$work/home" "$work/project"
    mkdir "$work/home" "$work/project"
    git -C "$work/project" init --quiet
    printf '%s\n' "$1" > "$work/project/opencode.json"
    git -C "$work/project" add opencode.json
    in_clean_environment OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 npm_config_registry=http://127.0.0.1:9 \
        "$work/node_modules/opencode-linux-x64/bin/opencode" debug config || cannot_run "$(tail -n 1 "$work/log")"
    git -C "$work/project" diff --numstat | cut -f 1,2 | tr '\t' /
}
plain=$(state_after '{"share": "disabled"}')
created=$(cd "$work/home/.config/opencode" && ls)
commented=$(state_after '// ours
{"share": "disabled"}')
named=$(state_after '{"$schema": "https://opencode.ai/config.json", "share": "disabled"}')
echo "opencode 1.18.33: lines added/removed in a plain file: '$plain', with a comment: '$commented', with a schema: '$named'; created: $created"
[ "$plain/$commented/$named/$created" = '2/1///opencode.jsonc' ]
