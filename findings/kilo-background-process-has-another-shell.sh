#!/usr/bin/env bash
# Kilo 7.7.9 (npm, @kilocode/cli-linux-x64): a command in the background runs in another shell than
# one in the foreground.
#
# Expected: the setting `shell` ("default shell") is the shell of the model's commands, and the model
# can move a command to the background without another meaning. Seen: the tool `bash` starts the
# file of the setting; the tool `background_process` starts $SHELL. With dash as $SHELL, a
# server that starts with `source env.sh` or `[[ … ]]` runs in the foreground and fails in the
# background; a wrapper that is set as `shell` sees the first command only.
#
# For agent-bash: `hook --take-over kilo` writes that setting, so only the hook checks commands in
# the background.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @kilocode/cli-linux-x64@7.7.9
printf '#!/bin/sh\nexec bash "$@"\n' > "$work/bash"
chmod +x "$work/bash"
start_model '[["bash", {"command": "[[ one ]] && echo yes", "description": "test"}],
    ["background_process", {"action": "start", "command": "[[ one ]] && echo yes", "description": "test"}],
    ["bash", {"command": "sleep 3", "description": "wait"}],
    ["background_process", {"action": "list"}]]'
mkdir -p "$work/home/.config/kilo"
cat > "$work/home/.config/kilo/kilo.json" <<J
{"autoupdate": false, "share": "disabled", "permission": "allow", "shell": "$work/bash", "model": "stand-in/model",
 "small_model": "stand-in/model", "provider": {"stand-in": {"npm": "@ai-sdk/openai-compatible", "name": "stand-in",
 "options": {"baseURL": "$url/v1", "apiKey": "none"}, "models": {"model": {"name": "model", "tool_call": true,
 "limit": {"context": 200000, "output": 8000}}}}}}
J
in_clean_environment SHELL=/usr/bin/dash KILO_DISABLE_AUTOUPDATE=1 KILO_DISABLE_MODELS_FETCH=1 \
    KILO_DISABLE_LSP_DOWNLOAD=1 KILO_DISABLE_DEFAULT_PLUGINS=1 KILO_TELEMETRY_LEVEL=off npm_config_registry="$url" \
    "$work/node_modules/@kilocode/cli-linux-x64/bin/kilo" run --auto 'go on' || cannot_run "$(tail -n 1 "$work/log")"
foreground=$(result 0) background=$(result 3 | sed -n 's/^last_output: //p')
echo "Kilo 7.7.9: '[[ one ]] && echo yes' by the tool bash: $foreground; by background_process: $background"
[ "$foreground/$background" = 'yes//usr/bin/dash: 1: [[: not found' ]
