#!/usr/bin/env bash
# opencode 1.18.33 (npm): the result of a command never says how it ended.
#
# Expected: a coding agent's shell tool tells the model the exit code, or at least that it is not 0.
# Seen: `exit 3` without output and `true` give the same text, "(no output)". A failing silent
# command (`test`, `cmp -s`, `git diff --quiet`) is a success for the model, unless it adds `; echo
# $?` itself.
#
# For agent-bash: the text of a result has it.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install opencode-ai@1.18.33 opencode-linux-x64@1.18.33
start_model '[["bash", {"command": "exit 3", "description": "fail"}],
              ["bash", {"command": "true", "description": "succeed"}],
              ["bash", {"command": "false; echo $?", "description": "print"}]]'
mkdir -p "$work/home/.config/opencode"
cat > "$work/home/.config/opencode/opencode.json" <<J
{"autoupdate": false, "share": "disabled", "permission": "allow", "model": "stand-in/model",
 "small_model": "stand-in/model", "provider": {"stand-in": {"npm": "@ai-sdk/openai-compatible", "name": "stand-in",
 "options": {"baseURL": "$url/v1", "apiKey": "none"}, "models": {"model": {"name": "model", "tool_call": true,
 "limit": {"context": 200000, "output": 8000}}}}}}
J
in_clean_environment OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
    OPENCODE_DISABLE_DEFAULT_PLUGINS=1 npm_config_registry="$url" \
    "$work/node_modules/opencode-linux-x64/bin/opencode" run 'go on' || cannot_run "$(tail -n 1 "$work/log")"
echo "opencode 1.18.33: exit 3 '$(result 0)', true '$(result 1)', false; echo \$? '$(result 2)'"
[ "$(result 0)/$(result 1)" = '(no output)/(no output)' ] && [ "$(result 2 | sed -n 1p)" = 1 ]
