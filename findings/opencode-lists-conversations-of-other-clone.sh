#!/usr/bin/env bash
# opencode 1.18.33 (npm): `session list` shows the conversations of each repository with the same
# first commit.
#
# Expected: a clone in another directory is another project, as for git and for other agents.
# Seen: opencode names a project after the first commit of its history. Two clones, a fork, and
# two products that began with the same template are one project: each lists the conversations of
# the other one. A repository without a commit lists none. `--continue` goes by the directory, so
# it starts a new conversation where `session list` shows an old one.
#
# For agent-bash: recorded calls belong to a conversation and a directory, not to a history.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install opencode-linux-x64@1.18.33
start_model '[]'
mkdir -p "$work/home/.config/opencode"
cat > "$work/home/.config/opencode/opencode.json" <<J
{"autoupdate": false, "share": "disabled", "permission": "allow", "model": "stand-in/model",
 "small_model": "stand-in/model", "provider": {"stand-in": {"npm": "@ai-sdk/openai-compatible", "name": "stand-in",
 "options": {"baseURL": "$url/v1", "apiKey": "none"}, "models": {"model": {"name": "model", "tool_call": true,
 "limit": {"context": 200000, "output": 8000}}}}}}
J
# opencode_in DIRECTORY ARGUMENT ...
opencode_in() {
    in_clean_environment OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
        OPENCODE_DISABLE_DEFAULT_PLUGINS=1 npm_config_registry="$url" sh -c 'cd "$1" && shift && exec "$@"' sh "$1" \
        "$work/node_modules/opencode-linux-x64/bin/opencode" "${@:2}" || cannot_run "$(tail -n 1 "$work/log")"
}
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
cd "$work/project"
git init --quiet template
git -C template -c user.name=user -c user.email=user@example.org commit --quiet --allow-empty -m first
git clone --quiet template product
git -C product -c user.name=user -c user.email=user@example.org commit --quiet --allow-empty -m 'another product'
git init --quiet new
opencode_in template run 'go on'
output=
for directory in template product new; do
    opencode_in "$directory" session list --format json
    output+="in $directory: $(grep -c '"directory": ".*/template"' "$work/log" || true), "
done
opencode_in product run --continue 'go on'
opencode_in product session list --format json
output+="after --continue in product: $(grep -c '"directory"' "$work/log")"
echo "opencode 1.18.33, conversations listed: $output"
[ "$output" = 'in template: 1, in product: 1, in new: 0, after --continue in product: 2' ]
